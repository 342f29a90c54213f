// Lists whose length is known only at run time. Elements of one size are stacked on a first axis, so that most
// programs need no sequences; others are ONNX sequences. Elements with several graph values (tuples) have one array for
// each.
#pragma once

#include "staging/joins/form.h"

namespace cameo::staging {

const StagedList* staged_of(const Machine& s, const Value& v);  // null: no list, or one of known length
Value make_staged(Machine& s, StagedList l);
// Any list in the given form of a staged list.
StagedList staged_as(Machine& s, const Value& v, const Form& f);
// A list of known length as a staged one: what indexing it with an unknown number needs. nullopt: its items do not
// allow it.
std::optional<StagedList> staged_from(Machine& s, const Value& v);

bool holds_numbers(const StagedList& l);  // only ints, floats or bools: one array of them
Dim length_of(Machine& s, const StagedList& l);
Value element_at(Machine& s, const StagedList& l, Dim index);
StagedList with_inserted(Machine& s, const StagedList& l, std::optional<Dim> at, const Value& v);  // none: at the end
StagedList without_element(Machine& s, const StagedList& l, Dim at);
StagedList with_element(Machine& s, const StagedList& l, Dim at, const Value& v);
StagedList concatenated(Machine& s, const StagedList& l, const Value& more);
StagedList sliced(Machine& s, const StagedList& l, std::optional<Dim> start, std::optional<Dim> end, int64_t step);
V joined_along(Machine& s, const StagedList& l, int64_t dim, bool new_axis);  // torch.cat, torch.stack
V as_sequence(Machine& s, const StagedList& l, size_t array);

}  // namespace cameo::staging
