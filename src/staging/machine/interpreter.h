// What the machine asks the interpreter that runs a program on it.
#pragma once

#include <string>
#include <string_view>

#include "staging/machine/calls.h"
#include "support/error.h"

namespace cameo::staging {

class Interpreter {
 public:
  virtual Loc here() const = 0;                  // the place in the program that is run now
  virtual const std::string& scope() const = 0;  // the path of its module; empty: the root
  // "model.py:57: x = self.conv(x)" of a place in the archive; empty: the archive does not say.
  virtual std::string user_line(const Loc&) const { return {}; }
  // Changes a call whose operator meant something else when the archive was written.
  virtual void upgrade(std::string_view /*op*/, CallArgs&) {}
  // The name of a NamedTuple's field; empty: it has none.
  virtual std::string_view field_name(const Tuple&, size_t /*field*/) const { return {}; }
  // Whether the types of a custom operator's results come from the archive.
  virtual bool has_types() const { return false; }

 protected:
  ~Interpreter() = default;
};

}  // namespace cameo::staging
