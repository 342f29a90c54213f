#include "ops/tensor/contents.h"

#include <algorithm>

#include "ops/eval.h"

namespace cameo::ops {

namespace {

constexpr int64_t max_moved_elements = 1024;

bool is_data(std::initializer_list<size_t> data, size_t i) {
  return std::find(data.begin(), data.end(), i) != data.end();
}

bool outputs_are_small(Infer& c) {
  for (const ValueId v : c.node().outputs) {
    const Fact& f = c.graph()[v].fact;
    const auto shape = f.has_rank() ? known_shape(f.shape()) : std::nullopt;
    if (!shape || element_count(*shape) > max_moved_elements) return false;
  }
  return true;
}

}  // namespace

void keep_contents(Infer& c, size_t data) {
  const auto& contents = c.in(data).contents;
  if (contents && std::holds_alternative<std::vector<Dim>>(*contents)) c.out_contents(0, contents);
}

void move_contents(Infer& c, std::initializer_list<size_t> data) {
  const bool symbolic =
      std::any_of(data.begin(), data.end(), [&](size_t i) { return c.in(i).contents && !c.constant(i); });
  if (!symbolic || !outputs_are_small(c)) return;
  std::vector<Dim> elements(1);  // number 0 is the zero that padding brings in
  std::vector<Datum> operands(c.in_count());
  std::vector<const Datum*> pointers(c.in_count(), nullptr);
  for (size_t i = 0; i < c.in_count(); ++i) {
    if (!c.has(i)) continue;
    if (!is_data(data, i)) {
      const Tensor* t = c.constant(i);
      if (!t) return;
      operands[i] = Datum(*t);
    } else {
      const auto part = c.ints(i);
      const auto shape = known_shape(c.shape(i));
      if (!part || !shape || element_count(*shape) != static_cast<int64_t>(part->size())) return;
      std::vector<int64_t> numbers;
      for (const Dim d : *part) {
        numbers.push_back(static_cast<int64_t>(elements.size()));
        elements.push_back(d);
      }
      operands[i] = Datum(store(DType::i64, *shape, numbers));
    }
    pointers[i] = &operands[i];
  }
  const auto results = evaluate_checked(c.node(), pointers);
  for (size_t i = 0; i < results.size(); ++i) {
    std::vector<Dim> moved;
    for (const int64_t number : results[i].tensor.to_ints()) moved.push_back(elements[static_cast<size_t>(number)]);
    c.out_contents(i, std::move(moved));
  }
}

}  // namespace cameo::ops
