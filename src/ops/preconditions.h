// What many shape rules ask of their operands. All throw with the node's place; sizes that are not known yet pass.
#pragma once

#include <initializer_list>
#include <string_view>

#include "ops/infer.h"

namespace cameo::ops {

void want_rank(const Infer& c, size_t input, int64_t rank, std::string_view what);
// As many axes, and every size the same.
void want_shape(const Infer& c, size_t input, const Shape& shape, std::string_view what);
// One element: a scalar, or sizes that are all 1.
void want_one(const Infer& c, size_t input, std::string_view what);
// One element, or a vector of one per `count`.
void want_one_or_each(const Infer& c, size_t input, Dim count, std::string_view what);
// Vectors with one element per channel.
void want_per_channel(const Infer& c, std::initializer_list<size_t> inputs, Dim channels);
// numpy's rule, but only `from` may be repeated.
void want_broadcast(const Infer& c, const Shape& from, const Shape& to, std::string_view what);
// `size` can be dealt out evenly; nothing is not dealt out to many.
void want_share(const Infer& c, Dim size, int64_t parts, std::string_view what);
// An attribute that is one of a few words.
void want_word(const Infer& c, std::string_view attribute, std::string_view value,
               std::initializer_list<std::string_view> words);
// An attribute that is 0 or 1: runtimes do not agree on what other numbers mean.
void want_flag(const Infer& c, std::string_view attribute, int64_t value);
// An element type, said by an attribute, that the schema allows for the output.
void want_output_type(const Infer& c, size_t output, DType type);

}  // namespace cameo::ops
