// Sequences and optionals whose making is in sight: their elements are used directly.
#include "passes/rules/tables.h"

namespace cameo::passes {

namespace {

std::optional<int64_t> known_index(const Rewrite& rw, ValueId v, int64_t length) {
  const auto list = rw.ints(v);
  if (!list || list->size() != 1) return std::nullopt;
  const int64_t i = (*list)[0] < 0 ? (*list)[0] + length : (*list)[0];
  return i >= 0 && i < length ? std::optional(i) : std::nullopt;
}

void element(Rewrite& rw) {
  if (!rw.made_by<op::SequenceConstruct>(rw.in(0))) return;
  const auto parts = rw.g[rw.maker(rw.in(0))].inputs;
  const auto i = known_index(rw, rw.in(1), static_cast<int64_t>(parts.size()));
  if (!i) return rw.no("the index is not known");
  rw.replace(parts[static_cast<size_t>(*i)]), rw.shape_is_kept();
}

// Sizes of the parts a SplitToSequence makes, where all are known.
std::optional<std::vector<int64_t>> part_sizes(const Rewrite& rw, NodeId n, int64_t& axis, bool& drops_axis) {
  const auto& a = *rw.g[n].as<op::SplitToSequence>();
  const ValueId x = rw.g.input(n, 0);
  if (!rw.has_rank(x)) return std::nullopt;
  axis = a.axis < 0 ? a.axis + rw.rank(x) : a.axis;
  const auto size = rw.shape(x)[static_cast<size_t>(axis)].known();
  drops_axis = !rw.g.input(n, 1) && !a.keepdims;
  if (!rw.g.input(n, 1))
    return size ? std::optional(std::vector<int64_t>(static_cast<size_t>(*size), 1)) : std::nullopt;
  const auto given = rw.ints(rw.g.input(n, 1));
  if (!given || !rw.has_rank(rw.g.input(n, 1))) return std::nullopt;
  if (rw.rank(rw.g.input(n, 1)) == 1) return given;
  if (!size || (*given)[0] <= 0) return std::nullopt;
  std::vector<int64_t> out;
  for (int64_t at = 0; at < *size; at += (*given)[0]) out.push_back(std::min((*given)[0], *size - at));
  return out;
}

void part_of_split(Rewrite& rw) {
  if (!rw.made_by<op::SplitToSequence>(rw.in(0))) return;
  const NodeId n = rw.maker(rw.in(0));
  const ValueId x = rw.g.input(n, 0);
  int64_t axis = 0;
  bool drops_axis = false;
  const auto sizes = part_sizes(rw, n, axis, drops_axis);
  const auto i = sizes ? known_index(rw, rw.in(1), static_cast<int64_t>(sizes->size())) : std::nullopt;
  if (!i) return rw.no("the part is not known");
  rw.shape_is_kept();
  if (drops_axis) return rw.replace(rw.on.Gather(x, rw.on.int_scalar(*i), op::Gather{.axis = axis}));
  int64_t start = 0;
  for (int64_t k = 0; k < *i; ++k) start += (*sizes)[static_cast<size_t>(k)];
  rw.replace(
      rw.on.Slice(x, rw.on.ints({start}), rw.on.ints({start + (*sizes)[static_cast<size_t>(*i)]}), rw.on.ints({axis})));
}

void length(Rewrite& rw) {
  if (rw.made_by<op::SequenceConstruct>(rw.in(0)))
    return rw.replace(rw.on.int_scalar(static_cast<int64_t>(rw.g[rw.maker(rw.in(0))].inputs.size())));
  if (rw.made_by<op::SequenceEmpty>(rw.in(0))) return rw.replace(rw.on.int_scalar(0));
  if (!rw.made_by<op::SplitToSequence>(rw.in(0))) return;
  int64_t axis = 0;
  bool drops_axis = false;
  if (const auto sizes = part_sizes(rw, rw.maker(rw.in(0)), axis, drops_axis))
    rw.replace(rw.on.int_scalar(static_cast<int64_t>(sizes->size())));
}

void joined(Rewrite& rw) {
  const auto& a = rw.attrs<op::ConcatFromSequence>();
  rw.shape_is_kept();
  if (rw.made_by<op::SequenceConstruct>(rw.in(0))) {
    auto parts = rw.g[rw.maker(rw.in(0))].inputs;
    if (a.new_axis)
      for (ValueId& v : parts) v = rw.on.Unsqueeze(v, rw.on.ints({a.axis}));
    return rw.replace(rw.on.Concat(parts, op::Concat{.axis = a.axis}));
  }
  const auto* split = rw.made_by<op::SplitToSequence>(rw.in(0));
  if (!split || !rw.has_rank(rw.operand(rw.in(0), 0))) return;
  const int64_t rank = rw.rank(rw.operand(rw.in(0), 0));
  const bool dropped = !rw.operand(rw.in(0), 1) && !split->keepdims;
  const auto at = [&](int64_t axis) { return axis < 0 ? axis + rank : axis; };
  if (at(a.axis) == at(split->axis) && dropped == (a.new_axis != 0)) rw.replace(rw.operand(rw.in(0), 0));
}

constexpr size_t longest_copied = 256;  // of a list that others read too: each copy takes its length

// Appends one element to `v`, whose maker's list nobody else reads.
bool is_appended(const Rewrite& rw, ValueId v) {
  return rw.single_use(v) && rw.made_by<op::SequenceInsert>(v) && !rw.operand(v, 2);
}

// The last of many appends takes in all of them at once: one after the other, each would copy the list before it.
bool is_appended_to(const Rewrite& rw) {
  if (rw.has(2) || !rw.single_use(rw.out())) return false;
  const Use& use = rw.g[rw.out()].uses[0];
  return use.node && use.index == 0 && rw.g[use.node].home == rw.root().home &&
         rw.g[use.node].as<op::SequenceInsert>() && !rw.g.input(use.node, 2);
}

void grown(Rewrite& rw) {
  if (is_appended_to(rw)) return;
  ValueId list = rw.in(0);
  std::vector<ValueId> later;  // the last first
  while (is_appended(rw, list)) {
    later.push_back(rw.operand(list, 1));
    list = rw.operand(list, 0);
  }
  const bool empty = rw.made_by<op::SequenceEmpty>(list) != nullptr;
  if (!empty && !rw.made_by<op::SequenceConstruct>(list)) return;
  std::vector<ValueId> parts;
  if (!empty) parts = rw.g[rw.maker(list)].inputs;
  if (parts.size() > longest_copied && !rw.single_use(list)) return rw.no("the list is long, and others read it too");
  parts.insert(parts.end(), later.rbegin(), later.rend());
  int64_t at = static_cast<int64_t>(parts.size());
  if (rw.has(2)) {
    const auto i = known_index(rw, rw.in(2), at + 1);
    const auto given = rw.ints(rw.in(2));
    if (!i || (*given)[0] < 0) return;
    at = *i;
  }
  parts.insert(parts.begin() + at, rw.in(1));
  rw.shape_is_kept();
  rw.replace(rw.on.SequenceConstruct(parts));
}

void has_element(Rewrite& rw) {
  if (!rw.has(0)) return;
  const bool full = rw.fact(rw.in(0)).type.is_tensor() || rw.fact(rw.in(0)).type.is_sequence() ||
                    (rw.made_by<op::Optional>(rw.in(0)) && rw.operand(rw.in(0), 0));
  if (full) rw.replace(rw.on.constant(Tensor::bool_scalar(true)));
}

void get_element(Rewrite& rw) {
  rw.shape_is_kept();
  if (rw.made_by<op::Optional>(rw.in(0)) && rw.operand(rw.in(0), 0)) return rw.replace(rw.operand(rw.in(0), 0));
  if (rw.fact(rw.in(0)).type.is_tensor() || rw.fact(rw.in(0)).type.is_sequence()) rw.replace(rw.in(0));
}

}  // namespace

std::vector<Rule> sequence_rules_of_simplify() {
  return {
      rule("sequence-element", {"SequenceAt"}, element),
      rule("sequence-part", {"SequenceAt"}, part_of_split).trading(),
      rule("sequence-length", {"SequenceLength"}, length),
      rule("sequence-concat", {"ConcatFromSequence"}, joined).trading(),
      rule("sequence-insert", {"SequenceInsert"}, grown).trading(),
      rule("optional-has-element", {"OptionalHasElement"}, has_element),
      rule("optional-get-element", {"OptionalGetElement"}, get_element),
  };
}

}  // namespace cameo::passes
