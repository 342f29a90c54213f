// A metric from a command that judges a model's file.
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <string>

#include <poll.h>
#include <unistd.h>

#include "support/budget.h"
#include "support/error.h"
#include "support/number_text.h"

#include "api/temporary_folder.h"
#include "cameo/model.h"
#include "cameo/quantize.h"

namespace cameo {

namespace {

using support::cat;
using support::error;

std::string quoted(const std::string& text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

double last_number(const std::string& text, const std::string& command) {
  size_t end = text.find_last_of("0123456789");
  if (end == text.npos) throw error("quantize.metric", cat("the command printed no number: ", command));
  size_t start = text.find_last_of(" \t\r\n:=", end);
  start = start == text.npos ? 0 : start + 1;
  size_t used = 0;
  const double out = support::leading_double(std::string_view(text).substr(start), used);
  if (used == 0) throw error("quantize.metric", cat("the command printed no number: ", command));
  return out;
}

constexpr size_t most_text = 1 << 20;  // the number is at the end
constexpr int patience_ms = 20;

// What the command prints. Whoever stops the work does not wait for it: it ends when it next writes.
std::string all_of(std::FILE* pipe) {
  const int fd = fileno(pipe);
  std::string text;
  char buffer[4096];
  try {
    while (true) {
      support::checkpoint();
      pollfd ready{fd, POLLIN, 0};
      if (poll(&ready, 1, patience_ms) <= 0) continue;
      const ssize_t got = read(fd, buffer, sizeof buffer);
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) return text;
      if (text.size() > 2 * most_text) text.erase(0, text.size() - most_text);
      text.append(buffer, static_cast<size_t>(got));
    }
  } catch (...) {
    close(fd);
    throw;
  }
}

}  // namespace

QuantizeMetric metric_of_command(std::string command) {
  return [command = std::move(command)](const Model& model) {
    const api::TemporaryFolder folder;
    const std::string file = folder.path + "/model.onnx";
    model.save(file);
    std::FILE* pipe = popen(cat(command, " ", quoted(file)).c_str(), "r");
    if (!pipe) throw error("quantize.metric", cat("cannot run ", command));
    const std::string text = all_of(pipe);
    if (const int status = pclose(pipe); status != 0)
      throw error("quantize.metric", cat("the command failed with status ", status, ": ", command));
    return last_number(text, command);
  };
}

}  // namespace cameo
