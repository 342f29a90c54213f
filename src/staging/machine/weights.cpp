// Weights over mapped bytes.
#include <algorithm>

#include "staging/machine/machine.h"

namespace cameo::staging {

namespace {
bool is_dense(std::span<const int64_t> sizes, std::span<const int64_t> strides) {
  int64_t expected = 1;
  for (size_t i = sizes.size(); i-- > 0;) {
    if (sizes[i] == 1) continue;
    if (sizes[i] == 0) return true;
    if (strides[i] != expected) return std::find(sizes.begin(), sizes.end(), 0) != sizes.end();
    expected *= sizes[i];
  }
  return true;
}
}  // namespace

Value Machine::weight(const Stored& t, const std::string& name) {
  auto w = std::make_shared<Weight>();
  w->dtype = w->source_dtype = t.dtype;
  w->shape.assign(t.sizes.begin(), t.sizes.end());
  if (is_dense(t.sizes, t.strides)) {
    const size_t width = static_cast<size_t>(bits(t.dtype)) / 8;
    const auto start = static_cast<size_t>(t.offset) * width,
               length = static_cast<size_t>(packed_bytes(t.dtype, element_count(w->shape)));
    if (start > t.storage.size() || length > t.storage.size() - start)
      fail("file.tensor-bounds", cat("the tensor ", name, " reaches outside its storage"));
    w->source = t.storage.slice(start, length);
  } else {
    w->source = t.storage;
    w->start = t.offset;
    w->strides.assign(t.strides.begin(), t.strides.end());
  }
  const Layout layout =
      strided(Shape(t.sizes.begin(), t.sizes.end()), Shape(t.strides.begin(), t.strides.end()), Dim(0), false);
  if (options.weights_as_inputs && !name.empty())
    return tensor(graph.add_input(graph.main(), name, Type::tensor(t.dtype, Shape(w->shape.begin(), w->shape.end()))),
                  name, layout);
  const ValueId id = graph.add_initializer(graph.main(), name, w);
  constexpr uint64_t small = 4096;
  if (w->byte_size() <= small) graph.fact(id).contents = std::make_shared<const Contents>(w->dense());
  return tensor(id, name, layout);
}

}  // namespace cameo::staging
