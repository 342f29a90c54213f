// Where a verb's words go: data to standard output, everything said about it to standard error. Names from files may
// hold anything: whatever comes through here is escaped until it is printable UTF-8 (cameo/face.h). A line is one
// line; only `print` takes line breaks, from those who escaped the names in the text with `printable`.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "cameo/diag.h"
#include "cameo/progress.h"

namespace cameo::cli {

class Out {
 public:
  bool json = false;   // both streams are machine-readable
  bool quiet = false;  // errors only on standard error
  bool verbose = false;
  bool published = false;  // the verb's files have their names: what it read has done its work

  Out();
  ~Out();
  Out(const Out&) = delete;
  Out& operator=(const Out&) = delete;

  void print(std::string_view text);      // data, of any number of lines; appears at once only when much has gathered
  void line(std::string_view text = "");  // data, with a newline
  void program(std::string_view text);    // the answer is a text: as it is, or {"text": ...}
  void diag(const Diag& d);               // notes only with -v, warnings unless -q, errors always
  void diags(std::span<const Diag> all);
  void say(std::string_view text);  // one line for people: not with -q, not with --json
  // A bar on a terminal, nothing elsewhere. `done` of `all`; equal numbers take it away, and so does whatever is told.
  void progress(std::string_view what, uint64_t done, uint64_t all);
  Progress bar();  // the same for a long call, once it has taken a while
  void flush();    // throws write.failed when standard output is gone

 private:
  void clear_progress();
  void gather(std::string_view safe);
  std::string pending_;
  bool terminal_ = false, colour_ = false, bar_shown_ = false;
};

}  // namespace cameo::cli
