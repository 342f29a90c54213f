// A TorchScript archive as a program: the module tree with its weights, and the code, parsed as it is asked for.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "frontends/torchscript/source.h"
#include "frontends/torchscript/stored.h"
#include "support/bytes.h"
#include "support/error.h"

namespace cameo::torchscript {

// What a dotted archive name stands for.
struct Resolved {
  const ClassDef* cls = nullptr;          // the class, or the class that `rest` belongs to
  const FunctionDef* function = nullptr;  // a free function, or a hook named through its class
  const Type* native = nullptr;           // a C++ class (`__torch__.torch.classes...`)
  std::string_view rest;                  // after a class: "__new__", an enum's item; else empty
  explicit operator bool() const { return cls || function || native; }
};

// A line of the user's own Python, from the archive's debug records.
struct UserFrame {
  std::string file, function;  // function may be empty
  uint32_t line = 0;
  std::string text;  // the line itself, when recorded
};

struct ExampleInputs {
  std::string_view method;                 // "forward"
  std::vector<const StoredValue*> inputs;  // in call order, without self; tensors have shapes but no data
};

struct ProgramState;

// Everything returned lives as long as the Program. Lookups parse code on first use, hence are not const; one Program
// serves one thread at a time. A file that is damaged is reported when it is looked at.
class Program {
 public:
  explicit Program(std::unique_ptr<ProgramState> state);
  ~Program();
  Program(Program&&) noexcept;
  Program& operator=(Program&&) noexcept;

  // The archive.
  const std::string& path() const;               // as given when opened: "net.pt"
  const Bytes& file() const;                     // the whole archive, mapped
  int version() const;                           // of the format: decides operator upgraders
  std::vector<std::string> extra_files() const;  // names under extra/, sorted
  Bytes extra_file(std::string_view name);

  // The data.
  bool has_root() const;             // false for archives that hold no module, only records
  const StoredObject& root() const;  // its class has the entry method `forward`
  size_t constant_count() const;
  const StoredValue& constant(uint32_t index) const;  // CONSTANTS.c<index>; throws file.script-constant
  const std::vector<ExampleInputs>& example_inputs() const;
  // The storage's bytes: a view of the mapped file when stored, else inflated once and kept.
  Bytes bytes(const Storage&);

  // The code.
  TypeTable& types();
  const ClassDef* class_of(const Type&);  // null for C++ classes; throws file.script-name when missing
  const ClassDef* find_class(std::string_view qualified_name);        // null when there is none
  const FunctionDef* find_function(std::string_view qualified_name);  // null when there is none
  Resolved resolve(std::string_view dotted_name);  // the longest prefix that names something; empty: nothing does
  // Parses every code file, e.g. for `show`.
  std::vector<const SourceFile*> all_sources();

  // Places.
  const SourceFile& source_of(Pos) const;
  Loc locate(Pos) const;  // "net.pt!code/__torch__.py", line, column, the line's text
  // Where the user wrote it, innermost call first; empty when the archive has no debug records for it. Ask with the
  // place of an expression: PyTorch tags those, and a statement's own place may belong to the loop around it.
  const std::vector<UserFrame>& user_frames(Pos);
  std::optional<UserFrame> user_frame(Pos);  // the innermost one outside PyTorch itself, else the innermost

 private:
  std::unique_ptr<ProgramState> state_;
};

// Opens an archive. Other files are refused with a hint what to do instead: file.state-dict,
// file.pickled-module, file.legacy, file.bytecode-only, file.pt2, ... (recognise.h). Damaged ones: file.*.
// `which`: the number of a program in a torch.package archive, whose first one is taken otherwise; file.torch-package
// where there is no such one.
Program read_torchscript(const std::string& path);
Program read_torchscript(Bytes file, std::string name, std::string_view which = "");

// The name without its `___torch_mangle_N` components: for recognising well-known names, never for lookup.
std::string demangle(std::string_view qualified_name);

// The whole program as text, for people and tests: archive facts, the object tree (shared things once), the code.
std::string dump(Program&);
std::string to_string(const StoredValue&);

}  // namespace cameo::torchscript
