// Models: loading, looking, saving. docs/library.md has whole programs.
//
//   auto model = cameo::load("net.onnx");
//   for (const cameo::Node& n : model.nodes())
//     if (n.op() == "Conv") std::cout << n.name() << ' ' << n.input(1).type() << '\n';   // conv1 f32[64,3,7,7]
//   model.save("copy.onnx");
//
// Everything throws cameo::Error (diag.h), whose findings say where, why and what to do.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "cameo/array.h"
#include "cameo/attribute.h"
#include "cameo/diag.h"
#include "cameo/progress.h"

namespace cameo {

class Graph;
class Node;
class Publication;
class Value;
struct ModelState;
using ModelHandle = std::shared_ptr<const ModelState>;

struct ValueInfo {
  std::string name;
  std::string type;  // "f32[batch,8]", "seq(i64[?])", "?" while unknown
};

// The data of a constant. It is read from the model's file when it is needed.
class Weight {
 public:
  std::string dtype() const;
  std::vector<int64_t> shape() const;
  uint64_t byte_size() const;
  Array array() const;         // a copy; throws use.array for strings
  SharedArray shared() const;  // no copy where the model holds it row by row

 private:
  friend class Value;
  Weight(ModelHandle model, uint32_t value) : model_(std::move(model)), value_(value) {}
  ModelHandle model_;
  uint32_t value_;
};

// A value of a graph: an input, a weight, or what a node computes.
class Value {
 public:
  bool present() const {
    return id_ != none;
  }                           // false: an absent optional input of the node. Its other functions then throw use.absent
  std::string name() const;   // may be empty
  std::string label() const;  // its name, or %12 where it has none; Editor and extract take both
  std::string type() const;   // as ValueInfo's
  std::string onnx_type() const;  // "tensor(float)", as ONNX and onnxruntime spell it; without sizes
  std::string dtype() const;      // "f32"; empty if unknown or not a tensor
  // Sizes as text: "8", "batch", "2*h + 1", "?" for one that is unknown; nothing while the rank is unknown.
  std::optional<std::vector<std::string>> shape() const;
  std::optional<Weight> weight() const;  // of an initializer, or an input's default
  std::optional<Node> maker() const;     // the node that computes it
  std::vector<Node> users() const;
  friend bool operator==(const Value& a, const Value& b) { return a.model_ == b.model_ && a.id_ == b.id_; }

 private:
  friend class Graph;
  friend class Node;
  static constexpr uint32_t none = UINT32_MAX;
  Value(ModelHandle model, uint32_t id) : model_(std::move(model)), id_(id) {}
  uint32_t id() const;  // throws use.absent
  ModelHandle model_;
  uint32_t id_;
};

// A node, in the form of the newest opset: older forms are upgraded when a file is read.
class Node {
 public:
  std::string name() const, op() const, domain() const;  // domain: "" is ONNX's own
  size_t input_count() const, output_count() const;
  Value input(size_t i) const;  // throws use.index where there are fewer
  Value output(size_t i = 0) const;
  std::vector<Value> inputs() const, outputs() const;
  std::vector<Attribute> attributes() const;  // those that are set; bodies are not among them
  std::optional<Attribute> attribute(std::string_view name) const;
  std::vector<std::pair<std::string, Graph>> bodies() const;  // of If, Loop, Scan: "then_branch", "body"
  std::string place() const;  // where it comes from, as far as the file says: "model.py:57"
  Loc where() const;          // the same, with the module and the line itself
  friend bool operator==(const Node& a, const Node& b) { return a.model_ == b.model_ && a.id_ == b.id_; }

 private:
  friend class Graph;
  friend class Value;
  Node(ModelHandle model, uint32_t id) : model_(std::move(model)), id_(id) {}
  ModelHandle model_;
  uint32_t id_;
};

// The main graph, a body, or a function.
class Graph {
 public:
  std::string name() const;
  std::vector<Node> nodes() const;  // in order
  std::vector<Value> inputs() const, outputs() const, weights() const;
  std::optional<Value> find(std::string_view name) const;  // a value by name

