// Models as pages and pictures: what `cameo view` does.
//
//   cameo::PageServer server({.files = {"net.onnx"}});
//   std::cout << server.address() << '\n';   // http://127.0.0.1:40123/9f…/
//   server.run();                            // until interrupt(), or until the page has been closed for a while
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cameo/model.h"

namespace cameo {

// Whether this build holds the page; without it page_html and PageServer throw use.page.
bool has_page();
bool has_module();  // whether that page carries the engine as WebAssembly

// The graph as SVG, with modules closed as the page shows them at first, or everything open.
std::string picture_svg(const Model& model, bool open_all = false);

// One HTML file that needs neither a server nor a network. Where this build's page carries the engine (has_module) the
// file holds the model, and everything works in it. A model of more than `most_weight_bytes`, or without that, is only
// shown: graph, panels, findings; statistics of weights are left out above `most_weight_bytes`. `file` is the name that
// the model was read by.
std::string page_html(const std::string& file, uint64_t most_weight_bytes = uint64_t{64} << 20);
// The same of a model that is there already, under a name of your own.
std::string page_html(const Model& model, const std::string& name, uint64_t most_weight_bytes = uint64_t{64} << 20);

struct ViewSettings {
  std::vector<std::string> files = {};                     // that the page may read; the first one is shown
  std::vector<std::pair<std::string, Model>> models = {};  // by names of your own; shown before the files
  uint16_t port = 0;                                       // 0: any that is free
  double gone_seconds = 20;                                // ends so long after the last page was closed
  int threads = 0;                                         // of the engine; 0: all the machine has
};

// The page behind an address of this machine only. Whoever knows the address may use it: it holds a random token.
// Nothing but the page and its calls is served, and no file is read but those that were named.
class PageServer {
 public:
  explicit PageServer(const ViewSettings& settings);  // throws view.port
  ~PageServer();
  PageServer(PageServer&&) noexcept;
  std::string address() const;
  void run();
  void stop() noexcept;  // ends run() soon; any thread may call it

 private:
  struct State;
  State& state() const;  // throws use.moved-from
  std::unique_ptr<State> state_;
};

}  // namespace cameo
