#include "cli/out.h"

#include <chrono>
#include <cstdio>
#include <cstdlib>

#include "cameo/face.h"
#include "cameo/json.h"
#include "cli/words.h"

#if __has_include(<unistd.h>)
#include <unistd.h>
#endif

namespace cameo::cli {

namespace {
bool error_is_terminal() {
#if __has_include(<unistd.h>)
  return isatty(2) != 0;
#else
  return false;
#endif
}

void write_error(std::string_view text) { std::fwrite(text.data(), 1, text.size(), stderr); }
}  // namespace

Out::Out() : terminal_(error_is_terminal()) {
  const char* no_colour = std::getenv("NO_COLOR");
  colour_ = terminal_ && !(no_colour && *no_colour);
}

Out::~Out() {
  clear_progress();
  std::fwrite(pending_.data(), 1, pending_.size(), stdout);
}

void Out::gather(std::string_view safe) {
  clear_progress();
  pending_ += safe;
  if (pending_.size() > (1 << 16)) flush();
}

void Out::program(std::string_view text) {
  if (!json) return print(text);
  json::Writer w;
  w.object().key("text").value(text).end();
  line(w.text());
}

void Out::print(std::string_view text) { gather(printable_lines(text)); }
void Out::line(std::string_view text) { gather(printable_text(text) += '\n'); }

void Out::flush() {
  const bool all = std::fwrite(pending_.data(), 1, pending_.size(), stdout) == pending_.size();
  pending_.clear();
  if (std::fflush(stdout) != 0 || !all) throw error("write.failed", "standard output cannot be written");
}

void Out::diag(const Diag& d) {
  if (d.severity == Severity::note && !verbose) return;
  if (d.severity != Severity::error && quiet) return;
  clear_progress();
  if (json) return write_error(d.render_json() + "\n");
  std::string text = d.render();
  if (text.empty() || text.back() != '\n') text += '\n';
  const size_t head = text.find(':');
  if (!colour_ || head == text.npos) return write_error(text);
  const char* start = d.severity == Severity::error     ? "\033[1;31m"
                      : d.severity == Severity::warning ? "\033[1;33m"
                                                        : "\033[1;36m";
  write_error(cat(start, text.substr(0, head), "\033[0m", text.substr(head)));
}

void Out::diags(std::span<const Diag> all) {
  for (const Diag& d : all) diag(d);
}

void Out::say(std::string_view text) {
  if (quiet || json) return;
  clear_progress();
  write_error(printable_text(text) += '\n');
}

void Out::progress(std::string_view what, uint64_t done, uint64_t all) {
  if (!terminal_ || quiet || json) return;
  if (all && done >= all) return clear_progress();
  constexpr uint64_t width = 30;
  const auto filled = static_cast<size_t>(all ? done * width / all : 0);
  const std::string bar =
      all ? cat("[", std::string(filled, '='), std::string(width - filled, ' '), "] ", done, "/", all) : cat(done);
  write_error(cat("\r", what, " ", bar, "\033[K"));
  std::fflush(stderr);
  bar_shown_ = true;
}

Progress Out::bar() {
  return [this, start = std::chrono::steady_clock::now()](const char* what, uint64_t done, uint64_t all) {
    constexpr std::chrono::milliseconds patience{300};
    if (std::chrono::steady_clock::now() - start > patience) progress(what, done, all);
    return true;
  };
}

void Out::clear_progress() {
  if (bar_shown_) write_error("\r\033[K");
  bar_shown_ = false;
}

}  // namespace cameo::cli
