#include "ops/math/int_contents.h"

#include "kernels/move.h"

namespace cameo::ops {

namespace {

// Narrow and unsigned types wrap, which Dim does not.
bool counts(DType t) { return t == DType::i64 || t == DType::i32; }

bool any_symbolic(const Infer& c) {
  for (size_t i = 0; i < c.in_count(); ++i)
    if (c.has(i) && !c.constant(i)) return true;
  return false;
}

}  // namespace

std::optional<std::vector<Dim>> contents_like_output(Infer& c, size_t input) {
  const auto elements = c.ints(input);
  const Fact& out = c.graph()[c.node().outputs[0]].fact;
  if (!elements || !out.has_rank()) return std::nullopt;
  const auto from = known_shape(c.shape(input)), to = known_shape(out.shape());
  constexpr int64_t most = 4096;
  if (!from || !to || element_count(*to) > most) return std::nullopt;
  if (static_cast<int64_t>(elements->size()) != element_count(*from)) return std::nullopt;
  std::vector<Dim> spread;
  for (const int64_t i : strided_indices(*to, broadcast_strides(*from, *to)))
    spread.push_back((*elements)[static_cast<size_t>(i)]);
  return spread;
}

void try_contents(Infer& c, const std::function<std::vector<Dim>()>& f) {
  try {
    c.out_contents(0, f());
  } catch (const Error& e) {
    if (!e.diag().code.starts_with("dim.")) throw;
  }
}

void map_contents(Infer& c, DimFunction1 f) {
  if (!counts(c.dtype(0)) || c.constant(0)) return;
  const auto elements = c.ints(0);
  if (!elements) return;
  try_contents(c, [&] {
    std::vector<Dim> out;
    for (const Dim d : *elements) out.push_back(f(d));
    return out;
  });
}

void zip_contents(Infer& c, DimFunction2 f) {
  if (!counts(c.dtype(0)) || !any_symbolic(c)) return;
  auto sum = contents_like_output(c, 0);
  for (size_t i = 1; sum && i < c.in_count(); ++i) {
    const auto next = contents_like_output(c, i);
    if (!next) return;
    try {
      for (size_t k = 0; k < sum->size(); ++k) (*sum)[k] = f((*sum)[k], (*next)[k]);
    } catch (const Error& e) {
      if (!e.diag().code.starts_with("dim.")) throw;
      return;
    }
  }
  if (sum) c.out_contents(0, std::move(*sum));
}

void compare_contents(Infer& c, const std::function<Answer(Dim, Dim)>& ask) {
  if (!counts(c.dtype(0)) || !any_symbolic(c)) return;
  const auto a = contents_like_output(c, 0), b = contents_like_output(c, 1);
  if (!a || !b) return;
  std::vector<uint8_t> answers;
  for (size_t i = 0; i < a->size(); ++i) {
    const Answer answer = ask((*a)[i], (*b)[i]);
    if (answer == Answer::unknown) return;
    answers.push_back(answer == Answer::yes);
  }
  const auto shape = *known_shape(c.graph()[c.node().outputs[0]].fact.shape());
  c.out_contents(0, std::make_shared<const Contents>(Tensor::of<uint8_t>(DType::boolean, shape, answers)));
}

}  // namespace cameo::ops
