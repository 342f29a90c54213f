#include "backends/onnx/data_files.h"

#include <algorithm>
#include <filesystem>
#include <set>

#include "formats/file_handle.h"
#include "frontends/onnx/proto.h"
#include "support/content_hash.h"
#include "support/error.h"

namespace cameo::onnx {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view ending = ".data", mark_head = "\ncameo weights ";

// The names of the files that a model's tensors lie in, wherever in it the tensors are.
class References {
 public:
  std::set<std::string, std::less<>> names;

  // False where the file cannot be read as a model to its end.
  bool add(std::string_view file) {
    const ModelProto model{pb::Reader(file)};
    if (!model.in.ok() || !model.has_ir_version) return false;
    for (const auto& g : model.graphs) graph(g.message());
    for (const auto& f : model.functions) nodes(FunctionProto(f.message()).nodes);
    for (const auto& t : model.training_info) training(t.message());
    return model.in.ok();
  }

 private:
  void graph(pb::Reader in) {
    const GraphProto g(std::move(in));
    for (const auto& t : g.initializers) tensor(read_tensor(t.message()));
    for (const auto& t : g.sparse_initializers) sparse(t);
    nodes(g.nodes);
  }
  void nodes(const std::vector<pb::Field>& all) {
    for (const auto& n : all)
      for (const AttributeProto& a : NodeProto(n.message()).attributes) {
        for (const auto& t : a.tensors) tensor(read_tensor(t.message()));
        for (const auto& t : a.sparse_tensors) sparse(t);
        for (const auto& g : a.graphs) graph(g.message());
      }
  }
  void training(pb::Reader in) {  // two graphs, and pairs of names
    while (const auto f = in.next())
      if (f.number <= 2) graph(f.message());
  }
  void sparse(const pb::Field& f) {
    const SparseTensorProto s = read_sparse_tensor(f.message());
    tensor(s.values);
    tensor(s.indices);
  }
  void tensor(const TensorProto& t) {
    for (const auto& [key, value] : t.external_data)
      if (key == "location") names.insert(fs::path(value).filename().string());
  }
};

// Of the name that data_file_name gives.
bool is_data_name(std::string_view name, const std::string& model_name) {
  if (name.size() != data_file_name(model_name, 0).size() || !name.starts_with(model_name + ".") ||
      !name.ends_with(ending))
    return false;
  return name.substr(model_name.size() + 1, 16).find_first_not_of("0123456789abcdef") == name.npos;
}

// With the mark of its hash at the end.
bool is_marked(const fs::path& path, const std::string& model_name) {
  const std::string name = path.filename().string();
  const Bytes file = map_file_below(path.parent_path().string(), name);
  return file.text().ends_with(data_mark(std::stoull(name.substr(model_name.size() + 1, 16), nullptr, 16)));
}

std::vector<fs::path> files_in(const fs::path& folder) {
  std::vector<fs::path> out;
  for (const auto& entry : fs::directory_iterator(folder.empty() ? fs::path(".") : folder)) out.push_back(entry.path());
  return out;
}

// Whether all that looks like a model could be asked.
bool gather(const std::vector<fs::path>& files, References& found) {
  for (const fs::path& path : files) {
    if (!fs::is_regular_file(fs::symlink_status(path))) continue;
    if (!found.add(map_file(path.string()).text()) && path.extension() == ".onnx") return false;
  }
  return true;
}

}  // namespace

std::string data_file_name(const std::string& model_name, uint64_t hash) {
  return cat(model_name, ".", hex16(hash), ending);
}

std::string data_mark(uint64_t hash) {
  static_assert(mark_head.size() + 16 + 1 == data_mark_size);
  return cat(mark_head, hex16(hash), "\n");
}

void keep_what_is_there(Publication& files, AtomicFile& file, std::optional<uint64_t> hash) {
  files.just_before([&file, hash] {
    const std::string path = file.target();
    std::error_code code;
    if (!fs::exists(path, code)) return;
    ContentHash there;
    if (hash) there.add(map_file(path).span());
    if (!hash || there.value() != *hash)
      throw error("write.exists", cat(path, " holds other weights"))
          .why("a model that refers to them would get the wrong ones, and two files cannot be replaced in one step")
          .help("remove it first, choose another name, or give none: then the contents decide the name");
    file.give_up();
  });
}

void retire_old_data(const std::string& path) {
  const fs::path model = path;
  if (fs::is_symlink(fs::symlink_status(model))) return;  // the model lies elsewhere, and may be read by that name too
  std::vector<fs::path> files = files_in(model.parent_path());
  const std::string name = model.filename().string();
  const auto others = std::partition(files.begin(), files.end(),
                                     [&](const fs::path& p) { return is_data_name(p.filename().string(), name); });
  std::vector<fs::path> old(files.begin(), others);
  References found;
  // Mostly there is nothing to remove: the model itself refers to all there is. Only then the neighbours are asked.
  if (old.empty() || !gather({model}, found)) return;
  const auto is_needed = [&](const fs::path& p) { return found.names.count(p.filename().string()) != 0; };
  std::erase_if(old, is_needed);
  std::erase_if(old,
                [&](const fs::path& p) { return !fs::is_regular_file(fs::symlink_status(p)) || !is_marked(p, name); });
  if (old.empty() || !gather({others, files.end()}, found)) return;
  std::erase_if(old, is_needed);
  std::error_code ignored;
  for (const fs::path& p : old) fs::remove(p, ignored);
}

}  // namespace cameo::onnx
