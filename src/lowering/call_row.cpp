#include "lowering/call_row.h"

namespace cameo::lowering {

std::vector<Arg> call_row(Lower& on, std::string_view overload, std::vector<Arg> args) {
  const Row* row = find_row(overload);
  const Schema* schema = find_schema(overload);
  invariant(row && schema, cat("a row for ", overload));
  args.resize(schema->params.size());
  return lower_call(on, *row, {schema, std::move(args)});
}

V result(const std::vector<Arg>& results, size_t i) { return *results[i].as<V>(); }

Arg optional_arg(const Opt<V>& v) { return v ? Arg(*v) : Arg(); }

Arg optional_arg(const Opt<DType>& t) { return t ? Arg(Dim(torch_from_dtype(*t))) : Arg(); }

}  // namespace cameo::lowering
