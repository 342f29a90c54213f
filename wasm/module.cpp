// The module's few functions: one desk, and calls of it. Strings and blobs lie in the module's memory; the worker
// (web/src/tab/worker.ts) copies them in and out, and web/src/tab/files.ts has the files. One call at a time, as a
// worker has one thread.
#include <emscripten.h>

#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cameo/page.h"
#include "cameo/progress.h"

namespace {

// Tells the page how far the call is; 0 cancels it.
EM_JS(int, tell_progress, (const char* what, double done, double all),
      { return Module.progress(UTF8ToString(what), done, all) ? 1 : 0; });
EM_JS(int, is_cancelled, (), { return Module.cancelled() ? 1 : 0; });

struct Table {
  cameo::Desk desk{{.out = "/out"}};
  std::vector<cameo::Buffer> given, results;
  std::string reply;
};

Table& table() {
  static Table* const all = new Table;  // for as long as the worker lives
  return *all;
}

}  // namespace

extern "C" {

// A file below the worker's folder of files may be opened.
EMSCRIPTEN_KEEPALIVE void cameo_allow(const char* path) { table().desk.allow(path); }

// `size` bytes of a new blob for the next call, to be filled; null: there is no memory for it.
EMSCRIPTEN_KEEPALIVE void* cameo_give(size_t size) {
  void* room = std::malloc(size ? size : 1);
  if (room) table().given.push_back({std::shared_ptr<const void>(room, std::free), room, size});
  return room;
}

// The reply's length; cameo_reply() has its text, cameo_blob(i) the blobs until cameo_done().
EMSCRIPTEN_KEEPALIVE size_t cameo_call(const char* request, size_t length) {
  Table& t = table();
  const cameo::StopScope stop([] { return is_cancelled() != 0; });
  t.results.clear();
  t.reply = t.desk.call({request, length}, {.given = std::move(t.given),
                                            .results = &t.results,
                                            .progress = [](const char* what, uint64_t done, uint64_t all) {
                                              return tell_progress(what, static_cast<double>(done),
                                                                   static_cast<double>(all)) != 0;
                                            }});
  t.given.clear();
  return t.reply.size();
}
EMSCRIPTEN_KEEPALIVE const char* cameo_reply() { return table().reply.c_str(); }
EMSCRIPTEN_KEEPALIVE size_t cameo_blobs() { return table().results.size(); }
EMSCRIPTEN_KEEPALIVE const void* cameo_blob(size_t i) { return i < cameo_blobs() ? table().results[i].data : nullptr; }
EMSCRIPTEN_KEEPALIVE size_t cameo_blob_size(size_t i) { return i < cameo_blobs() ? table().results[i].size : 0; }
EMSCRIPTEN_KEEPALIVE void cameo_done() {
  table().results.clear();
  table().reply = {};
}
}
