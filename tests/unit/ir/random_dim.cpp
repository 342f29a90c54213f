#include "unit/ir/random_dim.h"

#include <algorithm>

#include "support/error.h"

namespace cameo::tests {
namespace {

using Op = RandomDim::Op;

std::optional<int64_t> apply(Op op, int64_t a, int64_t b) {
  const bool divides = op == Op::floor_div || op == Op::ceil_div || op == Op::trunc_div || op == Op::mod;
  if (divides && b == 0) return std::nullopt;
  const int64_t floor = divides ? (a - ((a % b) + b) % b) / b : 0;
  switch (op) {
    case Op::add: return a + b;
    case Op::subtract: return a - b;
    case Op::multiply: return a * b;
    case Op::floor_div: return floor;
    case Op::ceil_div: return floor + (floor * b != a);
    case Op::trunc_div: return a / b;
    case Op::mod: return a - floor * b;
    case Op::min: return std::min(a, b);
    case Op::max: return std::max(a, b);
    case Op::broadcast:
      if (a == b || b == 1) return a;
      return a == 1 ? std::optional(b) : std::nullopt;
    default: return std::nullopt;
  }
}

}  // namespace

std::optional<int64_t> RandomDim::value(const std::vector<int64_t>& symbols) const {
  if (op == Op::literal) return number;
  if (op == Op::symbol) return symbols[static_cast<size_t>(number)];
  const auto a = args[0].value(symbols), b = args[1].value(symbols);
  constexpr int64_t limit = int64_t{1} << 30;
  if (!a || !b || std::abs(*a) > limit || std::abs(*b) > limit) return std::nullopt;
  return apply(op, *a, *b);
}

Dim RandomDim::build(const std::vector<Dim>& symbols) const {
  if (op == Op::literal) return number;
  if (op == Op::symbol) return symbols[static_cast<size_t>(number)];
  const Dim a = args[0].build(symbols), b = args[1].build(symbols);
  switch (op) {
    case Op::add: return a + b;
    case Op::subtract: return a - b;
    case Op::multiply: return a * b;
    case Op::floor_div: return floor_div(a, b);
    case Op::ceil_div: return ceil_div(a, b);
    case Op::trunc_div: return trunc_div(a, b);
    case Op::mod: return mod(a, b);
    case Op::min: return min(a, b);
    case Op::max: return max(a, b);
    default: return broadcast(a, b);
  }
}

std::string RandomDim::text(const std::vector<Dim>& symbols) const {
  if (op == Op::literal) return std::to_string(number);
  if (op == Op::symbol) return std::string(symbol_name(symbols[static_cast<size_t>(number)]));
  const std::string a = args[0].text(symbols), b = args[1].text(symbols);
  switch (op) {
    case Op::add: return cat("(", a, ")+(", b, ")");
    case Op::subtract: return cat("(", a, ")-(", b, ")");
    case Op::multiply: return cat("(", a, ")*(", b, ")");
    case Op::floor_div: return cat("(", a, ")//(", b, ")");
    case Op::ceil_div: return cat("ceil((", a, ")/(", b, "))");
    case Op::trunc_div: return cat("trunc((", a, ")/(", b, "))");
    case Op::mod: return cat("(", a, ")%(", b, ")");
    case Op::min: return cat("min(", a, ", ", b, ")");
    case Op::max: return cat("max(", a, ", ", b, ")");
    default: return cat("broadcast(", a, ", ", b, ")");
  }
}

RandomDim random_dim(std::mt19937& random, int depth, size_t symbols) {
  RandomDim r;
  if (depth == 0 || random() % 5 == 0) {
    if (random() % 5 < 2) return {Op::literal, pick(random, -4, 8), {}};
    return {Op::symbol, static_cast<int64_t>(random() % symbols), {}};
  }
  constexpr Op ops[] = {Op::add,      Op::add,       Op::subtract, Op::multiply, Op::floor_div, Op::floor_div,
                        Op::ceil_div, Op::trunc_div, Op::mod,      Op::min,      Op::max,       Op::broadcast};
  r.op = ops[random() % std::size(ops)];
  r.args = {random_dim(random, depth - 1, symbols), random_dim(random, depth - 1, symbols)};
  return r;
}

}  // namespace cameo::tests
