#include "ops/preconditions.h"

#include <algorithm>

namespace cameo::ops {

void want_rank(const Infer& c, size_t input, int64_t rank, std::string_view what) {
  if (c.rank(input) != rank) c.fail("infer.rank", cat(what, " has rank ", c.rank(input), ": ", rank, " is wanted"));
}

void want_shape(const Infer& c, size_t input, const Shape& shape, std::string_view what) {
  want_rank(c, input, static_cast<int64_t>(shape.size()), what);
  for (size_t i = 0; i < shape.size(); ++i) {
    const Dim given = c.shape(input)[i];
    if (given.is_literal() && shape[i].is_literal() && given != shape[i])
      c.fail("infer.mismatch",
             cat(what, " is [", shape_text(c.shape(input)), "]: [", shape_text(shape), "] is wanted"));
    c.same(given, shape[i], cat("sizes of ", what, " and of what it goes with"));
  }
}

void want_one(const Infer& c, size_t input, std::string_view what) {
  for (const Dim d : c.shape(input))
    if (d.is_literal() && !d.is(1))
      c.fail("infer.mismatch", cat(what, " is [", shape_text(c.shape(input)), "]: one number is wanted"));
}

void want_one_or_each(const Infer& c, size_t input, Dim count, std::string_view what) {
  if (c.rank(input) == 1 && !c.dim(input, 0).is(1) && c.dim(input, 0).is_literal())
    c.same(c.dim(input, 0), count, cat(what, " and what it goes with"));
  else if (c.rank(input) != 1) want_one(c, input, what);
}

void want_per_channel(const Infer& c, std::initializer_list<size_t> inputs, Dim channels) {
  for (const size_t i : inputs) {
    if (c.rank(i) != 1)
      c.fail("infer.rank", cat("input ", i, " has rank ", c.rank(i), ": one number per channel is wanted"));
    c.same(channels, c.dim(i, 0), "the input's channels and the parameters'");
  }
}

void want_broadcast(const Infer& c, const Shape& from, const Shape& to, std::string_view what) {
  bool fits = from.size() <= to.size();
  for (size_t i = 0; fits && i < from.size(); ++i) {
    const Dim f = from[from.size() - 1 - i], t = to[to.size() - 1 - i];
    fits = !f.is_literal() || !t.is_literal() || f.is(1) || f == t;
  }
  if (!fits)
    c.fail("infer.broadcast",
           cat(what, " is [", shape_text(from), "], which does not broadcast to [", shape_text(to), "]"));
}

void want_share(const Infer& c, Dim size, int64_t parts, std::string_view what) {
  if (parts < 1) c.fail("infer.attribute", cat(what, " go to ", parts, " parts"));
  if (const auto n = size.known(); n && (*n % parts || (*n == 0 && parts > 1)))
    c.fail("infer.mismatch", cat(what, " are ", *n, ", which ", parts, " parts do not share evenly"));
}

void want_word(const Infer& c, std::string_view attribute, std::string_view value,
               std::initializer_list<std::string_view> words) {
  if (std::find(words.begin(), words.end(), value) != words.end()) return;
  std::string all;
  for (const std::string_view w : words) all += cat(all.empty() ? "" : ", ", w);
  c.fail("infer.attribute", cat(attribute, " '", value, "' is not one of ", all));
}

void want_flag(const Infer& c, std::string_view attribute, int64_t value) {
  if (value != 0 && value != 1) c.fail("infer.attribute", cat("'", attribute, "' is ", value, ": 0 or 1 is wanted"));
}

void want_output_type(const Infer& c, size_t output, DType type) {
  const SchemaVersion& schema = def(*c.node().op).newest();
  const Formal* f = schema.output(output);
  if (type == DType::undefined || !f || admits(schema.types_of(*f), Type::tensor(type))) return;
  c.fail("infer.type", cat("the result cannot be of type ", name(type)));
}

}  // namespace cameo::ops
