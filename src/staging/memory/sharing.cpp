// Calls that copy or give a view, as their operand lies in memory.
#include <algorithm>

#include "staging/joins/staged_list.h"
#include "staging/memory/storage.h"

namespace cameo::staging {

namespace {

const Value* argument(const Schema& s, const std::vector<Value>& args, std::string_view name) {
  for (size_t i = 0; i < s.params.size() && i < args.size(); ++i)
    if (s.params[i].name == name) return &args[i];
  return nullptr;
}

constexpr int64_t contiguous_format = 0, preserve_format = 1, channels_last = 2, channels_last_3d = 3;
std::optional<int64_t> asked_format(Machine& s, const Schema& schema, const std::vector<Value>& args) {
  const Value* v = argument(schema, args, "memory_format");
  if (!v || v->is_none()) return std::nullopt;
  const int64_t format = s.known_int(*v);
  return format == preserve_format ? std::nullopt : std::optional(format);
}
Ints order_of(int64_t format, size_t rank) {
  if (format == channels_last && rank == 4) return {0, 2, 3, 1};
  if (format == channels_last_3d && rank == 5) return {0, 2, 3, 4, 1};
  Ints own;
  for (size_t i = 0; i < rank; ++i) own.push_back(static_cast<int64_t>(i));
  return own;
}

const DimFacts& facts(const SharingCall& c) { return c.s.graph.facts; }

Layout copied(const SharingCall& c, const Ints& order) { return new_in_order(c.s.on.shape(c.after), order); }

// The same memory wherever it is contiguous; in both cases the result is.
Verdict contiguous(const SharingCall& c) {
  const int64_t format = asked_format(c.s, c.schema, c.args).value_or(contiguous_format);
  const Ints order = order_of(format, c.shape.size());
  Verdict v = contiguity(facts(c), c.shape, c.layout, format == contiguous_format ? Ints() : order);
  if (v.view != Answer::yes) v.layout = copied(c, order);
  return v;
}
// To the shape that it has: a view, however it lies.
Verdict reshape(const SharingCall& c) {
  const Dims to = c.s.on.shape(c.after);
  if (to == c.shape) return {Answer::yes, {}, c.layout};
  Verdict v = viewed(facts(c), c.shape, c.layout, to);
  // Where it is a view of elements that lie at one place, a write to it cannot be expressed.
  if (v.view == Answer::unknown && c.layout.overlaps) v.condition.clear();
  return v;
}
Verdict ravel(const SharingCall& c) {
  Verdict v = contiguity(facts(c), c.shape, c.layout);
  v.layout = Layout::contiguous();
  return v;
}

Verdict copy(const SharingCall& c) { return {Answer::no, {}, fresh_layout(c.s, c.schema, c.args, c.after)}; }
Verdict same(const SharingCall& c) { return {Answer::yes, {}, c.layout}; }

// Tensor.to: the tensor itself where nothing changes. A format counts as the same where the strides suggest it.
Verdict to(const SharingCall& c) {
  const Value* always = argument(c.schema, c.args, "copy");
  const auto copies = always ? c.s.known_bool(*always) : std::optional(false);
  if (!copies) return {};
  if (*copies || c.s.on.dtype(c.before) != c.s.on.dtype(c.after)) return copy(c);
  const auto format = asked_format(c.s, c.schema, c.args);
  const size_t rank = c.shape.size();
  if (!format || (*format == contiguous_format && rank != 4 && rank != 5)) return same(c);
  const int64_t last = rank == 5 ? channels_last_3d : channels_last;
  const Answer suggested = contiguity(facts(c), c.shape, c.layout, order_of(last, rank)).view;
  const bool plain = c.layout.is(Layout::Kind::contiguous);
  if (*format == contiguous_format) return plain || suggested == Answer::no ? same(c) : Verdict{};
  if (suggested == Answer::yes && !plain) return same(c);
  if (suggested == Answer::no) return {Answer::no, {}, copied(c, order_of(*format, rank))};
  return {};
}
// Where there is nothing to do, their code returns the argument.
Verdict untouched(const SharingCall& c) { return c.before.id == c.after.id ? same(c) : copy(c); }

struct SharingRow {
  std::string_view name;  // without namespace and overload
  Verdict (*decide)(const SharingCall&);
  bool told = true;  // by the schema
};
constexpr SharingRow table[] = {
    {"contiguous", contiguous},
    {"reshape", reshape},
    {"reshape_as", reshape},
    {"flatten", reshape},
    {"ravel", ravel},
    {"to", to},
    {"type_as", to, false},
    {"dropout", untouched, false},
    {"feature_dropout", untouched, false},
    {"alpha_dropout", untouched, false},
    {"feature_alpha_dropout", untouched, false},
    {"sum_to_size", untouched, false},
    {"atleast_1d", reshape, false},
    {"atleast_2d", reshape, false},
    {"atleast_3d", reshape, false},
};

std::string_view bare(const Schema& s) { return std::string_view(s.name).substr(s.name.find("::") + 2); }
const SharingRow* find_sharing(const Schema& s) {
  const auto name = bare(s);
  const auto* row =
      std::find_if(std::begin(table), std::end(table), [&](const SharingRow& r) { return r.name == name; });
  return row == std::end(table) ? nullptr : row;
}

}  // namespace

bool may_share(const Schema& s, size_t i) {
  if (i >= s.returns.size() || s.params.empty() || s.returns[i].written) return false;
  if (s.returns[i].alias && s.params[0].alias == s.returns[i].alias) return true;
  const SharingRow* row = s.params[0].type.kind == SchemaType::Kind::tensor ? find_sharing(s) : nullptr;
  return row && !row->told;
}

Verdict sharing(const SharingCall& c) {
  const SharingRow* row = find_sharing(c.schema);
  return row ? row->decide(c) : Verdict{Answer::yes, {}, {}};
}

bool gives_itself(const Schema& s) {
  const SharingRow* row = find_sharing(s);
  return row && row->decide != reshape && row->decide != ravel;
}

bool may_share_any(const Machine& s, const Schema& schema, const std::vector<Value>& args) {
  static constexpr std::string_view names[] = {"broadcast_tensors", "meshgrid",       "atleast_1d",  "atleast_2d",
                                               "atleast_3d",        "cartesian_prod", "_unsafe_view"};
  const auto name = bare(schema);
  if (name == "einsum")
    return args.size() > 1 && args[1].is<ListRef>() && !s.heap.get<ListCell>(args[1].need<ListRef>().cell).staged &&
           s.items(args[1]).size() == 1;
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

std::optional<Ints> asked_order(Machine& s, const Schema& schema, const std::vector<Value>& args, size_t rank) {
  const auto format = asked_format(s, schema, args);
  return format ? std::optional(order_of(*format, rank)) : std::nullopt;
}

}  // namespace cameo::staging
