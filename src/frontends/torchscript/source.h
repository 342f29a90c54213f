// One file of code/: its text, its tree, and text again.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "frontends/torchscript/ast.h"
#include "support/arena.h"
#include "support/bytes.h"

namespace cameo::torchscript {

// Owns its text and tree. Not copied, not moved: nodes point into it.
struct SourceFile {
  std::string path;    // "code/__torch__/torch/nn/modules/linear.py"
  std::string prefix;  // "__torch__.torch.nn.modules.linear": before the names defined here
  uint32_t base = 0;   // Pos::offset of its first byte
  Bytes text;
  Arena arena;
  std::vector<const ClassDef*> classes;
  std::vector<const FunctionDef*> functions;
  std::vector<bool> class_first;  // order of definitions: true is the next class, false the next function

  SourceFile() = default;
  SourceFile(const SourceFile&) = delete;
  SourceFile& operator=(const SourceFile&) = delete;
};

// Parses `file.text` into `file`, whose path, prefix, base and text are set. `types` must outlive the file.
// Throws file.script-syntax with line, column and the line's text.
void parse_source(SourceFile& file, TypeTable& types);

// "List[Tuple[int, str]]", as in a pickle's type tags. Throws file.script-syntax.
const Type* parse_type(std::string_view text, TypeTable& types);

// The tree as PyTorch prints it: parsing and printing an archive's file gives the same bytes.
std::string print(const SourceFile&);
std::string print(const ClassDef&);
std::string print(const FunctionDef&, int indent = 0);
std::string print(const Stmt&, int indent = 0);
std::string print(const Expr&);

}  // namespace cameo::torchscript
