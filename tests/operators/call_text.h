// A call of a torch operator as text: aten::clamp.Tensor(f32[b,3], max=f32[3] hi).
//
// Arguments stand in the order of the schema or have names; those left out have the schema's defaults. A tensor is its
// type, with a name where it is not the parameter's; `i64{2, 3}` is a constant vector, `i64{2}[]` a constant number.
// A tensor of complex numbers is an input of pairs. Other values: 2, 0.5, b (a size), True, None, "text", f32 (a
// dtype), [lists].
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "lowering/row.h"

namespace cameo::tests {

struct ParsedCall {
  const Row* row;
  LoweredCall call;
};

// Adds the tensors as inputs and constants of the graph. Throws "text.call".
ParsedCall parse_call(std::string_view text, Lower& on);
std::string call_text(const Schema& schema, const std::vector<Arg>& args, const Graph& g);

Arg default_argument(const SchemaParam& p);
std::string arg_text(const Arg& a, const Graph& g, bool named);  // results: numbers, sizes, lists of them

// Graph values among results, those in lists too.
void add_results(const std::vector<Arg>& results, std::vector<ValueId>& out);

}  // namespace cameo::tests
