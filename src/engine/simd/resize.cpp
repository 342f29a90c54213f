// Resize, one axis after the other. Which elements make up which comes from the reference kernel: it is run on the
// numbers of the elements, or on the unit matrix.
#include "ops/vision/resize_kernel.h"

#include <algorithm>
#include <cstring>

#include "engine/parallel.h"
#include "engine/simd/byte_rows.h"
#include "engine/simd/emitters.h"
#include "engine/simd/integer.h"
#include "engine/simd/rows.h"
#include "kernels/carrier.h"
#include "ops/generated/attributes.h"
#include "engine/emit.h"

namespace cameo::engine {

namespace {

struct Tap {
  int64_t from;
  float weight;
};

// One pass: [outer, in, inner] to [outer, out, inner]; element o is the sum of the taps first[o] to first[o + 1].
struct Pass {
  int64_t outer = 1, in = 1, out = 1, inner = 1;
  std::vector<Tap> taps;
  std::vector<size_t> first;
};

void find_taps(Pass& p, const AxisResize& a, const ResizeModes& modes) {
  if (modes.mode == "nearest") {
    std::vector<int64_t> numbers(static_cast<size_t>(a.in));
    for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<int64_t>(i);
    for (const int64_t from : resize(Tensor::ints(numbers), {a}, modes).to_ints()) {
      p.first.push_back(p.taps.size());
      p.taps.push_back({from, 1});
    }
  } else {
    // The unit matrix some columns at a time: the whole of it would be the square of a long axis.
    const int64_t longer = std::max(a.in, a.out), at_once = std::clamp<int64_t>((int64_t{1} << 20) / longer, 1, a.in);
    std::vector<std::vector<Tap>> taps(static_cast<size_t>(a.out));
    for (int64_t from = 0; from < a.in; from += at_once) {
      const int64_t columns = std::min(at_once, a.in - from);
      std::vector<float> unit(static_cast<size_t>(a.in * columns), 0);
      for (int64_t i = 0; i < columns; ++i) unit[static_cast<size_t>((from + i) * columns + i)] = 1;
      const Loaded<float> matrix(
          resize(Tensor::of<float>(DType::f32, {a.in, columns}, unit), {a, {columns, columns}}, modes));
      for (int64_t o = 0; o < a.out; ++o)
        for (int64_t i = 0; i < columns; ++i)
          if (const float weight = matrix[o * columns + i]; weight != 0)
            taps[static_cast<size_t>(o)].push_back({from + i, weight});
    }
    for (const auto& row : taps) {
      p.first.push_back(p.taps.size());
      p.taps.insert(p.taps.end(), row.begin(), row.end());
    }
  }
  p.first.push_back(p.taps.size());
}

void run_pass(const Pass& p, const float* x, float* y) {
  parallel(p.outer * p.out, std::max<int64_t>(1, 8192 / p.inner), [&](int64_t begin, int64_t end) {
    std::vector<float> part(p.inner > 1 ? static_cast<size_t>(p.inner) : 0);
    for (int64_t t = begin; t < end; ++t) {
      const int64_t o = t % p.out;
      const float* from = x + t / p.out * p.in * p.inner;
      float* to = y + t * p.inner;
      const size_t first = p.first[static_cast<size_t>(o)], last = p.first[static_cast<size_t>(o) + 1];
      if (p.inner == 1) {
        float sum = 0;
        for (size_t i = first; i < last; ++i) sum += p.taps[i].weight * from[p.taps[i].from];
        *to = sum;
        continue;
      }
      if (first == last) std::fill_n(to, p.inner, 0.0f);
      for (size_t i = first; i < last; ++i) {
        const float* row = from + p.taps[i].from * p.inner;
        if (i == first && p.taps[i].weight == 1) std::memcpy(to, row, static_cast<size_t>(p.inner) * sizeof(float));
        else if (i == first) binary_scalar_row(Binary::mul, row, p.taps[i].weight, to, p.inner);
        else {
          binary_scalar_row(Binary::mul, row, p.taps[i].weight, part.data(), p.inner);
          binary_row(Binary::add, to, part.data(), to, p.inner);
        }
      }
    }
  });
}

template <class T>
void double_row(const T* x, T* y, int64_t n) {
  for (int64_t i = 0; i < n; ++i) y[2 * i] = y[2 * i + 1] = x[i];
}

// Whether every element comes twice, one after the other.
bool doubles(const Pass& p) {
  bool twice = p.inner == 1 && p.out == 2 * p.in;
  for (size_t o = 0; twice && o < p.taps.size(); ++o) twice = p.taps[o].from == static_cast<int64_t>(o / 2);
  return twice;
}

// Each element of the result is one of the input.
template <class T>
void copy_pass(const Pass& p, const T* x, T* y) {
  const bool twice = doubles(p);
  parallel(p.outer, std::max<int64_t>(1, 8192 / (p.out * p.inner)), [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      const T* from = x + row * p.in * p.inner;
      T* to = y + row * p.out * p.inner;
      if (twice) {
        double_row(from, to, p.in);
        continue;
      }
      for (size_t o = 0; o < static_cast<size_t>(p.out); ++o)
        if (p.inner == 1) to[o] = from[p.taps[o].from];
        else
          std::memcpy(to + static_cast<int64_t>(o) * p.inner, from + p.taps[o].from * p.inner,
                      static_cast<size_t>(p.inner) * sizeof(T));
    }
  });
}

// Rows are chosen, then each number comes twice: rows that are like the one before are made with it.
template <class T>
void double_rows(const Pass& rows, const T* x, T* y) {
  const int64_t wide = 2 * rows.inner;
  const auto from = [&](int64_t o) { return rows.taps[static_cast<size_t>(o)].from; };
  const auto repeats = [&](int64_t o) { return o < rows.out && from(o) == from(o - 1); };
  parallel(rows.outer, std::max<int64_t>(1, 8192 / (rows.out * wide)), [&](int64_t begin, int64_t end) {
    for (int64_t p = begin; p < end; ++p)
      for (int64_t o = 0; o < rows.out;) {
        T* to = y + (p * rows.out + o) * wide;
        const T* source = x + (p * rows.in + from(o)) * rows.inner;
        ++o;
        if constexpr (std::is_same_v<T, uint8_t>) twice_row(source, to, repeats(o) ? to + wide : nullptr, rows.inner);
        else {
          double_row(source, to, rows.inner);
          if (repeats(o)) std::memcpy(to + wide, to, static_cast<size_t>(wide) * sizeof(T));
        }
        if (repeats(o)) ++o;
      }
  });
}

template <class T>
class ResizeKernel : public Kernel {
 public:
  ResizeKernel(std::vector<Pass> passes, bool copies) : passes_(std::move(passes)), copies_(copies) {
    for (size_t i = 0; i + 1 < passes_.size(); ++i)
      half_ = std::max(half_, passes_[i].outer * passes_[i].out * passes_[i].inner);
    scratch_bytes = static_cast<uint64_t>(half_) * (passes_.size() > 2 ? 2 : 1) * sizeof(T);
  }
  std::string about() const override { return "vector"; }
  Extents extents() const override {
    const Pass &first = passes_.front(), &last = passes_.back();
    return {{static_cast<uint64_t>(first.outer * first.in * first.inner) * sizeof(T)},
            {static_cast<uint64_t>(last.outer * last.out * last.inner) * sizeof(T)}};
  }
  void run(const Buffers& b) const override {
    const T* x = b.input<T>(0);
    if (copies_ && passes_.size() == 2 && doubles(passes_[1]) && passes_[0].inner == passes_[1].in)
      return double_rows(passes_[0], x, b.output<T>(0));
    for (size_t i = 0; i < passes_.size(); ++i) {
      T* y = i + 1 == passes_.size() ? b.output<T>(0)
                                     : reinterpret_cast<T*>(b.scratch) + static_cast<int64_t>(i % 2) * half_;
      if (copies_) copy_pass(passes_[i], x, y);
      else if constexpr (std::is_same_v<T, float>) run_pass(passes_[i], x, y);
      x = y;
    }
  }

