// Running models: loaded once, run many times, from several threads at once.
//
//   cameo::Session session(cameo::load("net.onnx"), {.threads = 2});
//   auto y = session.run({cameo::Array::of({1, 4}, std::vector<float>{1, 2, 3, 4})});
//   auto z = session.run_named({{"x", view}});   // the memory of the view is not copied
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cameo/array.h"
#include "cameo/kernel.h"
#include "cameo/model.h"
#include "cameo/publication.h"

namespace cameo {

struct SessionSettings {
  int threads = 0;                             // 0: all the machine has
  bool reference = false;                      // use only the reference kernels
  uint64_t seed = 0;                           // for random operators that carry none
  std::vector<Kernel> kernels = {};            // of your own (kernel.h)
  std::vector<std::string> keep_outputs = {};  // inner values to return too, after the outputs; names with * and ?
};

struct Step {
  std::string node, op, kernel;
  double start_us = 0, length_us = 0;
};

std::string chrome_trace(const std::vector<Step>& steps);  // JSON for chrome://tracing and Perfetto
// One row per kind of step, slowest first: share, total time, count, kernels.
std::string profile_table(const std::vector<Step>& steps);

struct RunSettings {
  std::vector<Step>* profile = nullptr;  // filled with the steps of this run
  // Outputs that go into the caller's memory, by name: as many bytes as the result has, or run.size is thrown. They are
  // computed there where it is aligned to 8 bytes and holds no input; after an error its contents are undefined.
  std::map<std::string, std::pair<void*, size_t>> into = {};
};

// An ONNX model, ready to run. Every function may be called by several threads at once.
class Session {
 public:
  explicit Session(Model model, const SessionSettings& settings = {});
  explicit Session(const std::string& path, const SessionSettings& settings = {});
  ~Session();
  Session(Session&&) noexcept;
  Session& operator=(Session&&) noexcept;

  std::vector<ValueInfo> inputs() const, outputs() const;
  std::vector<std::string> result_names() const;  // of the results of a run: the outputs, then those of keep_outputs

  // Inputs in the model's order, where trailing ones with defaults may be left out, or by name. Their memory is not
  // copied. Throws run.input-missing, run.dtype, run.rank and run.size where they do not fit, all findings at once;
  // use.input-name for an unknown name; run.kind if an output is not an array of numbers.
  std::vector<Array> run(const std::vector<ArrayView>& inputs, const RunSettings& settings = {}) const;
  std::vector<Array> run_named(const std::vector<std::pair<std::string, ArrayView>>& inputs,
                               const RunSettings& settings = {}) const;
  // Of every kind, sequences and strings too; results are not copied. `into` is not for these.
  std::vector<RunValue> run_values(const std::vector<RunValue>& inputs, std::vector<Step>* profile = nullptr) const;
  std::vector<RunValue> run_values(const std::vector<NamedValue>& inputs, std::vector<Step>* profile = nullptr) const;

  uint64_t arena_bytes() const, packed_weight_bytes() const;  // of the largest run so far
  int threads() const;

 private:
  struct State;
  const State& state() const;  // throws use.moved-from
  std::unique_ptr<State> state_;
};

// Inputs for a model from an .npz (keys are names, or x0, x1, ... in order), an .npy or a test_data_set folder. Throws
// use.input-name for a key that is neither. Made-up ones are in verify.h.
std::vector<NamedValue> load_inputs(const Model& model, const std::string& path);
// As .npz: sequences as `name.0`, `name.1`, ...; maps as `name.keys`, `name.values`; nothing not at all.
void save_values(const std::string& path, const std::vector<NamedValue>& values);
void save_values(Publication::File& file, const std::vector<NamedValue>& values);

}  // namespace cameo
