// Symbolic sizes. A Dim is a literal or a hash-consed expression over symbols, in normal form, so that equal
// expressions are equal handles. What the handles cannot decide is asked of DimFacts (dim_facts.h).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "support/layers.h"

namespace cameo::ir {

class DimContext;
class DimTable;
struct DimExpr;  // immutable, owned by its DimContext

class Dim {
 public:
  constexpr Dim(int64_t literal = 0) : literal_(literal) {}
  static Dim of(const DimExpr* e) {
    Dim d;
    d.expr_ = e;
    return d;
  }

  bool is_literal() const { return expr_ == nullptr; }
  bool is(int64_t v) const { return is_literal() && literal_ == v; }
  int64_t literal() const;  // precondition: is_literal()
  std::optional<int64_t> known() const { return is_literal() ? std::optional(literal_) : std::nullopt; }
  bool is_symbol() const;  // exactly one symbol, nothing else
  const DimExpr* expr() const { return expr_; }
  std::string text() const;                  // "batch", "4*h + 2", "floor(w/2)"; parse_dim reads it back
  const std::string& symbolic_text() const;  // the same, kept by its context; precondition: !is_literal()
  size_t hash() const;

  friend bool operator==(Dim a, Dim b) { return a.expr_ == b.expr_ && a.literal_ == b.literal_; }

 private:
  const DimExpr* expr_ = nullptr;
  int64_t literal_ = 0;
};

// Arithmetic on mathematical integers; overflow of a literal throws "dim.overflow". Two literals need no context;
// mixing symbols of two contexts is an invariant failure. Past 64 terms a fresh symbol stands for the expression.
Dim operator+(Dim a, Dim b);
Dim operator-(Dim a, Dim b);
Dim operator-(Dim a);
Dim operator*(Dim a, Dim b);
Dim floor_div(Dim a, Dim b);  // rounds to minus infinity; b == 0 throws "dim.division-by-zero"
Dim ceil_div(Dim a, Dim b);
Dim trunc_div(Dim a, Dim b);  // rounds to zero, as C and ONNX's Div; folded to floor_div where both are known >= 0
Dim mod(Dim a, Dim b);        // sign of b, as Python
Dim min(Dim a, Dim b);
Dim max(Dim a, Dim b);
// The size numpy broadcasting gives; its own term unless decidable. Two literals that differ, none of them 1, throw
// "dim.broadcast"; a literal or a size that cannot be 1 wins over a symbol, which must be 1 or equal to it.
Dim broadcast(Dim a, Dim b);
// A function without algebra, equal when its name and arguments are equal. At least one argument is symbolic.
Dim opaque(std::string_view function, std::span<const Dim> args);

enum class SymbolKind : uint8_t {
  size,    // an axis: never negative
  number,  // a 0-d int64 value: anything
};

class DimContext {
 public:
  DimContext();
  ~DimContext();
  DimContext(const DimContext&) = delete;
  DimContext& operator=(const DimContext&) = delete;

  // The symbol of that name: made on the first call, the same ever after.
  Dim symbol(std::string_view name, SymbolKind kind = SymbolKind::size);
  // A symbol that equals nothing else yet. Its name is made from `hint`, unique in this context, and starts with '_'.
  Dim fresh(std::string_view hint = "", SymbolKind kind = SymbolKind::size);
  bool has_symbol(std::string_view name) const;
  DimTable& table() const { return *table_; }  // for the files of dim_table.h

 private:
  std::unique_ptr<DimTable> table_;
};

// The symbols of `d`, each once, in a deterministic order.
std::vector<Dim> symbols_of(Dim d);
bool is_fresh(Dim symbol);   // made by fresh()
bool mentions_fresh(Dim d);  // has a fresh symbol somewhere
// Of two dims for one size: a literal is best, then an expression over named symbols, then one with fresh symbols,
// then a single fresh symbol. `a` if both are equally good.
Dim more_telling(Dim a, Dim b);
std::string_view symbol_name(Dim symbol);  // precondition: symbol.is_symbol()
SymbolKind symbol_kind(Dim symbol);

struct Substitution {
  Dim symbol, value;
};
// All at once; throws as the arithmetic does (a symbol that divides may become 0).
Dim substitute(Dim d, std::span<const Substitution> map);
// The value under an assignment of every symbol; nullopt when one is missing, on overflow, division by zero, sizes that
// do not broadcast, and for opaque terms.
std::optional<int64_t> evaluate(Dim d, std::span<const Substitution> map);

// Lower and upper bound that hold whatever the symbols are (sizes >= 0); nullopt is unbounded.
struct DimRange {
  std::optional<int64_t> lo, hi;
};
DimRange range_of(Dim d);

// Reads text() back to the same handle; throws "text.dim" with the position. Symbols are made in `context`. Also reads
// what people write: a//b, a%b, a**2, ceil(a/b), FloorDiv(a, b), names with dots and colons; other names are 'quoted'.
Dim parse_dim(DimContext& context, std::string_view text);

using Shape = std::vector<Dim>;
std::string shape_text(const Shape& shape);  // "batch,3,h,w"
std::optional<std::vector<int64_t>> known_shape(const Shape& shape);
Dim element_count(const Shape& shape);

}  // namespace cameo::ir
