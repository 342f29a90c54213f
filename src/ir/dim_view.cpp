#include "ir/dim_view.h"

#include <algorithm>

#include "ir/checked.h"
#include "ir/dim_pieces.h"
#include "ir/dim_poly.h"
#include "ir/dim_table.h"
#include "support/error.h"

namespace cameo::ir {
namespace {

// The floor atom with a literal divisor that a term is, times its coefficient; or null.
const DimAtom* literal_floor(const Term& t) {
  const DimAtom* const a = atom_of(*t.monomial);
  return a && a->kind == AtomKind::floor_div && a->args[1].is_literal() ? a : nullptr;
}

// y with x == x0 + m*y, when there is one.
std::optional<Poly> shift_between(const DimAtom& f, const DimAtom& g, int64_t m) {
  const Poly difference = add(Poly(f.args[0]), Poly(g.args[0]), -1);
  for (const Term& t : difference.terms)
    if (t.coefficient % m) return std::nullopt;
  if (difference.constant % m) return std::nullopt;
  return divide_exactly(difference, m);
}

// Takes `dividend - modulus*floor`, `k` times, out of p if p gets shorter by all of it.
bool take(Poly& p, std::vector<Piece>& out, const DimAtom* floor, int64_t k, Poly dividend, int64_t modulus) {
  const Poly whole = add(dividend, single(floor), checked_neg(modulus));
  Poly rest = add(p, whole, checked_neg(k));
  if (rest.terms.size() + whole.terms.size() != p.terms.size()) return false;
  p = std::move(rest);
  out.push_back({k, nullptr, modulus, std::move(dividend)});
  return true;
}

// c*floor(x/m) is part of k*mod(x, m) when c = -k*m; and, with g = floor(x0/m0) and m = j*m0, of k*mod(g + y, j).
bool take_modulo(Poly& p, std::vector<Piece>& out, const Term& t) {
  const DimAtom* const f = literal_floor(t);
  if (!f || t.coefficient == INT64_MIN) return false;
  const int64_t m = f->args[1].literal();
  if (t.coefficient % m == 0 && take(p, out, f, -(t.coefficient / m), Poly(f->args[0]), m)) return true;
  for (const Term& u : p.terms) {
    const DimAtom* const g = literal_floor(u);
    if (!g || g == f || m % g->args[1].literal()) continue;
    const int64_t m0 = g->args[1].literal(), j = m / m0;
    if (t.coefficient % j || -(t.coefficient / j) != u.coefficient) continue;
    const auto y = shift_between(*f, *g, m0);
    if (y && take(p, out, f, u.coefficient, add(single(g), *y), j)) return true;
  }
  return false;
}

void take_modulos(Poly& p, std::vector<Piece>& out) {
  for (size_t i = 0; i < p.terms.size();) {
    const Term t = p.terms[i];
    bool taken = false;
    try {
      taken = take_modulo(p, out, t);
    } catch (const Error&) {
      // A modulo with literals beyond 64 bits is printed as it is stored.
    }
    i = taken ? 0 : i + 1;
  }
}

DimForm form_of(AtomKind kind) {
  switch (kind) {
    case AtomKind::symbol: return DimForm::symbol;
    case AtomKind::floor_div: return DimForm::floor_div;
    case AtomKind::trunc_div: return DimForm::trunc_div;
    case AtomKind::mod: return DimForm::mod;
    case AtomKind::min: return DimForm::min;
    case AtomKind::max: return DimForm::max;
    case AtomKind::broadcast: return DimForm::broadcast;
    case AtomKind::opaque: return DimForm::opaque;
  }
  return DimForm::opaque;
}

Poly poly_of(const Piece& piece) {
  Poly p;
  if (piece.monomial) p.terms.push_back({piece.monomial, piece.coefficient});
  else p.constant = piece.coefficient;
  return p;
}

Dim mod_dim(DimTable& table, const Piece& piece) { return mod(table.intern(piece.dividend), piece.modulus); }

Dim dim_of(DimTable& table, const Piece& piece) {
  return piece.modulus ? mod_dim(table, piece) * piece.coefficient : table.intern(poly_of(piece));
}

DimView view_of_piece(DimTable& table, const Piece& piece) {
  DimView v;
  if (piece.coefficient == 1 && piece.modulus)
    return {DimForm::mod, 0, {}, {table.intern(piece.dividend), piece.modulus}};
  if (const DimAtom* const a = piece.monomial ? atom_of(*piece.monomial) : nullptr; a && piece.coefficient == 1)
    return {form_of(a->kind), 0, a->name, a->args};
  v.form = DimForm::product;
  if (piece.coefficient != 1) v.args.push_back(piece.coefficient);
  if (piece.modulus) v.args.push_back(mod_dim(table, piece));
  else
    for (const Factor& f : piece.monomial->factors) v.args.insert(v.args.end(), f.power, Dim::of(f.atom->expr));
  return v;
}

}  // namespace

std::vector<Piece> pieces_of(const Poly& p) {
  Poly rest = p;
  std::vector<Piece> modulos, out;
  take_modulos(rest, modulos);
  for (const Term& t : rest.terms) out.push_back({t.coefficient, t.monomial, 0, {}});
  out.insert(out.end(), modulos.begin(), modulos.end());
  if (rest.constant || out.empty()) out.push_back({rest.constant, nullptr, 0, {}});
  if (out.front().coefficient < 0)
    std::stable_partition(out.begin(), out.end(), [](const Piece& piece) { return piece.coefficient > 0; });
  return out;
}

DimView view_of(Dim d) {
  DimView v;
  if (d.is_literal()) {
    v.literal = d.literal();
    return v;
  }
  DimTable& table = *d.expr()->table;
  const std::vector<Piece> pieces = pieces_of(d.expr()->poly);
  if (pieces.size() == 1) return view_of_piece(table, pieces[0]);
  v.form = DimForm::sum;
  for (const Piece& piece : pieces) v.args.push_back(dim_of(table, piece));
  return v;
}

DimView whole_view_of(Dim d) {
  const DimTable::StandIn* const whole = d.is_literal() ? nullptr : d.expr()->table->stood_for(d);
  if (!whole) return view_of(d);
  static constexpr DimForm forms[] = {DimForm::sum,       DimForm::sum,   DimForm::product, DimForm::floor_div,
                                      DimForm::trunc_div, DimForm::mod,   DimForm::min,     DimForm::max,
                                      DimForm::broadcast, DimForm::opaque};
  DimView out{.form = forms[static_cast<size_t>(whole->op)], .name = whole->name, .args = whole->args};
  if (whole->op == DimOp::subtract) out.args[1] = out.args[1] * -1;
  return out;
}

}  // namespace cameo::ir
