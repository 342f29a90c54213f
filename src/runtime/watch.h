// Looking on while a graph runs: intermediate values by name, and time per node as a Chrome trace.
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/arrays.h"
#include "runtime/reference.h"

namespace cameo {

bool matches(std::string_view text, std::string_view pattern);  // * and ?

class Watch {
 public:
  // Keeps the values of the main graph whose name, or whose node's name, matches one of `patterns`.
  // Throws run.no-match for a pattern that matches nothing.
  Watch(const Graph& g, const std::vector<std::string>& patterns, bool times);

  ReferenceOptions options();
  std::string trace() const;  // JSON for chrome://tracing, once the run is over
  std::vector<NamedDatum> kept;

 private:
  using Clock = std::chrono::steady_clock;
  struct Span {
    NodeId node;
    double start_us, length_us;
  };
  void seen(ValueId v, const Datum& d);

  const Graph& g_;
  std::vector<bool> wanted_;  // by value
  bool times_;
  std::vector<Span> spans_;
  Clock::time_point begin_, last_;
};

}  // namespace cameo
