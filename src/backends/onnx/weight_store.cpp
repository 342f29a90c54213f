#include "backends/onnx/weight_store.h"

#include "backends/onnx/data_files.h"
#include "frontends/onnx/outline.h"
#include "frontends/onnx/proto.h"
#include "support/error.h"
#include "support/file_bytes.h"

namespace cameo::onnx {

namespace fs = std::filesystem;

namespace {

constexpr uint64_t page = 4096;
constexpr uint64_t embed_up_to = uint64_t{1900} << 20;

uint64_t embedded_bytes(const Graph& g) {
  uint64_t total = 0;
  for (uint32_t i = 0; i < g.value_capacity(); ++i)
    if (const Value& v = g[ValueId(i)]; v.weight && v.kind != Value::Kind::dead) total += v.weight->byte_size();
  return total;
}

// A relative path that stays below the model's folder, as readers demand it.
bool is_contained(const fs::path& p) {
  if (p.empty() || p.is_absolute()) return false;
  for (const auto& part : p)
    if (part == "..") return false;
  return true;
}

}  // namespace

WeightStore::WeightStore(const Graph& g, const std::string& path, const WriteOptions& options)
    : path_(path),
      folder_(fs::path(path).parent_path()),
      name_given_(!options.external_name.empty()),
      mode_(options.weights),
      external_from_(options.external_from) {
  const bool has_folder = !path.empty() && path != "-";
  if (!has_folder && (mode_ == WeightMode::external || mode_ == WeightMode::in_place))
    throw error("use.weights", "a model that is not written to a file cannot have external data");
  data_name_ = std::make_shared<std::string>(name_given_ ? options.external_name
                                                         : data_file_name(fs::path(path).filename().string(), 0));
  if (!is_contained(*data_name_))
    throw error("use.weights", cat("external data cannot go to '", *data_name_, "'"))
        .help("name a file in the model's folder");
  if (mode_ == WeightMode::automatic && has_folder && embedded_bytes(g) > embed_up_to) mode_ = WeightMode::external;
  if (mode_ == WeightMode::keep && !has_folder) mode_ = WeightMode::embed;
}

// How the new file may refer to the file where it lies; null when it may not.
std::shared_ptr<const std::string> WeightStore::reference_to(const FileRange& file) const {
  std::error_code code;
  const fs::path base = folder_.empty() ? fs::path(".") : folder_;
  fs::path location = file.location;
  if (location.empty() || !fs::equivalent(base / location, file.path, code)) {
    if (mode_ == WeightMode::keep) return nullptr;
    location = fs::relative(file.path, base, code);
    if (code || !is_contained(location))
      throw error("use.weights", cat("weights in ", file.path, " cannot be referred to from ", path_))
          .why("ONNX allows external data only in the model's folder or below")
          .help("write the model beside them, or use external weights");
  }
  if (fs::equivalent(path_, file.path, code))
    throw error("use.output", cat(path_, " holds the model's weights")).help("choose another name for the output");
  return std::make_shared<const std::string>(location.generic_string());
}

// Whether the bytes already lie where a reader of the new file may look for them.
bool WeightStore::stays(const Weight& w, ExternalRange& range) {
  if ((mode_ != WeightMode::keep && mode_ != WeightMode::in_place) || !w.file || !w.is_dense() || w.start != 0)
    return false;
  if (mode_ == WeightMode::keep && w.file->location.empty()) return false;
  auto known = references_.find({w.file->path, w.file->location});
  if (known == references_.end())
    known = references_.emplace(std::pair(w.file->path, w.file->location), reference_to(*w.file)).first;
  if (!known->second) return false;
  range = {known->second, w.file->offset, w.byte_size()};
  return true;
}

bool WeightStore::goes_out(const Weight& w) const {
  if (w.strings || w.byte_size() < external_from_) return false;
  if (mode_ == WeightMode::external) return true;
  // What was external and cannot stay where it is: it may be far too large to embed.
  return mode_ == WeightMode::keep && w.file && !w.file->location.empty();
}

ExternalRange WeightStore::place(const std::shared_ptr<const Weight>& w) {
  const uint64_t size = w->byte_size();
  for (auto [it, last] = by_source_.equal_range(place_of(w->source)); it != last; ++it)
    if (const Queued& q = queue_[it->second]; q.weight->same_recipe(*w)) return {data_name_, q.offset, size};
  const uint64_t align = size >= page ? page : 64;
  const uint64_t offset = (end_ + align - 1) / align * align;
  by_source_.emplace(place_of(w->source), queue_.size());
  queue_.push_back({w, offset});
  end_ = offset + size;
  return {data_name_, offset, size};
}

ChunkedMessage WeightStore::tensor(const std::string& name, const std::shared_ptr<const Weight>& w) {
  ExternalRange range;
  const bool refers = stays(*w, range);
  const bool out = !refers && goes_out(*w);
  if (!w->encoded.empty() && !out) {
    const Bytes without_data = in_memory(w->encoded) ? w->encoded : outline_of_tensor(w->encoded, page);
    const TensorProto as_read = read_tensor(pb::Reader(without_data.text()));
    if (as_read.name == name && as_read.external == refers) {
      ChunkedMessage copy;
      copy.raw(w->encoded);
      return copy;
    }
  }
  if (refers) return external_tensor_message(name, *w, range);
  return out ? external_tensor_message(name, *w, place(w)) : tensor_message(name, w);
}

void WeightStore::write_data_file(Publication& files) {
  if (queue_.empty()) return;
  AtomicFile& file = files.open((folder_ / *data_name_).string(), Publication::Turn::data);
  std::error_code none;
  const bool hashed = !name_given_ || fs::exists(file.target(), none);  // what is not read can be taken by reference
  if (hashed) file.hash_contents();
  file.expect(end_ + data_mark_size);
  for (const Queued& q : queue_) {
    file.pad_to(q.weight->byte_size() >= page ? page : 64);
    invariant(file.position() == q.offset, "weights are written where the model says");
    write_dense(*q.weight, file.sink());
  }
  if (name_given_) return keep_what_is_there(files, file, hashed ? std::optional(file.content_hash()) : std::nullopt);
  const uint64_t hash = file.content_hash();
  file.append(data_mark(hash));
  *data_name_ = data_file_name(fs::path(path_).filename().string(), hash);
  file.go_to((folder_ / *data_name_).string());
}

}  // namespace cameo::onnx
