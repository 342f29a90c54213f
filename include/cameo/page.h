// A desk: open models, what was done to them, and how they are drawn, behind one call with JSON in and out. It is what
// the page talks to: natively behind `cameo view`, and as WebAssembly in the browser's tab. docs/page.md has the
// methods.
//
//   cameo::Desk desk({.files = {"net.onnx"}});
//   desk.call(R"({"method": "open", "params": {"file": "net.onnx"}})");   // {"ok":true,"result":{"model":1,...}}
//   desk.call(R"({"method": "simplify", "params": {"model": 1}})");
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cameo/array.h"
#include "cameo/model.h"
#include "cameo/progress.h"

namespace cameo {

struct DeskSettings {
  std::vector<std::string> files = {};  // paths that `open` may read; every other path is refused with use.file
  int threads = 0;                      // of the engine; 0: all the machine has
  std::string out = {};                 // the folder that `save` may write files to; empty: it only gives blobs
};

// What travels with a request beside its JSON.
struct DeskCall {
  std::vector<Buffer> given = {};          // blobs that the request names by their number: arrays, files
  std::vector<Buffer>* results = nullptr;  // gets the blobs that the reply names by their number; null: none are made
  Progress progress = {};                  // asked by long calls; false cancels with budget.interrupted
};

class Desk {
 public:
  explicit Desk(const DeskSettings& settings = {});
  ~Desk();
  Desk(Desk&&) noexcept;
  Desk& operator=(Desk&&) noexcept;

  void allow(const std::string& path);  // one more of DeskSettings' files
  // A file that lies elsewhere than on disk: `open` finds it by this name. It is read during `open`, on that thread.
  void offer(const std::string& name, uint64_t size, ReadAt read);
  void offer(const std::string& name, Buffer bytes);
  void offer(const std::string& name, Model model);  // one that is there already; `models` lists it among the files

  // {"method": NAME, "params": {...}} gives {"ok": true, "result": {...}}, or {"ok": false, "errors": [findings],
  // "exit_code": N}. Never throws. One call at a time.
  std::string call(std::string_view request, const DeskCall& with = {}) noexcept;

  static std::vector<std::string> methods();

 private:
  struct State;
  State& state() const;  // throws use.moved-from
  std::unique_ptr<State> state_;
};

}  // namespace cameo
