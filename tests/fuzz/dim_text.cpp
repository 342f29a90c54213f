// Text of sizes: whatever is read prints as something that reads back equal, and its bounds hold.
#include <cstdint>
#include <cstdlib>

#include "ir/dim_facts.h"
#include "ir/dim_view.h"
#include "support/error.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace cameo;
  using namespace cameo::tests;
  DimContext context;
  try {
    const Dim d = parse_dim(context, {reinterpret_cast<const char*>(data), size});
    if (!(parse_dim(context, d.text()) == d)) std::abort();
    std::vector<Substitution> ones;
    for (const Dim s : symbols_of(d)) ones.push_back({s, 1});
    const auto value = evaluate(d, ones);
    const DimRange range = range_of(d);
    if (value && ((range.lo && *value < *range.lo) || (range.hi && *value > *range.hi))) std::abort();
    view_of(d);
    DimFacts facts;
    for (const Substitution& s : ones) facts.assume_range(s.symbol, 1, 9, {});
    const Dim simple = facts.simplify(d);
    if (value && evaluate(simple, ones) && *evaluate(simple, ones) != *value) std::abort();
  } catch (const Error& e) {
    if (e.exit_code() == 4) std::abort();
  }
  return 0;
}
