// What is said about a model besides the graph: numbers that tracing froze, the nearest of what is missing.
#include <algorithm>

#include "ir/dim_view.h"
#include "staging/machine/interpreter.h"
#include "staging/machine/machine.h"

namespace cameo::staging {

namespace {

// Operators that take sizes; those that make tensors of nothing are suspected only of unusual numbers.
struct SizeTaker {
  std::string_view name;
  bool creates;
};
constexpr SizeTaker size_takers[] = {{"aten::view", false},   {"aten::reshape", false}, {"aten::expand", false},
                                     {"aten::repeat", false}, {"aten::narrow", false},  {"aten::unflatten", false},
                                     {"aten::split", false},  {"aten::zeros", true},    {"aten::ones", true},
                                     {"aten::full", true},    {"aten::empty", true},    {"aten::arange", true},
                                     {"aten::randn", true},   {"aten::linspace", true}};

bool mentions(std::span<const Dim> dims, Dim symbol) {
  return std::any_of(dims.begin(), dims.end(),
                     [&](Dim d) { return d == symbol || (!d.is_literal() && mentions(view_of(d).args, symbol)); });
}

}  // namespace

// A number in a trace that is just the example's size of an axis which is declared dynamic.
void Machine::suspect_frozen(const Schema& s, const std::vector<Value>& args) {
  const auto taker = std::find_if(std::begin(size_takers), std::end(size_takers),
                                  [&](const SizeTaker& t) { return t.name == s.name; });
  if (taker == std::end(size_takers)) return;
  const auto* tensor_arg = args.empty() ? nullptr : args[0].as<TensorRef>();
  const Shape shape = tensor_arg && on.has_rank(read(*tensor_arg)) ? on.shape(read(*tensor_arg)) : Shape();
  Shape sizes;
  const auto take = [&](const Value& v) {
    if (const auto* d = v.as<Dim>()) sizes.push_back(*d);
  };
  for (const Value& v : args) {
    if (v.is<ListRef>()) std::for_each(items(v).begin(), items(v).end(), take);
    else take(v);
  }
  for (const auto& [symbol, size] : examples_) {
    if (!taker->creates && mentions(sizes, symbol)) continue;  // the axis is there as itself
    for (const Dim d : sizes) {
      if (!d.is(size) || size < (taker->creates ? 5 : 2)) continue;
      if (!taker->creates &&
          (!mentions(shape, symbol) || std::find(shape.begin(), shape.end(), Dim(size)) != shape.end()))
        continue;
      const Loc where = here();
      if (!told.first(cat("frozen ", where.describe(), symbol.text()))) continue;
      Diag& warning = sink_.warn("export.frozen-number",
                                 cat("the number ", size, " in ", s.name, " is the size that '", symbol.text(),
                                     "' had when the model was traced"),
                                 where);
      warning.because = "tracing writes what Python's len(), int(), numpy and range() see as plain numbers";
      warning.hint = "use x.size(i) of the tensor as it is, or torch.jit.script";
      if (const std::string line = interpreter_ ? interpreter_->user_line(where) : ""; !line.empty())
        warning.notes.push_back({cat("written at ", line), {}});
    }
  }
}

namespace {

std::string_view base_name(std::string_view op) {
  op = op.substr(0, op.find(' '));
  return op.substr(0, op.find('.'));
}

size_t distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t corner = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t above = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, corner + (a[i - 1] != b[j - 1])});
      corner = above;
    }
  }
  return row[b.size()];
}

}  // namespace

std::string nearest_operators(std::string_view op) {
  const std::string_view base = base_name(op), exact = op.substr(0, op.find(' '));
  std::vector<std::string> overloads;
  std::vector<std::pair<size_t, std::string_view>> near;
  for (const std::string_view row : all_row_names()) {
    if (base_name(row) == base) {
      if (row != exact) overloads.emplace_back(row);
      continue;
    }
    const size_t d = distance(base_name(row), base);
    if (d <= std::max<size_t>(2, base.size() / 6)) near.emplace_back(d, base_name(row));
  }
  std::sort(near.begin(), near.end());
  near.erase(std::unique(near.begin(), near.end()), near.end());
  std::string out;
  for (size_t i = 0; i < overloads.size() && i < 3; ++i) out += cat(out.empty() ? "" : ", ", overloads[i]);
  for (size_t i = 0; out.empty() && i < near.size() && i < 3; ++i) out += cat(i ? ", " : "", near[i].second);
  return out;
}

}  // namespace cameo::staging
