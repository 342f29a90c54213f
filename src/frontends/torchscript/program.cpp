#include "frontends/torchscript/program.h"

#include <algorithm>

#include "frontends/torchscript/lexer.h"
#include "frontends/torchscript/program_state.h"

namespace cameo::torchscript {

Program::Program(std::unique_ptr<ProgramState> state) : state_(std::move(state)) {}
Program::~Program() = default;
Program::Program(Program&&) noexcept = default;
Program& Program::operator=(Program&&) noexcept = default;

const std::string& Program::path() const { return state_->archive.path(); }
const Bytes& Program::file() const { return state_->archive.file(); }
int Program::version() const { return state_->version; }
bool Program::has_root() const { return state_->root != nullptr; }
const StoredObject& Program::root() const { return *state_->root; }
size_t Program::constant_count() const { return state_->constants.size(); }
const std::vector<ExampleInputs>& Program::example_inputs() const { return state_->example_inputs; }
TypeTable& Program::types() { return state_->types; }
const ClassDef* Program::class_of(const Type& type) { return state_->class_of(type); }
const ClassDef* Program::find_class(std::string_view name) { return state_->find_class(name); }
const FunctionDef* Program::find_function(std::string_view name) { return state_->find_function(name); }

const StoredValue& Program::constant(uint32_t index) const {
  if (index >= state_->constants.size())
    throw error("file.script-constant",
                cat("the code uses the constant c", index, ", but the archive has ", constant_count()))
        .at({.file = path()});
  return *state_->constants[index];
}

Bytes Program::bytes(const Storage& storage) { return storage_bytes(*state_, storage); }

std::vector<std::string> Program::extra_files() const {
  std::vector<std::string> names;
  const std::string start = state_->folder + "extra/";
  for (const zip::Entry& e : state_->archive.entries())
    if (e.name.starts_with(start) && e.name.size() > start.size()) names.push_back(e.name.substr(start.size()));
  std::sort(names.begin(), names.end());
  return names;
}

Bytes Program::extra_file(std::string_view name) {
  const zip::Entry* entry = state_->find(cat("extra/", name));
  if (!entry) throw error("use.extra-file", cat("the archive has no extra file ", name)).at({.file = path()});
  return state_->archive.read(*entry);
}

Resolved Program::resolve(std::string_view name) {
  Resolved r;
  if (name.size() > longest_name) return r;
  const std::string_view whole = name;
  for (; !name.empty(); name = before_last_dot(name)) {
    r.rest = whole.substr(std::min(name.size() + 1, whole.size()));
    if (is_native_class(name) && std::count(name.begin(), name.end(), '.') == 4) {
      r.native = state_->types.named(name);
      return r;
    }
    if (r.rest.empty() && (r.function = find_function(name))) return r;
    if ((r.cls = find_class(name))) break;
  }
  // A hook is named through its class; it may also have a copy as a free function, found above.
  if (r.cls && !r.rest.empty()) r.function = r.cls->method(r.rest);
  return r.cls ? r : Resolved{};
}

std::vector<const SourceFile*> Program::all_sources() {
  const std::string start = state_->folder + "code/";
  std::vector<const SourceFile*> all;
  for (const zip::Entry& e : state_->archive.entries()) {
    if (!e.name.starts_with(start) || !e.name.ends_with(".py") || e.name.size() <= start.size() + 3) continue;
    std::string prefix = e.name.substr(start.size(), e.name.size() - start.size() - 3);
    std::replace(prefix.begin(), prefix.end(), '/', '.');
    if (const SourceFile* f = state_->load_source(prefix)) all.push_back(f);
  }
  return all;
}

const SourceFile& Program::source_of(Pos pos) const {
  const auto& all = state_->sources;
  auto next = std::upper_bound(all.begin(), all.end(), pos.offset,
                               [](uint32_t offset, const auto& f) { return offset < f->base; });
  invariant(next != all.begin(), "a place lies in a file");
  return **std::prev(next);
}

Loc Program::locate(Pos pos) const {
  const SourceFile& f = source_of(pos);
  return place_in(f.text.text(), pos.offset - f.base, state_->place(f.path).file);
}

namespace {
constexpr uint64_t largest_debug_table = uint64_t{1} << 28;

// PyTorch's own files, and those of our package, which calls the model while it is traced.
bool is_of_a_tool(const std::string& file) {
  constexpr std::string_view folders[] = {"-packages/torch/", "-packages/cameo/_", "/python/cameo/_"};
  return std::any_of(std::begin(folders), std::end(folders),
                     [&](std::string_view folder) { return file.find(folder) != file.npos; });
}
}  // namespace

const std::vector<UserFrame>& Program::user_frames(Pos pos) {
  const SourceFile& f = source_of(pos);
  auto known = state_->debug.find(&f);
  if (known == state_->debug.end()) {
    DebugTable table;
    const std::string record = f.path + ".debug_pkl";
    try {
      if (const zip::Entry* entry = state_->find(record))
        table = DebugTable(pickle::read(state_->read_copy(*entry, largest_debug_table), state_->place(record).file));
    } catch (const Error&) {
      // A damaged debug table costs the user's line numbers, not the conversion.
    }
    known = state_->debug.emplace(&f, std::move(table)).first;
  }
  const uint32_t offset = pos.offset - f.base;
  const size_t line_end = std::min(f.text.text().find('\n', offset), f.text.size());
  return known->second.frames(offset, static_cast<uint32_t>(line_end));
}

std::optional<UserFrame> Program::user_frame(Pos pos) {
  const std::vector<UserFrame>& frames = user_frames(pos);
  if (frames.empty()) return std::nullopt;
  const auto own = std::find_if(frames.begin(), frames.end(), [](const UserFrame& f) { return !is_of_a_tool(f.file); });
  return own == frames.end() ? frames.front() : *own;
}

}  // namespace cameo::torchscript
