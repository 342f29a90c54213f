// What a Program holds. Only the files that build or serve a Program include this.
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "formats/pickle.h"
#include "formats/zip.h"
#include "frontends/torchscript/debug_table.h"
#include "frontends/torchscript/program.h"

namespace cameo::torchscript {

constexpr size_t longest_name = 4096;  // of qualified names that are looked up

struct ProgramState {
  ProgramState(Bytes file, const std::string& name) : archive(std::move(file), name) {}

  zip::Archive archive;
  std::string folder;   // "net/"
  std::string program;  // "0/" in a torch.package archive, whose programs share their code; empty in others
  std::string shared;   // "net/.data/" there: where the programs' storages lie
  int version = 0;

  TypeTable types;
  Arena arena;  // stored values
  std::vector<pickle::Document> pickles;
  const StoredObject* root = nullptr;
  std::vector<const StoredValue*> constants;
  std::vector<ExampleInputs> example_inputs;
  std::unordered_map<std::string_view, const Storage*> storages;  // by key
  std::unordered_map<uint32_t, Bytes> unpacked;                   // by entry: storages that were compressed

  std::vector<std::unique_ptr<SourceFile>> sources;        // by base
  std::unordered_map<std::string, SourceFile*> by_prefix;  // null: there is no such file
  std::unordered_map<std::string_view, const ClassDef*> classes;
  std::unordered_map<std::string_view, const FunctionDef*> functions;
  std::unordered_map<const SourceFile*, DebugTable> debug;
  uint32_t next_base = 0;

  const zip::Entry* find(std::string_view record) const;
  // A copy, so that it survives the file being overwritten. Throws file.too-large past `limit`.
  Bytes read_copy(const zip::Entry& entry, uint64_t limit) const;
  Loc place(std::string_view record) const;  // "net.pt!code/__torch__.py"

  SourceFile* load_source(const std::string& prefix);
  const ClassDef* find_class(std::string_view qualified_name);
  const FunctionDef* find_function(std::string_view qualified_name);
  const ClassDef* class_of(const Type& type);
};

// The storage's bytes: a view of the mapped file when stored, else inflated once and kept.
Bytes storage_bytes(ProgramState& state, const Storage& storage);

// Reads data.pkl, constants.pkl and traced_inputs.pkl into the state's values (stored_reader.cpp).
void read_stored(ProgramState& state);

// `__torch__.torch.classes.<namespace>.<Name>`: implemented in C++, not in the archive.
bool is_native_class(std::string_view qualified_name);
// "__torch__.a" of "__torch__.a.Net"; empty without a dot.
std::string_view before_last_dot(std::string_view name);

}  // namespace cameo::torchscript
