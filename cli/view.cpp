// cameo view: a model as a page in the browser, as one HTML file, or as a picture.
#include "cameo/view.h"

#include <spawn.h>
#include <unistd.h>

#include "cli/common.h"
#include "cli/stop.h"
#include "cli/verbs.h"

extern char** environ;

namespace cameo::cli {

namespace {

constexpr Flag flags[] = {
    {"output", 'o', "FILE", "write FILE.html, which needs no server, or the picture FILE.svg, and serve nothing"},
    {"open-all", 0, "", "with a picture: every module open"},
    {"no-open", 0, "", "only print the address; do not start a browser"},
    {"port", 0, "N", "the port of the page; default: any free one"},
    {"threads", 0, "N", "threads of the engine; default: all"},
};
constexpr Verb verb{"view",
                    "MODEL...",
                    "look at a model and work on it in the browser; nothing leaves this machine",
                    "cameo view net.onnx\ncameo view net.onnx -o net.html\ncameo view net.onnx -o net.svg",
                    flags,
                    1,
                    16};

void write_file(const std::string& path, const std::string& text, Out& out) {
  Publication files;
  files.open(path, {".html", ".svg"}).append(text);
  publish(files, false, out);
  out.say(cat(path, ": ", bytes_text(text.size())));
}

void open_browser(const std::string& address, Out& out) {
#ifdef __APPLE__
  const char* program = "open";
#else
  const char* program = "xdg-open";
#endif
  std::string copy = address, name = program;
  char* const argv[] = {name.data(), copy.data(), nullptr};
  pid_t child = 0;
  if (posix_spawnp(&child, program, nullptr, nullptr, argv, environ) != 0)
    out.say(cat("no ", program, " here: open the address yourself"));
}

int serve(const Args& args, Out& out) {
  PageServer server({.files = args.operands,
                     .port = static_cast<uint16_t>(args.integer("port", 0, 0, 65535)),
                     .threads = static_cast<int>(args.integer("threads", 0, 1, 4096))});
  out.line(server.address());
  out.flush();
  if (!args.has("no-open")) open_browser(server.address(), out);
  out.say("Ctrl-C ends it; so does closing the page");
  server.run();
  return ended_code();
}

}  // namespace

int view_main(Raw raw, Out& out) {
  const auto args = parse(verb, raw, out);
  if (!args) return 0;
  const auto target = args->value("output");
  if (!target) return serve(*args, out);
  const std::string& model = args->operands[0];
  if (target->ends_with(".svg")) write_file(*target, picture_svg(opened(model, out), args->has("open-all")), out);
  else write_file(*target, page_html(model), out);
  return 0;
}

}  // namespace cameo::cli
