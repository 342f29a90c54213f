// Identity.
#include "ops/eval.h"
#include "ops/infer.h"
#include "ops/op_def.h"

namespace cameo::ops {

namespace {

struct Identity : Rules<op::Identity> {
  static constexpr bool partial = true;
  static void infer(const op::Identity&, Infer& c) {
    c.out_like(0, 0);
    c.out_contents(0, c.in(0).contents);
  }
  static void eval(const op::Identity&, Eval& k) { k.out(0, k.datum(0)); }
};

constexpr OpRules table[] = {rules<Identity>()};

}  // namespace

std::span<const OpRules> identity_rules() { return table; }

}  // namespace cameo::ops
