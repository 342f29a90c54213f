#include "frontends/torchscript/program_state.h"

#include <algorithm>

namespace cameo::torchscript {

namespace {
constexpr uint64_t largest_code = uint64_t{1} << 28;  // of one file

std::string record_of(std::string_view prefix) {
  std::string path = cat("code/", prefix, ".py");
  std::replace(path.begin() + 5, path.end() - 3, '.', '/');
  return path;
}
}  // namespace

bool is_native_class(std::string_view name) { return name.starts_with("__torch__.torch.classes."); }

std::string_view before_last_dot(std::string_view name) {
  const auto dot = name.rfind('.');
  return dot == name.npos ? std::string_view() : name.substr(0, dot);
}

const zip::Entry* ProgramState::find(std::string_view record) const {
  return archive.find(folder + std::string(record));
}

Bytes storage_bytes(ProgramState& state, const Storage& storage) {
  if (!storage.has_data)
    throw error("file.missing-data", cat("the weights ", storage.key, " have no data"))
        .at({.file = state.archive.path()})
        .why("tensors on the meta device are saved without their contents");
  const zip::Entry& entry = state.archive.entries()[storage.entry];
  if (entry.method == zip::Method::stored) return state.archive.read(entry);
  Bytes& kept = state.unpacked[storage.entry];
  if (kept.empty()) kept = state.archive.read(entry);
  return kept;
}

Loc ProgramState::place(std::string_view record) const { return {.file = cat(archive.path(), "!", record)}; }

Bytes ProgramState::read_copy(const zip::Entry& entry, uint64_t limit) const {
  if (entry.size > limit)
    throw error("file.too-large", cat("the archive's entry ", entry.name, " has ", entry.size, " bytes"))
        .at({.file = archive.path()});
  Bytes data = archive.read(entry);
  return entry.method == zip::Method::stored ? Bytes::own(data.text()) : data;
}

SourceFile* ProgramState::load_source(const std::string& prefix) {
  if (const auto known = by_prefix.find(prefix); known != by_prefix.end()) return known->second;
  const std::string record = record_of(prefix);
  const zip::Entry* entry = find(record);
  if (!entry) return by_prefix[prefix] = nullptr;
  auto file = std::make_unique<SourceFile>();
  file->path = record;
  file->prefix = prefix;
  file->base = next_base;
  file->text = read_copy(*entry, largest_code);
  if (file->text.size() >= UINT32_MAX - next_base)
    throw error("file.too-large", "the archive's code is larger than 4 GiB").at(place(record));
  try {
    parse_source(*file, types);
  } catch (Error& e) {
    e.diag().where.file = place(record).file;
    throw;
  }
  next_base += static_cast<uint32_t>(file->text.size()) + 1;
  for (const ClassDef* c : file->classes) classes.emplace(c->qualified_name, c);
  for (const FunctionDef* f : file->functions) functions.emplace(f->qualified_name, f);
  sources.push_back(std::move(file));
  return by_prefix[prefix] = sources.back().get();
}

const ClassDef* ProgramState::find_class(std::string_view name) {
  if (const auto known = classes.find(name); known != classes.end()) return known->second;
  const auto prefix = before_last_dot(name);
  if (prefix.empty() || name.size() > longest_name || !load_source(std::string(prefix))) return nullptr;
  const auto found = classes.find(name);
  return found == classes.end() ? nullptr : found->second;
}

const FunctionDef* ProgramState::find_function(std::string_view name) {
  if (const auto known = functions.find(name); known != functions.end()) return known->second;
  const auto prefix = before_last_dot(name);
  if (prefix.empty() || name.size() > longest_name || !load_source(std::string(prefix))) return nullptr;
  const auto found = functions.find(name);
  return found == functions.end() ? nullptr : found->second;
}

const ClassDef* ProgramState::class_of(const Type& type) {
  if (!type.is(TypeKind::named)) return nullptr;
  if (type.looked_up) return type.definition;
  if (!is_native_class(type.name)) {
    type.definition = find_class(type.name);
    if (!type.definition)
      throw error("file.script-name", cat("the archive has no class called ", type.name.substr(0, 200)))
          .at({.file = archive.path()});
  }
  type.looked_up = true;
  return type.definition;
}

}  // namespace cameo::torchscript