 private:
  std::vector<Pass> passes_;
  bool copies_;  // each element has one tap of weight 1
  int64_t half_ = 0;
};

bool copies(const std::vector<Pass>& passes) {
  return std::all_of(passes.begin(), passes.end(), [](const Pass& p) {
    return p.taps.size() == static_cast<size_t>(p.out) && p.first.size() == p.taps.size() + 1 &&
           std::all_of(p.taps.begin(), p.taps.end(), [](const Tap& t) { return t.weight == 1; });
  });
}

}  // namespace

bool emit_resize(Compiler& c, NodeId n) {
  const Node& node = c.graph()[n];
  const auto* a = node.as<op::Resize>();
  const bool bytes = is_byte(c.desc(node.inputs[0])->dtype) && c.desc(node.outputs[0])->count() > 0;
  if (!a || !(c.is_f32(node.inputs[0]) ? c.is_f32(node.outputs[0]) : bytes && a->mode == "nearest") ||
      a->coordinate_transformation_mode == "tf_crop_and_resize" || a->keep_aspect_ratio_policy != "stretch")
    return false;
  const Desc &x = *c.desc(node.inputs[0]), &y = *c.desc(node.outputs[0]);
  if (y.rank() != x.rank()) return false;
  const bool by_size = node.inputs.size() > 3 && node.inputs[3] && c.desc(node.inputs[3])->count() > 0;
  std::vector<double> scales(x.rank());
  for (size_t i = 0; i < x.rank(); ++i) scales[i] = static_cast<double>(y.dims[i]) / static_cast<double>(x.dims[i]);
  if (!by_size) {
    if (node.inputs.size() < 3 || !node.inputs[2] || !c.is_constant(node.inputs[2])) return false;
    const auto given = c.constant(node.inputs[2])->to_doubles();
    if (given.size() != (a->axes ? a->axes->size() : x.rank())) return false;
    for (size_t i = 0; i < given.size(); ++i) {
      const auto axis = axis_in(a->axes ? (*a->axes)[i] : static_cast<int64_t>(i), x.rank());
      if (!axis) return false;
      scales[*axis] = given[i];
    }
  }
  const SlotId from = c.slot_desc(c.slot(node.inputs[0])).dense() ? c.slot(node.inputs[0]) : c.plain(node.inputs[0]);
  Physical now(c.slot_desc(from));
  const ResizeModes modes{a->mode,
                          a->coordinate_transformation_mode,
                          a->nearest_mode,
                          a->cubic_coeff_a,
                          a->extrapolation_value,
                          a->antialias != 0,
                          a->exclude_outside != 0};
  std::vector<Pass> passes;
  for (size_t place = 0; place < now.dims.size(); ++place) {
    const size_t axis = now.order[place];
    if (x.dims[axis] == y.dims[axis] && scales[axis] == 1) continue;
    if (x.dims[axis] > 8192 || y.dims[axis] > 8192) return false;
    Pass p;
    for (size_t i = 0; i < now.dims.size(); ++i) (i < place ? p.outer : p.inner) *= i == place ? 1 : now.dims[i];
    p.in = x.dims[axis], p.out = y.dims[axis];
    find_taps(p, {p.in, p.out, scales[axis]}, modes);
    now.dims[place] = p.out;
    passes.push_back(std::move(p));
  }
  if (passes.empty()) return false;
  const bool only_copies = a->mode == "nearest" && copies(passes);
  if (bytes && !only_copies) return false;
  const SlotId out = c.make(c.slot_desc(from).plain() ? y : dense_desc(y.dtype, y.dims, now.order));
  std::unique_ptr<Kernel> kernel;
  if (bytes) kernel = std::make_unique<ResizeKernel<uint8_t>>(std::move(passes), true);
  else kernel = std::make_unique<ResizeKernel<float>>(std::move(passes), only_copies);
  c.step(n, "Resize", std::move(kernel), {from}, {out});
  c.bind(node.outputs[0], out);
  return true;
}

}  // namespace cameo::engine