 private:
  friend class Model;
  friend class Node;
  Graph(ModelHandle model, uint32_t region) : model_(std::move(model)), region_(region) {}
  ModelHandle model_;
  uint32_t region_;
};

struct Function {
  std::string domain, name;
  Graph body;
};

enum class Weights : uint8_t {
  keep,       // as they were, or as the model was exported for: data beside the file is referred to as before
  automatic,  // embedded up to 1.9 GiB, otherwise external
  embed,      // everything in one file
  external,   // one data file beside the model
  in_place,   // refer to the archive the weights were read from; it has to stay in the same folder
};

struct SaveSettings {
  int opset = 0;  // 0: the model's own
  Weights weights = Weights::keep;
  std::string external_name = {};  // of the data file; empty: the model's name, a hash and .data
  bool lossy = false;              // allow expansions that are wrong on inf, NaN or overflow, or approximate
  bool durable = false;            // wait until the disk has the file
  // For the file's metadata: what was done ("simplify --exact"), with Cameo's version and a hash of the file that the
  // model was read from; unset: none of these.
  std::optional<std::string> provenance = {};
  Progress progress = {};
};

// An ONNX model, or a PyTorch archive, which export_model (export.h) converts. A value: copies share their contents,
// and functions return new models. A model that was moved from throws use.moved-from.
class Model {
 public:
  enum class Kind : uint8_t { onnx, torchscript, torch_export };
  Kind kind() const;
  bool is_archive() const { return kind() != Kind::onnx; }
  // Of a TorchScript archive: the recorded example inputs of forward; else of archives none.
  std::vector<ValueInfo> inputs() const, outputs() const;
  // Archives have no nodes: export them first. The main graph's nodes; bodies are reached through their nodes.
  Graph graph() const;
  std::vector<Node> nodes() const { return graph().nodes(); }
  std::vector<Function> functions() const;
  size_t node_count() const;                      // bodies and functions not counted; 0 for archives
  int opset(std::string_view domain = "") const;  // 0: the model does not use the domain
  std::map<std::string, int> opsets() const;
  std::map<std::string, std::string> metadata() const;
  int ir_version() const;
  std::string producer() const;  // "pytorch 2.13.0"
  // The graph in the form of the newest opset (docs/text-form.md); save() as .onnxtxt writes the model's own. Of an
  // archive its program.
  std::string text() const;
  // Notes and warnings of how it was made.
  const std::vector<Diag>& findings() const;

  // As .onnx, or as text if the name ends in .onnxtxt; "-" is standard output. Nothing appears under `path` unless
  // all of it was written. Gives notes on what was lost, where `lossy` allows that.
  std::vector<Diag> save(const std::string& path, const SaveSettings& settings = {}) const;
  // The same, together with other files (publication.h), whose commit() says whether to wait for the disk.
  std::vector<Diag> save(Publication& files, const std::string& path, const SaveSettings& settings = {}) const;
  std::string bytes(const SaveSettings& settings = {}) const;

 private:
  friend struct ModelState;
  explicit Model(ModelHandle state) : state_(std::move(state)) {}
  ModelHandle state_;
};

// .onnx, .onnxtxt, a TorchScript archive or a torch.export archive, recognised by its contents. Throws file.* for
// damaged files and other formats. The program of an archive is read when it is first needed.
Model load(const std::string& path);
// The same from memory, which is copied. External data cannot be referred to from there.
Model load_bytes(const void* data, size_t size);
// The same without a copy. `name` is shown as the path in findings; one that ends in .onnxtxt means text.
Model load_buffer(Buffer bytes, const std::string& name = "");
// The same from anything that can be read in pieces: reads `size` bytes at `offset` into memory. Called only on this
// thread.
using ReadAt = std::function<void(uint64_t offset, void* into, size_t size)>;
Model load_from(uint64_t size, const ReadAt& read);

// An ONNX file as text in the words of its own opset, as the file has it; weights of more elements than `largest` are
// only named.
std::string file_text(const std::string& path, int64_t largest = 64);

}  // namespace cameo
