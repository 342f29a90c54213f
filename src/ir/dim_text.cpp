#include <array>

#include "ir/dim_names.h"
#include "ir/dim_pieces.h"
#include "support/error.h"
#include "support/text.h"

namespace cameo::ir {
namespace {

// What a polynomial is printed into: parentheses are needed where it would fall apart.
enum class Place : uint8_t { open, dividend, divisor };

void append_poly(std::string& out, const Poly& p, Place place);

void append_dim(std::string& out, Dim d, Place place = Place::open) { append_poly(out, Poly(d), place); }

void append_call(std::string& out, const std::vector<Dim>& args) {
  out += '(';
  for (size_t i = 0; i < args.size(); ++i) {
    if (i) out += ", ";
    append_dim(out, args[i]);
  }
  out += ')';
}

void append_quotient(std::string& out, std::string_view rounding, const DimAtom& a) {
  out += rounding;
  out += '(';
  append_dim(out, a.args[0], Place::dividend);
  out += '/';
  append_dim(out, a.args[1], Place::divisor);
  out += ')';
}

void append_atom(std::string& out, const DimAtom& a) {
  switch (a.kind) {
    case AtomKind::symbol: return append_name(out, a.name);
    case AtomKind::floor_div: return append_quotient(out, "floor", a);
    case AtomKind::trunc_div: return append_quotient(out, "trunc", a);
    case AtomKind::mod: out += "mod"; break;
    case AtomKind::min: out += "min"; break;
    case AtomKind::max: out += "max"; break;
    case AtomKind::broadcast: out += "broadcast"; break;
    case AtomKind::opaque:
      if (dim_function(a.name)) append_quoted(out, a.name);
      else append_name(out, a.name);
      break;
  }
  append_call(out, a.args);
}

// The piece without its sign; `magnitude` is the coefficient's text.
void append_piece(std::string& out, const Piece& piece, std::string_view magnitude) {
  if (!piece.monomial && !piece.modulus) {
    out += magnitude;
    return;
  }
  if (magnitude != "1") {
    out += magnitude;
    out += '*';
  }
  if (piece.modulus) {
    out += "mod(";
    append_poly(out, piece.dividend, Place::open);
    out += cat(", ", piece.modulus, ")");
    return;
  }
  bool first = true;
  for (const Factor& f : piece.monomial->factors)
    for (uint32_t i = 0; i < f.power; ++i) {
      if (!std::exchange(first, false)) out += '*';
      append_atom(out, *f.atom);
    }
}

void append_sum(std::string& out, const std::vector<Piece>& pieces) {
  for (size_t i = 0; i < pieces.size(); ++i) {
    const int64_t c = pieces[i].coefficient;
    const bool minus = c < 0 && c != INT64_MIN;  // which has no positive twin that could be read back
    if (i) out += minus ? " - " : " + ";
    else if (minus) out += '-';
    append_piece(out, pieces[i], cat(minus ? -c : c));
  }
}

bool is_single_factor(const Piece& piece) {
  if (!piece.monomial) return piece.modulus ? piece.coefficient == 1 : true;
  return piece.coefficient == 1 && atom_of(*piece.monomial);
}

void append_poly(std::string& out, const Poly& p, Place place) {
  const std::vector<Piece> pieces = pieces_of(p);
  bool bare = place == Place::open;
  if (pieces.size() == 1 && pieces[0].coefficient >= 0)
    bare = bare || place == Place::dividend || is_single_factor(pieces[0]);
  if (!bare) out += '(';
  append_sum(out, pieces);
  if (!bare) out += ')';
}

bool is_plain(std::string_view name) {
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  if (name.empty() || !letter(name[0])) return false;
  for (const char c : name)
    if (!letter(c) && !(c >= '0' && c <= '9')) return false;
  return true;
}

struct NamedFunction {
  std::string_view name;
  DimFunction function;
};
constexpr NamedFunction functions[] = {
    {"floor", DimFunction::floor},
    {"ceil", DimFunction::ceil},
    {"ceiling", DimFunction::ceil},
    {"trunc", DimFunction::trunc},
    {"floor_div", DimFunction::floor_div},
    {"FloorDiv", DimFunction::floor_div},
    {"CleanDiv", DimFunction::floor_div},
    {"ceil_div", DimFunction::ceil_div},
    {"CeilDiv", DimFunction::ceil_div},
    {"trunc_div", DimFunction::trunc_div},
    {"mod", DimFunction::mod},
    {"Mod", DimFunction::mod},
    {"PythonMod", DimFunction::mod},
    {"min", DimFunction::min},
    {"Min", DimFunction::min},
    {"max", DimFunction::max},
    {"Max", DimFunction::max},
    {"broadcast", DimFunction::broadcast},
};

}  // namespace

std::optional<DimFunction> dim_function(std::string_view name) {
  for (const NamedFunction& f : functions)
    if (f.name == name) return f.function;
  return std::nullopt;
}

void append_quoted(std::string& out, std::string_view name) {
  out += '\'';
  for (size_t pos = 0; pos < name.size();) {
    const size_t start = pos;
    const uint32_t c = next_character(name, pos);
    const auto bytes = name.substr(start, pos - start);
    if (c == '\'' || c == '\\') (out += '\\') += bytes;
    else if (is_printable(c)) out += bytes;
    else append_byte_escapes(out, bytes);
  }
  out += '\'';
}

void append_name(std::string& out, std::string_view name) {
  if (is_plain(name)) out += name;
  else append_quoted(out, name);
}

std::string Dim::text() const { return is_literal() ? std::to_string(literal_) : symbolic_text(); }

const std::string& Dim::symbolic_text() const {
  if (expr_->text.empty()) append_poly(expr_->text, expr_->poly, Place::open);
  return expr_->text;
}

}  // namespace cameo::ir
