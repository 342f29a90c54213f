#include "ir/dim.h"

#include "ir/dim_table.h"
#include "support/error.h"

namespace cameo::ir {

int64_t Dim::literal() const {
  invariant(is_literal(), "a symbolic size is used as a number");
  return literal_;
}

bool Dim::is_symbol() const {
  const DimAtom* const atom = atom_of(*this);
  return atom && atom->kind == AtomKind::symbol;
}

size_t Dim::hash() const { return expr_ ? expr_->hash : mix_hash(1, static_cast<size_t>(literal_)); }

DimContext::DimContext() : table_(std::make_unique<DimTable>()) {}
DimContext::~DimContext() = default;

Dim DimContext::symbol(std::string_view name, SymbolKind kind) { return table_->symbol(name, kind); }
Dim DimContext::fresh(std::string_view hint, SymbolKind kind) { return table_->fresh(hint, kind, Interval()); }
bool DimContext::has_symbol(std::string_view name) const { return table_->has_symbol(name); }

namespace {
const DimAtom& symbol_atom(Dim d) {
  invariant(d.is_symbol(), "not a symbol");
  return *atom_of(d);
}
}  // namespace

bool is_fresh(Dim symbol) { return symbol.is_symbol() && symbol_atom(symbol).fresh; }
bool mentions_fresh(Dim d) { return !d.is_literal() && d.expr()->mentions_fresh; }

Dim more_telling(Dim a, Dim b) {
  const auto telling = [](Dim d) { return d.is_literal() ? 3 : mentions_fresh(d) ? (d.is_symbol() ? 0 : 1) : 2; };
  return telling(b) > telling(a) ? b : a;
}

std::string_view symbol_name(Dim symbol) { return symbol_atom(symbol).name; }
SymbolKind symbol_kind(Dim symbol) { return symbol_atom(symbol).symbol_kind; }

std::string shape_text(const Shape& shape) {
  std::string out;
  for (size_t i = 0; i < shape.size(); ++i) out += cat(i ? "," : "", shape[i].text());
  return out;
}

std::optional<std::vector<int64_t>> known_shape(const Shape& shape) {
  std::vector<int64_t> out;
  out.reserve(shape.size());
  for (const Dim d : shape) {
    if (!d.is_literal()) return std::nullopt;
    out.push_back(d.literal());
  }
  return out;
}

Dim element_count(const Shape& shape) {
  Dim n = 1;
  for (const Dim d : shape) n = n * d;
  return n;
}

}  // namespace cameo::ir
