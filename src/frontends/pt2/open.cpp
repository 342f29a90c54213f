// Opening: which generation, which schema, where the parts are.
#include <charconv>

#include "formats/mapped_file.h"
#include "frontends/pt2/program_state.h"
#include "frontends/recognise.h"

namespace cameo::pt2 {

namespace {
constexpr uint64_t largest_json = uint64_t{2} << 30;
constexpr int known_majors[] = {1, 2, 5, 7, 8};

json::Document parse(const ProgramState& state, const zip::Entry& entry) {
  json::Options options;
  options.python_numbers = true;  // PyTorch before 2.7 writes Infinity as a bare word
  options.bytes = largest_json;
  return json::Document(state.archive.read(entry), state.place(entry.name).file, options);
}

// models/NAME.json of a package.
const zip::Entry* find_model(ProgramState& state, std::string_view wanted) {
  const std::string start = cat(state.folder, "models/");
  for (const zip::Entry& e : state.archive.entries()) {
    if (!e.name.starts_with(start) || !e.name.ends_with(".json")) continue;
    std::string name = e.name.substr(start.size(), e.name.size() - start.size() - 5);
    if (name.find('/') == name.npos) state.models.push_back(std::move(name));
  }
  if (state.models.empty()) return nullptr;
  std::vector<std::string_view> names{wanted};
  if (wanted == "forward") names = {"model", "forward"};
  if (wanted == "forward" && state.models.size() == 1) names = {state.models[0]};
  for (const auto name : names)
    for (const std::string& model : state.models)
      if (model == name) {
        state.name = model;
        return state.find(cat(start, model, ".json"));
      }
  std::string all;
  for (const std::string& model : state.models) all += cat(all.empty() ? "" : ", ", model);
  throw error("use.method", wanted == "forward" ? cat("the package holds ", state.models.size(), " programs: ", all)
                                                : cat("the package has no program '", wanted, "'"))
      .at({.file = state.archive.path()})
      .help(cat("say which with --method: ", all));
}

void read_version(ProgramState& state, json::Value root) {
  const json::Value version = root.present("schema_version");
  if (version && version.is_object()) {
    state.major = static_cast<int>(version["major"].integer());
    state.minor = static_cast<int>(version["minor"].integer());
  } else if (version) state.major = static_cast<int>(version.integer());
  if (const json::Value text = root.present("torch_version")) state.torch_version = text.text();
  bool known = false;
  for (const int m : known_majors) known = known || m == state.major;
  if (!known)
    throw error("file.version", cat("the archive has schema version ", state.major, ".", state.minor))
        .at(state.place(cat("models/", state.name, ".json")))
        .why(cat("Cameo reads the schemas of PyTorch 2.1 to 2.15 (majors 1, 2, 5, 7 and 8)",
                 state.torch_version.empty() ? "" : cat("; this file is from PyTorch ", state.torch_version)))
        .help("save the program again with one of these releases");
}

void check_byte_order(const ProgramState& state) {
  const zip::Entry* entry = state.find(cat(state.folder, "byteorder"));
  if (entry && state.archive.read(*entry).text() != "little")
    throw error("file.byte-order", "the archive was written on a big-endian machine")
        .at({.file = state.archive.path()})
        .help("load and save it with PyTorch on a little-endian machine");
}

bool is_training(json::Value root) {
  const json::Value verifiers = root.present("verifiers");
  if (!verifiers) return false;
  for (const json::Value v : verifiers.elements())
    if (v.text() == "TRAINING") return true;
  return false;
}
}  // namespace

Program read_pt2(Bytes file, std::string name, std::string_view model) {
  if (const Bytes head = head_of(file); !zip::looks_like_zip(head.text()))
    throw wrong_kind(recognise_head(head.text()), name);
  auto state = std::make_unique<ProgramState>(std::move(file), name);
  if (const Recognised what = recognise_zip(state->archive); what.kind != FileKind::torch_export)
    throw wrong_kind(what, name);
  const zip::Entry* json = state->find("serialized_exported_program.json");
  if (!json) {
    if (!state->archive.top_folder().empty()) state->folder = cat(state->archive.top_folder(), "/");
    json = find_model(*state, model);
  }
  if (!json)
    throw error("file.no-graph", "the package holds no exported program")
        .at({.file = name})
        .why("packages of compiled code (AOTInductor) have no graph inside")
        .help("save the ExportedProgram itself: torch.export.save(ep, 'net.pt2')");
  if (state->models.empty()) state->models = {state->name};
  check_byte_order(*state);
  state->document = parse(*state, *json);
  const json::Value root = state->document->root();
  read_version(*state, root);
  state->training = is_training(root);
  state->graph_module = root["graph_module"];
  if (const json::Value ranges = root.present("range_constraints"))
    for (const auto& [symbol, range] : ranges.members()) {
      const auto bound = [r = range](std::string_view key) -> std::optional<int64_t> {
        const json::Value v = r.present(key);
        return v && v.kind() == json::Kind::integer ? std::optional(v.integer()) : std::nullopt;
      };
      state->ranges.push_back({std::string(symbol), bound("min_val"), bound("max_val")});
    }
  read_signature(*state);
  read_stores(*state);
  return Program(std::move(state));
}

Program read_pt2(const std::string& path, std::string_view model) { return read_pt2(map_file(path), path, model); }

ModuleEntry module_entry(std::string_view text) {
  const size_t first = text.find(',');
  if (first == text.npos) return {};
  text.remove_prefix(first + 1);
  const size_t second = text.find(',');
  return {text.substr(0, second), second == text.npos ? std::string_view() : text.substr(second + 1)};
}

Tagged tagged(json::Value u) {
  Tagged found;
  for (const auto& [key, value] : u.members()) {
    if (value.is_null()) continue;
    if (found) u.fail(cat("a union with two tags, ", found.tag, " and ", key));
    found = {key, value};
  }
  if (!found) u.fail("a union with no tag");
  return found;
}

Program::Program(std::unique_ptr<ProgramState> state) : state_(std::move(state)) {}
Program::~Program() = default;
Program::Program(Program&&) noexcept = default;
const std::string& Program::path() const { return state_->archive.path(); }
const Bytes& Program::file() const { return state_->archive.file(); }
const std::string& Program::model_name() const { return state_->name; }
const std::vector<std::string>& Program::models() const { return state_->models; }
const std::string& Program::torch_version() const { return state_->torch_version; }
int Program::schema_major() const { return state_->major; }
int Program::schema_minor() const { return state_->minor; }
bool Program::is_training_ir() const { return state_->training; }
json::Value Program::graph() const { return state_->graph_module["graph"]; }
const std::vector<GraphInput>& Program::inputs() const { return state_->inputs; }
const std::vector<GraphOutput>& Program::outputs() const { return state_->outputs; }
const std::vector<Range>& Program::ranges() const { return state_->ranges; }
const std::vector<std::string>& Program::output_paths() const { return state_->output_paths; }

std::optional<TorchDtype> dtype_of(int64_t n) {
  using enum TorchDtype;
  switch (n) {
    case 1: return uint8;
    case 2: return int8;
    case 3: return int16;
    case 4: return int32;
    case 5: return int64;
    case 6: return float16;
    case 7: return float32;
    case 8: return float64;
    case 9: return complex32;
    case 10: return complex64;
    case 11: return complex128;
    case 12: return boolean;
    case 13: return bfloat16;
    case 28: return uint16;
    case 29: return float8_e4m3fn;
    case 30: return float8_e5m2;
    case 31: return float8_e4m3fnuz;
    case 32: return float8_e5m2fnuz;
    case 33: return float8_e8m0fnu;
    case 34: return uint32;
    case 35: return uint64;
    default: return std::nullopt;
  }
}

}  // namespace cameo::pt2
