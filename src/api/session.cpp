#include <cstring>

#include "api/model_file.h"
#include "cameo/session.h"
#include "engine/session.h"
#include "formats/mapped_file.h"
#include "support/error.h"

namespace cameo {

using namespace api;

struct Runnable::State {
  Session session;
};

namespace {

template <class T>
Array array_of(std::string dtype, std::vector<int64_t> shape, const std::vector<T>& values) {
  if (element_count(shape) != static_cast<int64_t>(values.size())) throw error("run.size", cat("the shape takes ", element_count(shape), " elements, and ", values.size(), " were given"));
  Array a{std::move(dtype), std::move(shape), std::vector<std::byte>(values.size() * sizeof(T))};
  if (!values.empty()) std::memcpy(a.bytes.data(), values.data(), a.bytes.size());
  return a;
}

Datum datum_of(const Array& a) {
  const auto dtype = dtype_from_name(a.dtype);
  if (!dtype || *dtype == DType::string) throw error("run.dtype", cat("'", a.dtype, "' is no element type of arrays"));
  if (packed_bytes(*dtype, element_count(a.shape)) != a.bytes.size()) throw error("run.size", cat("an array of ", a.bytes.size(), " bytes does not fit its shape"));
  return Datum(Tensor(*dtype, a.shape, Bytes::own(a.bytes)));
}

Array array_from(const Datum& d, const std::string& name) {
  if (d.kind != Datum::Kind::tensor || d.tensor.dtype() == DType::string) throw error("run.kind", cat("the output '", name, "' is no array of numbers"));
  const auto bytes = d.tensor.bytes().span();
  return {std::string(ir::name(d.tensor.dtype())), d.tensor.shape(), std::vector<std::byte>(bytes.begin(), bytes.end())};
}

std::vector<std::string> names(const Graph& g, const std::vector<ValueId>& values) {
  std::vector<std::string> out;
  for (const ValueId v : values) out.push_back(g[v].name);
  return out;
}

}  // namespace

Array Array::of(std::vector<int64_t> shape, const std::vector<float>& values) { return array_of("f32", std::move(shape), values); }
Array Array::of(std::vector<int64_t> shape, const std::vector<int64_t>& values) { return array_of("i64", std::move(shape), values); }

Runnable::Runnable(const std::string& path, const RunOptions& options) {
  DiagSink diags;
  SessionOptions o;
  o.threads = options.threads;
  o.fast = !options.reference;
  state_ = std::make_unique<State>(State{Session(load_model(path, diags), o)});
}
Runnable::~Runnable() = default;
Runnable::Runnable(Runnable&&) noexcept = default;
Runnable& Runnable::operator=(Runnable&&) noexcept = default;

std::vector<std::string> Runnable::input_names() const {
  const Graph& g = state_->session.graph();
  return names(g, g[g.main()].inputs);
}

std::vector<std::string> Runnable::output_names() const {
  const Graph& g = state_->session.graph();
  return names(g, g[g.main()].outputs);
}

std::string Runnable::input_type(size_t i) const {
  const Graph& g = state_->session.graph();
  return g[g[g.main()].inputs.at(i)].fact.type.text();
}

std::vector<Array> Runnable::run(const std::vector<Array>& inputs) const {
  const Graph& g = state_->session.graph();
  if (inputs.size() > g[g.main()].inputs.size()) throw error("run.input-count", cat(inputs.size(), " inputs were given, and the model has ", g[g.main()].inputs.size()));
  std::vector<Datum> in;
  for (const Array& a : inputs) in.push_back(datum_of(a));
  const auto results = state_->session.run(in);
  require_whole_files();
  std::vector<Array> out;
  for (size_t i = 0; i < results.size(); ++i) out.push_back(array_from(results[i], g[g[g.main()].outputs[i]].name));
  return out;
}

}  // namespace cameo
