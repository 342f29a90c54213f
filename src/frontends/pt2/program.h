// A torch.export archive (.pt2): one flat graph as JSON, a signature, and tensors as views of the mapped file.
//
// The graph stays JSON, seen through light handles: most of a document is unused metadata. Generations
// and schema versions differ in details; the functions here hide them (docs/pt2.md).
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "formats/json.h"
#include "frontends/torch_dtype.h"
#include "support/bytes.h"
#include "support/error.h"

namespace cameo::pt2 {

// A union of the schema: its one tag that is set, and what it holds. Generations before 2.3 write every tag, all but
// one null.
struct Tagged {
  std::string_view tag;
  json::Value value;
  explicit operator bool() const { return !tag.empty(); }
};
Tagged tagged(json::Value u);  // throws file.schema when none is set

// An entry of nn_module_stack, "key,path,class"; what it lacks is empty.
struct ModuleEntry {
  std::string_view path, cls;
};
ModuleEntry module_entry(std::string_view text);

enum class InputKind : uint8_t { user, parameter, buffer, tensor_constant, custom_object, token, constant };
struct GraphInput {
  InputKind kind = InputKind::user;
  std::string_view value;  // its name in the graph; empty for constants
  std::string target;      // parameter, buffer, constant: the module path
  bool persistent = true;  // of a buffer
  json::Value
      constant;  // constant: the tagged value it was exported with; tensor_constant of PyTorch 2.1: its bytes as text
};

enum class OutputKind : uint8_t { user, buffer, parameter, user_input, token, training };
struct GraphOutput {
  OutputKind kind = OutputKind::user;
  json::Value arg;     // an Argument; of mutations {"name": ...}
  std::string target;  // what is mutated: a module path, or the placeholder's name
};

// A tensor of the archive: a strided view of a storage. Sizes, strides and offset are in elements and lie inside.
struct Payload {
  TorchDtype dtype = TorchDtype::float32;
  std::vector<int64_t> sizes, strides;
  int64_t offset = 0;
  Bytes storage;
};

struct Range {
  std::string symbol;  // "s77", or an expression: "2*s77"
  std::optional<int64_t> lo, hi;
};

struct ProgramState;

class Program {
 public:
  explicit Program(std::unique_ptr<ProgramState> state);
  ~Program();
  Program(Program&&) noexcept;

  const std::string& path() const;
  const Bytes& file() const;
  const std::string& model_name() const;           // "model"
  const std::vector<std::string>& models() const;  // of the package; model_name() is one of them
  const std::string& torch_version() const;        // "2.11.0"; empty when not told
  int schema_major() const;
  int schema_minor() const;
  bool is_training_ir() const;  // may hold in-place operators

  json::Value graph() const;
  const std::vector<GraphInput>& inputs() const;
  const std::vector<GraphOutput>& outputs() const;
  const std::vector<Range>& ranges() const;
  // Readable paths of the user outputs, in order: "logits", "extra.0"; empty text where the path says nothing.
  const std::vector<std::string>& output_paths() const;

  // The tensor behind a parameter, buffer or constant. Throws file.missing-data when the archive has only its shape,
  // file.unsupported for objects that are not tensors.
  Payload payload(const GraphInput& input);

 private:
  std::unique_ptr<ProgramState> state_;
};

// Which of a package's programs: the one of that name; "forward" is the only one, or the one called "model" or
// "forward". Throws use.method, which names them all.
Program read_pt2(Bytes file, std::string name, std::string_view model = "forward");
Program read_pt2(const std::string& path, std::string_view model = "forward");

// The archive's own numbering of dtypes, which is not TorchScript's.
std::optional<TorchDtype> dtype_of(int64_t scalar_type);

}  // namespace cameo::pt2
