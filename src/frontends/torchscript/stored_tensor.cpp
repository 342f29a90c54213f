#include "frontends/torchscript/stored_reader.h"
#include "support/error.h"

namespace cameo::torchscript {

using pickle::Kind;

namespace {
constexpr size_t max_rank = 64;

bool add_product(uint64_t& sum, uint64_t a, uint64_t b) {
  uint64_t product = 0;
  return !__builtin_mul_overflow(a, b, &product) && !__builtin_add_overflow(sum, product, &sum) && sum <= INT64_MAX;
}
// Tensors that describe tensors are plain ones, so that nothing nests.
bool is_plain(const StoredValue& v) {
  return v.kind == StoredKind::tensor && v.tensor->layout == TorchLayout::strided && !v.tensor->quantizer;
}
}  // namespace

int64_t StoredTensor::numel() const {
  int64_t n = 1;
  for (const int64_t s : sizes) n *= s;  // the reader checked that the product fits
  return n;
}

bool StoredTensor::is_contiguous() const {
  if (layout != TorchLayout::strided) return false;
  int64_t expected = 1;
  for (size_t i = sizes.size(); i-- > 0;) {
    if (sizes[i] == 1) continue;
    if (strides[i] != expected) return numel() == 0;
    expected *= sizes[i];
  }
  return true;
}

const StoredValue* StoredReader::wrap(const StoredTensor* t) {
  auto* made = make(StoredKind::tensor);
  made->tensor = t;
  return made;
}

// (storage, offset, sizes, strides, requires_grad, hooks [, metadata])
const StoredValue* StoredReader::tensor(const Value& v) {
  const auto args = tuple(*v.args(), 5, 7, "a tensor");
  StoredTensor* t = strided(args);
  t->requires_grad = boolean(*args[4], "requires_grad");
  if (args.size() == 7) lazy_bits(*t, *args[6]);
  return wrap(t);
}

// (storage, offset, sizes, strides, requires_grad, hooks, dtype [, metadata]): float8 and wide unsigned integers, whose
// storages have no type.
const StoredValue* StoredReader::tensor_of_bytes(const Value& v) {
  const auto args = tuple(*v.args(), 7, 8, "a tensor");
  if (args[6]->kind != Kind::global || args[6]->module() != "torch") damaged("a tensor without a type");
  const auto dtype = torch_dtype_named(args[6]->name());
  if (!dtype) unknown_dtype(args[6]->name());
  StoredTensor* t = strided(args, dtype);
  t->requires_grad = boolean(*args[4], "requires_grad");
  if (args.size() == 8) lazy_bits(*t, *args[7]);
  return wrap(t);
}

StoredTensor* StoredReader::strided(std::span<const Value* const> args, std::optional<TorchDtype> of_bytes) {
  auto* t = state_.arena.make<StoredTensor>();
  t->storage = storage(*args[0], of_bytes);
  t->dtype = t->storage->dtype;
  t->offset = integer(*args[1], "a tensor's offset");
  t->sizes = sizes(*args[2], "a tensor's sizes");
  t->strides = sizes(*args[3], "a tensor's strides");
  check_inside(*t);
  return t;
}

std::span<const int64_t> StoredReader::sizes(const Value& v, std::string_view what) {
  const auto parts = tuple(v, 0, max_rank, what);
  std::vector<int64_t> all;
  for (const Value* p : parts) {
    const int64_t n = integer(*p, what);
    if (n < 0) damaged(cat(what, " are negative"));
    all.push_back(n);
  }
  return state_.arena.copy(all);
}

// Every element that the sizes and strides reach must be in the storage.
void StoredReader::check_inside(const StoredTensor& t) const {
  if (t.sizes.size() != t.strides.size()) damaged("a tensor with unequal numbers of sizes and strides");
  if (t.offset < 0) damaged("a tensor with a negative offset");
  bool empty = false;
  uint64_t numel = 1;
  for (const int64_t n : t.sizes) {
    if (n == 0) empty = true;
    else if (__builtin_mul_overflow(numel, static_cast<uint64_t>(n), &numel) || numel > INT64_MAX)
      damaged("a tensor with more elements than can be counted");
  }
  if (empty) return;
  auto last = static_cast<uint64_t>(t.offset);
  for (size_t i = 0; i < t.sizes.size(); ++i)
    if (!add_product(last, static_cast<uint64_t>(t.sizes[i] - 1), static_cast<uint64_t>(t.strides[i])))
      damaged("a tensor that reaches beyond its storage");
  if (last >= t.storage->numel) damaged(cat("a tensor that reaches beyond its storage ", t.storage->key));
}

// {"conj": True, "neg": True}, either or both.
void StoredReader::lazy_bits(StoredTensor& t, const Value& v) {
  const StoredValue* bits = read(v);
  if (bits->kind != StoredKind::dict) damaged("a tensor's metadata is not a dict");
  for (size_t i = 0; i + 1 < bits->items.size(); i += 2) {
    const StoredValue &key = *bits->items[i], &value = *bits->items[i + 1];
    if (key.kind != StoredKind::string || value.kind != StoredKind::boolean)
      damaged("a tensor's metadata is malformed");
    if (key.text == "conj") t.conjugate = value.boolean;
    else if (key.text == "neg") t.negative = value.boolean;
    else damaged(cat("a tensor's metadata has the unknown key ", key.text));
  }
}

// (storage, offset, sizes, strides, quantizer, requires_grad, hooks)
const StoredValue* StoredReader::quantized_tensor(const Value& v) {
  const auto args = tuple(*v.args(), 6, 7, "a quantized tensor");
  StoredTensor* t = strided(args);
  if (!is_quantized(t->dtype)) damaged(cat("a quantized tensor of ", name(t->dtype)));
  t->quantizer = quantizer(*args[4]);
  t->requires_grad = boolean(*args[5], "requires_grad");
  if (t->quantizer->per_channel &&
      (t->quantizer->axis < 0 || static_cast<size_t>(t->quantizer->axis) >= t->sizes.size()))
    damaged("a quantized tensor's axis is out of range");
  return wrap(t);
}

const Quantizer* StoredReader::quantizer(const Value& v) {
  const auto args = tuple(v, 3, 4, "a quantizer");
  if (args[0]->kind != Kind::global || args[0]->module() != "torch") damaged("a quantizer without its scheme");
  const auto scheme = args[0]->name();
  auto* q = state_.arena.make<Quantizer>();
  if (scheme == "per_tensor_affine") {
    q->scale = number(*args[1], "a scale");
    q->zero_point = integer(*args[2], "a zero point");
    return q;
  }
  q->float_qparams = scheme == "per_channel_affine_float_qparams";
  if ((scheme != "per_channel_affine" && !q->float_qparams) || args.size() != 4)
    damaged(cat("a quantizer of the unknown scheme ", scheme));
  q->per_channel = true;
  q->scales = read(*args[1]);
  q->zero_points = read(*args[2]);
  q->axis = integer(*args[3], "a quantizer's axis");
  if (!is_plain(*q->scales) || !is_plain(*q->zero_points)) damaged("a quantizer's scales are not plain tensors");
  return q;
}

// (layout, sizes, requires_grad, indices, values, hooks), or with two tensors of indices for compressed layouts.
const StoredValue* StoredReader::sparse_tensor(const Value& v) {
  const auto args = tuple(*v.args(), 5, 7, "a sparse tensor");
  auto* t = state_.arena.make<StoredTensor>();
  const int64_t layout = integer(*args[0], "a layout");
  const bool compressed = layout == 2 || (layout >= 4 && layout <= 6);
  if (layout != 1 && !compressed) damaged(cat("a sparse tensor of layout ", layout));
  t->layout = static_cast<TorchLayout>(layout);
  t->sizes = sizes(*args[1], "a tensor's sizes");
  t->requires_grad = boolean(*args[2], "requires_grad");
  uint64_t numel = 1;
  for (const int64_t n : t->sizes)
    if (__builtin_mul_overflow(numel, static_cast<uint64_t>(n), &numel) || numel > INT64_MAX)
      damaged("a tensor with more elements than can be counted");
  const size_t count = compressed ? 3 : 2;
  if (args.size() < 3 + count) damaged("a sparse tensor is malformed");
  std::vector<const StoredValue*> parts;
  for (size_t i = 0; i < count; ++i) {
    parts.push_back(read(*args[3 + i]));
    if (!is_plain(*parts.back())) damaged("a sparse tensor's part is not a plain tensor");
  }
  t->parts = state_.arena.copy(parts);
  t->dtype = parts.back()->tensor->dtype;
  return wrap(t);
}

void StoredReader::unknown_dtype(std::string_view name) const {
  throw error("file.dtype", cat("a tensor of the unknown type torch.", name)).at(state_.place(folder_ + ".pkl"));
}

// ("storage", torch.FloatStorage, key, location, numel); torch.storage.UntypedStorage holds bytes, of the type that the
// tensor tells.
const Storage* StoredReader::storage(const Value& v, std::optional<TorchDtype> of_bytes) {
  if (v.kind != Kind::persistent) damaged("a tensor without a storage");
  const auto id = tuple(*v.args(), 5, 5, "a storage");
  if (string(*id[0], "a storage's tag") != "storage") damaged("a storage is malformed");
  const bool untyped = of_bytes && id[1]->kind == Kind::global && id[1]->module() == "torch.storage" &&
                       id[1]->name() == "UntypedStorage";
  if (!untyped && (id[1]->kind != Kind::global || id[1]->module() != "torch")) damaged("a storage without a type");
  const auto dtype = untyped ? of_bytes : torch_dtype_of_storage(id[1]->name());
  if (!dtype) unknown_dtype(id[1]->name());
  const auto key = string(*id[2], "a storage's key"), location = string(*id[3], "a storage's location");
  int64_t numel = integer(*id[4], "a storage's size");
  if (numel < 0) damaged("a storage of negative size");
  if (untyped) {
    if (numel % item_size(*dtype)) damaged(cat("a storage of ", numel, " bytes for elements of ", name(*dtype)));
    numel /= item_size(*dtype);
  }
  const std::string record = state_.shared.empty() ? cat(folder_, "/", key) : std::string(key);
  if (const auto known = state_.storages.find(record); known != state_.storages.end()) {
    const Storage* s = known->second;
    if (s->dtype != *dtype || s->numel != static_cast<uint64_t>(numel))
      damaged(cat("the storage ", record, " is described in two ways"));
    return s;
  }
  return new_storage(state_.arena.copy(std::string_view(record)), *dtype, static_cast<uint64_t>(numel), location);
}

const Storage* StoredReader::new_storage(std::string_view key, TorchDtype dtype, uint64_t numel,
                                         std::string_view location) {
  auto* s = state_.arena.make<Storage>();
  s->key = key;
  s->dtype = dtype;
  s->numel = numel;
  s->location = location;
  s->has_data = !without_data_ && location != "meta";
  uint64_t bytes = 0;
  if (__builtin_mul_overflow(numel, static_cast<uint64_t>(item_size(dtype)), &bytes))
    damaged(cat("the storage ", key, " is too large"));
  const zip::Entry* entry = state_.shared.empty() ? state_.find(key) : state_.archive.find(cat(state_.shared, key));
  if (!entry && s->has_data)
    throw error("file.missing-data", cat("the archive lacks the weights ", key)).at(state_.place(folder_ + ".pkl"));
  if (s->has_data && entry->size != bytes)
    throw error("file.missing-data", cat("the weights ", key, " have ", entry->size, " bytes instead of ", bytes))
        .at(state_.place(key));
  if (entry) {
    s->entry = narrow<uint32_t>(entry - state_.archive.entries().data());
    if (s->has_data && entry->method == zip::Method::stored) s->file_offset = entry->data_offset;
  }
  state_.storages.emplace(s->key, s);
  return s;
}

}  // namespace cameo::torchscript
