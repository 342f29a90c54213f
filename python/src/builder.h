// The graph that is being recorded, lent to a lowering in Python for the time of one call.
#pragma once

#include "bindings.h"
#include "staging/stager.h"

namespace cameo::python {

struct HostValue {
  ValueId id;
};

class HostGraph {
 public:
  explicit HostGraph(staging::Stager& s) : stager_(&s) {}
  staging::Stager& stager() const;  // throws use.lowering once the call has ended
  void end() { stager_ = nullptr; }

 private:
  staging::Stager* stager_;
};

nb::object to_host(staging::Stager& s, const staging::Value& v);
staging::Value from_host(HostGraph& g, nb::handle h);

}  // namespace cameo::python
