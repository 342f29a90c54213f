// Models in files: loading, asking, checking, converting, writing. docs/library.md has whole programs.
//
//   auto net = cameo::load("net.onnx");
//   for (const auto& v : net.inputs()) std::puts(v.type.c_str());   // f32[batch,3,224,224]
//   cameo::convert(net, 13).save("net13.onnx");
//
// Everything throws cameo::Error (diag.h), whose findings say where, why and what to do.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "cameo/diag.h"

namespace cameo {

struct ValueInfo {
  std::string name;
  std::string type;  // "f32[batch,8]", "seq(i64[?])", "?" while unknown
};

enum class Weights : uint8_t {
  keep,      // external data that stays beside the file is referred to as before; else embedded up to 1.9 GiB
  embed,     // everything in one file
  external,  // one data file beside the model
  in_place,  // refer to the archive the weights were read from; it has to stay in the same folder
};

struct SaveSettings {
  int opset = 0;  // 0: the model's own
  Weights weights = Weights::keep;
  bool lossy = false;    // allow expansions that are wrong on inf, NaN or overflow, or approximate
  bool durable = false;  // wait until the disk has the file
};

// An ONNX model, or a PyTorch archive, which export_onnx (export.h) makes one of. A value: copies share what is in it, and
// functions give new ones.
class Net {
 public:
  bool is_archive() const;
  // Of a TorchScript archive: the recorded example inputs of forward; else of archives none.
  std::vector<ValueInfo> inputs() const, outputs() const;
  size_t node_count() const;  // 0 for archives
  std::string text() const;   // the graph (docs/text-form.md), or an archive's program
  // Notes and warnings of how it was made.
  const std::vector<Diag>& findings() const;

  // As .onnx, or as text where the name ends in .onnxtxt. Nothing appears under `path` unless all of it was written.
  void save(const std::string& path, const SaveSettings& settings = {}) const;
  std::string bytes(const SaveSettings& settings = {}) const;

 private:
  friend struct NetState;
  explicit Net(std::shared_ptr<const struct NetState> state) : state_(std::move(state)) {}
  std::shared_ptr<const struct NetState> state_;
};

// .onnx, .onnxtxt, a TorchScript archive or a torch.export archive, told by its contents. Throws file.* for what is damaged or something else.
Net load(const std::string& path);

// Everything that is wrong with a file, as `cameo check` finds it.
std::vector<Diag> check(const std::string& path);
// The same of a model at its own opset.
std::vector<Diag> check(const Net& net);

// Types and shapes of every value, symbolic; where and why it had to stop is in the result's findings().
Net infer(const Net& net);

// At another opset, up or down. Throws convert.* with one finding per node that the opset cannot say.
Net convert(const Net& net, int opset, bool lossy = false);

}  // namespace cameo
