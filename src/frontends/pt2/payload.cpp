// Tensors: raw storages with a JSON directory since PyTorch 2.9, torch.save files before.
#include "frontends/pt2/program_state.h"

namespace cameo::pt2 {

namespace {

Loc where(const ProgramState& state, const std::string& name) { return {.file = state.archive.path(), .scope = name}; }

int64_t literal(json::Value sym_int) {
  if (!sym_int.is_object()) return sym_int.integer();  // before 2.3 some were plain
  return sym_int["as_int"].integer();
}

// The highest element that sizes and strides reach must be in the storage.
void check_inside(const Payload& p, const Loc& place) {
  const uint64_t width = static_cast<uint64_t>(item_size(p.dtype));
  uint64_t last = static_cast<uint64_t>(p.offset);
  bool empty = false, overflow = p.offset < 0 || p.sizes.size() != p.strides.size();
  for (size_t i = 0; i < p.sizes.size() && !overflow; ++i) {
    overflow = p.sizes[i] < 0 || p.strides[i] < 0;
    if (p.sizes[i] == 0) empty = true;
    uint64_t step = 0;
    if (!overflow && p.sizes[i] > 1)
      overflow =
          __builtin_mul_overflow(static_cast<uint64_t>(p.sizes[i] - 1), static_cast<uint64_t>(p.strides[i]), &step) ||
          __builtin_add_overflow(last, step, &last);
  }
  if (!overflow && (empty || last < p.storage.size() / width)) return;
  if (!overflow && p.storage.empty())
    throw error("file.missing-data", cat("the tensor ", place.scope, " has a shape but no data"))
        .at(place)
        .why("the program was exported with fake weights")
        .help("export it again with real ones");
  throw error("file.tensor-bounds", cat("the tensor ", place.scope, " reaches outside its storage")).at(place);
}

Payload raw_payload(const ProgramState& state, const Store& store, json::Value entry, const std::string& name) {
  const json::Value meta = entry.present("tensor_meta");
  const Loc place = where(state, name);
  if (!meta) throw error("file.unsupported", cat(name, " is an object of a C++ class, not a tensor")).at(place);
  if (const json::Value pickled = entry.present("use_pickle"); pickled && pickled.boolean())
    throw error("file.unsupported", cat(name, " is a tensor of a class of its own (a quantised or sharded type)"))
        .at(place)
        .help("turn it into plain tensors before torch.export, e.g. with torchao's unwrap_tensor_subclass");
  const zip::Entry* data = state.find(cat(store.folder, entry["path_name"].text()));
  if (!data)
    throw error("file.missing-data", cat("the archive has no record ", store.folder, entry["path_name"].text()))
        .at(place);
  const auto dtype = dtype_of(meta["dtype"].integer());
  if (!dtype)
    throw error("file.dtype", cat(name, " has a dtype that Cameo does not know (", meta["dtype"].integer(), ")"))
        .at(place);
  Payload p;
  p.dtype = *dtype;
  for (const json::Value s : meta["sizes"].elements()) p.sizes.push_back(literal(s));
  for (const json::Value s : meta["strides"].elements()) p.strides.push_back(literal(s));
  p.offset = literal(meta["storage_offset"]);
  p.storage = state.archive.read(*data);
  check_inside(p, place);
  return p;
}

Payload saved_payload(const ProgramState& state, torchscript::SavedFile& file, const torchscript::StoredValue& v,
                      const std::string& name) {
  const Loc place = where(state, name);
  if (v.kind != torchscript::StoredKind::tensor || !v.tensor->storage || v.tensor->quantizer)
    throw error("file.unsupported", cat(name, " is not a plain tensor")).at(place);
  const auto& t = *v.tensor;
  Payload p{t.dtype,
            {t.sizes.begin(), t.sizes.end()},
            {t.strides.begin(), t.strides.end()},
            t.offset,
            file.bytes(*t.storage)};
  check_inside(p, place);
  return p;
}

// The bytes that a text in base 64 stands for.
std::string from_base64(json::Value v) {
  constexpr std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string_view text = v.text();
  while (text.ends_with('=')) text.remove_suffix(1);
  std::string out;
  uint32_t bits = 0;
  int count = 0;
  for (const char c : text) {
    const size_t digit = digits.find(c);
    if (digit == digits.npos) v.fail("a constant that is not text in base 64");
    bits = bits << 6 | static_cast<uint32_t>(digit);
    count += 6;
    if (count < 8) continue;
    count -= 8;
    out.push_back(static_cast<char>(bits >> count & 0xff));
  }
  return out;
}

void open_store(ProgramState& state, Store& store, std::string_view kind) {
  store.folder = cat(state.folder, "data/", kind, "/");
  const std::string packed = cat(store.folder, state.name, ".pt"),
                    config = cat(store.folder, state.name, "_", kind, "_config.json");
  const std::string old[] = {packed, kind == "weights" ? "serialized_state_dict.pt" : "serialized_constants.pt",
                             kind == "weights" ? "serialized_state_dict.json" : "serialized_constants.json"};
  for (const std::string& record : old)
    if (const zip::Entry* e = state.find(record)) {
      const Bytes data = state.archive.read(*e);
      if (!data.empty()) store.saved.emplace(torchscript::read_saved(data, state.place(record).file));
      return;
    }
  if (const zip::Entry* e = state.find(config)) store.config.emplace(state.archive.read(*e), state.place(config).file);
}

}  // namespace

void read_stores(ProgramState& state) {
  open_store(state, state.weights, "weights");
  open_store(state, state.constants, "constants");
}

Payload Program::payload(const GraphInput& input) {
  if (input.kind == InputKind::tensor_constant && input.constant) {
    auto file = torchscript::read_saved(Bytes::own(from_base64(input.constant)), state_->place(input.target).file);
    return saved_payload(*state_, file, file.root(), input.target);
  }
  const bool constant = input.kind == InputKind::tensor_constant || input.kind == InputKind::custom_object ||
                        (input.kind == InputKind::buffer && !input.persistent);
  Store& store = constant ? state_->constants : state_->weights;
  if (store.config)
    if (const json::Value entry = store.config->root()["config"].find(input.target))
      return raw_payload(*state_, store, entry, input.target);
  if (store.saved)
    if (const auto* v = store.saved->find(input.target)) return saved_payload(*state_, *store.saved, *v, input.target);
  throw error("file.missing-data", cat("the archive has no data for ", input.target)).at(where(*state_, input.target));
}

}  // namespace cameo::pt2
