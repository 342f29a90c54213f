#include "engine/onednn/primitive.h"

#include <algorithm>

#include "engine/emit.h"
#include "engine/onednn/emitters.h"
#include "engine/simd/transpose_bytes.h"
#include "support/error.h"

namespace cameo::engine {

const dnnl::engine& cpu() {
  static const dnnl::engine e(dnnl::engine::kind::cpu, 0);
  return e;
}

dnnl::stream& stream() {
  thread_local dnnl::stream s(cpu());
  return s;
}

namespace {

// The order of the axes in memory, when the layout is dense; axes of size 1 keep their place among the others.
std::vector<size_t> dense_order(const Md& md) {
  const auto& blocking = md.data.format_desc.blocking;
  if (md.data.format_kind != dnnl_blocked || blocking.inner_nblks != 0 || md.data.offset0 != 0) return {};
  const Dims dims = md.dims();
  std::vector<size_t> order, long_axes;
  for (size_t i = 0; i < dims.size(); ++i)
    if (dims[i] != 1) long_axes.push_back(i);
  std::stable_sort(long_axes.begin(), long_axes.end(),
                   [&](size_t a, size_t b) { return blocking.strides[a] > blocking.strides[b]; });
  for (size_t i = 0; i < dims.size(); ++i)
    if (dims[i] == 1) order.push_back(i);
  order.insert(order.end(), long_axes.begin(), long_axes.end());
  int64_t expected = 1;
  for (size_t i = long_axes.size(); i-- > 0; expected *= dims[long_axes[i]])
    if (blocking.strides[long_axes[i]] != expected) return {};
  return order;
}

}  // namespace

BlockedLayout::BlockedLayout(const Md& d) : md(d) {
  bytes = d.get_size();
  order = dense_order(d);
}

bool BlockedLayout::same(const Layout& other) const {
  const auto& o = static_cast<const BlockedLayout&>(other);
  return order.empty() || o.order.empty() ? md == o.md : order == o.order;
}

namespace {

dnnl::memory::data_type data_type(DType t) {
  using T = dnnl::memory::data_type;
  switch (t) {
    case DType::f32: return T::f32;
    case DType::i32: return T::s32;
    case DType::i8: return T::s8;
    case DType::u8: return T::u8;
    case DType::bf16: return T::bf16;
    default: invariant(false, "oneDNN does not know this element type");
  }
  return T::undef;
}

}  // namespace

namespace {

// It counts sizes in 32 bits in many of its kernels, and axes up to a number of its own.
const std::vector<int64_t>& accepted(const std::vector<int64_t>& dims) {
  if (dims.size() > DNNL_MAX_NDIMS || std::any_of(dims.begin(), dims.end(), [](int64_t d) { return d > INT32_MAX; }))
    throw dnnl::error(dnnl_unimplemented, "sizes that oneDNN does not take");
  return dims;
}

}  // namespace

Md row_major(DType t, const std::vector<int64_t>& dims) {
  Dims strides(dims.size());
  int64_t at = 1;
  for (size_t i = dims.size(); i-- > 0; at *= dims[i]) strides[i] = at;
  return Md(accepted(dims), data_type(t), strides);
}

Md any_layout(const std::vector<int64_t>& dims, DType t) {
  return Md(accepted(dims), data_type(t), dnnl::memory::format_tag::any);
}

Md md_of(const Desc& d) {
  return d.layout ? static_cast<const BlockedLayout&>(*d.layout).md : row_major(d.dtype, d.dims);
}

Desc desc_with(const Desc& d, const Md& md) {
  Desc out{d.dtype, d.dims, nullptr};
  auto layout = std::make_shared<BlockedLayout>(md);
  // Row-major where axes of size 1 are all that stands elsewhere.
  std::vector<size_t> long_axes;
  for (const size_t axis : layout->order)
    if (d.dims[axis] != 1) long_axes.push_back(axis);
  if (layout->order.empty() ? md != row_major(d.dtype, d.dims) : !std::is_sorted(long_axes.begin(), long_axes.end()))
    out.layout = std::move(layout);
  return out;
}

Desc dense_desc(DType dtype, std::vector<int64_t> dims, const std::vector<size_t>& order) {
  if (!load_onednn()) return {dtype, std::move(dims), nullptr};
  Dims strides(dims.size());
  int64_t at = 1;
  for (size_t i = order.size(); i-- > 0; at *= dims[order[i]]) strides[order[i]] = at;
  const Md md(dims, data_type(dtype), strides);
  return desc_with({dtype, std::move(dims), nullptr}, md);
}

struct PrimitiveKernel::State {
  std::vector<dnnl_exec_arg_t> args;
  std::vector<dnnl::memory> memory;
  std::vector<void*> handles;
};

PrimitiveKernel::PrimitiveKernel(dnnl::primitive primitive, std::vector<Arg> args, const Md& scratchpad,
                                 std::string about)
    : primitive_(std::move(primitive)), args_(std::move(args)), scratchpad_(scratchpad), about_(std::move(about)) {
  scratch_bytes = scratchpad.get_size();
}

std::shared_ptr<void> PrimitiveKernel::make_state() const {
  auto s = std::make_shared<State>();
  const auto add = [&](int name, const Md& md) {
    s->memory.emplace_back(md, cpu(), nullptr);
    s->args.push_back({name, s->memory.back().get()});
    s->handles.push_back(nullptr);
  };
  for (const Arg& a : args_) add(a.name, a.md);
  if (scratch_bytes) add(DNNL_ARG_SCRATCHPAD, scratchpad_);
  return s;
}

Extents PrimitiveKernel::extents() const {
  Extents e;
  for (const Arg& a : args_) {
    auto& list = a.output ? e.out : e.in;
    list.resize(std::max(list.size(), a.index + 1));
    list[a.index] = std::max<uint64_t>(list[a.index], a.md.get_size());
  }
  return e;
}

void PrimitiveKernel::run(const Buffers& b) const {
  auto& s = *static_cast<State*>(b.state);
  const auto point = [&](size_t i, void* p) {
    if (s.handles[i] == p) return;
    dnnl_memory_set_data_handle(s.args[i].memory, p);
    s.handles[i] = p;
  };
  for (size_t i = 0; i < args_.size(); ++i) point(i, args_[i].output ? b.out[args_[i].index] : b.in[args_[i].index]);
  if (scratch_bytes) point(args_.size(), b.scratch);
  const dnnl_status_t status =
      dnnl_primitive_execute(primitive_.get(), stream().get(), static_cast<int>(s.args.size()), s.args.data());
  if (status != dnnl_success)
    throw error("run.onednn", cat("oneDNN could not run ", about_, " (status ", static_cast<int>(status), ")"));
}

std::unique_ptr<Kernel> reorder(const Md& from, const Md& to) {
  dnnl::primitive_attr attr;
  attr.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  const dnnl::reorder::primitive_desc pd(cpu(), from, cpu(), to, attr);
  std::vector<PrimitiveKernel::Arg> args{{DNNL_ARG_FROM, from, 0, false}, {DNNL_ARG_TO, to, 0, true}};
  return std::make_unique<PrimitiveKernel>(dnnl::reorder(pd), std::move(args), pd.scratchpad_desc(),
                                           pd.impl_info_str());
}

std::unique_ptr<Kernel> make_reorder(const Desc& from, const Desc& to) {
  if (auto bytes = make_byte_reorder(from, to)) return bytes;
  return reorder(md_of(from), md_of(to));
}

SlotId in_layout(Compiler& c, ValueId v, const Md& wanted) {
  const Desc d = desc_with(*c.desc(v), wanted);
  if (!c.is_constant(v) || d.plain() || c.form(v, d) != no_slot) return c.in_form(v, d);
  const Tensor t = *c.constant(v);
  const SlotId s = packed(c, v, "same", t, row_major(t.dtype(), t.shape()), wanted);
  c.add_form(v, s);
  return s;
}

SlotId packed(Compiler& c, ValueId v, std::string_view what, const Tensor& dense, const Md& plain, const Md& wanted) {
  invariant(dense.bytes().size() >= plain.get_size(), "a weight is shorter than the kernel that packs it asks for");
  Desc d{dense.dtype(), dense.shape(), nullptr};
  d.layout = std::make_shared<BlockedLayout>(wanted);
  if (plain == wanted) return c.add_constant(dense, d);
  const auto make = [&] {
    const Bytes bytes = c.store().allocate(wanted.get_size());
    dnnl::memory from(plain, cpu(), const_cast<std::byte*>(dense.bytes().data())), to(wanted, cpu(), writable(bytes));
    dnnl::reorder(from, to).execute(stream(), from, to);
    stream().wait();
    return bytes;
  };
  std::string key = c.key(v, what);
  if (!key.empty()) key.append(reinterpret_cast<const char*>(&wanted.data), sizeof wanted.data);
  const Bytes bytes = key.empty() ? make() : c.store().get(key, make);
  // The bytes are of a layout, not of the tensor's shape: they travel as plain bytes.
  return c.add_constant(Tensor(DType::u8, {narrow<int64_t>(bytes.size())}, bytes), d);
}

}  // namespace cameo::engine
