#include "runtime/inputs.h"

#include "ir/dim_name.h"
#include "kernels/carrier.h"
#include "runtime/free_sizes.h"
#include "support/error.h"
#include "support/random.h"

namespace cameo::runtime {

std::vector<ValueId> run_inputs(const Graph& g, bool with_defaults) {
  std::vector<ValueId> out;
  for (const ValueId v : g[g.main()].inputs)
    if (with_defaults || !g[v].weight) out.push_back(v);
  return out;
}

namespace {

std::string shape_text(const std::vector<int64_t>& shape) {
  std::string out = "[";
  for (size_t i = 0; i < shape.size(); ++i) out += cat(i ? "," : "", shape[i]);
  return out + "]";
}

class Judge {
 public:
  explicit Judge(const Graph& g) : g_(g) {}

  void input(ValueId id, const Datum& d) {
    const Value& v = g_[id];
    const Type& t = v.fact.type;
    if (d.kind == Datum::Kind::none) {
      if (v.weight || t.is_optional()) return;
      std::string names;
      for (const ValueId i : g_[g_.main()].inputs) names += cat(names.empty() ? "" : ", ", g_[i].name);
      return add(error("run.input-missing", cat("the input '", v.name, "' (", t.text(), ") was not given"))
                     .help(cat("the model's inputs are: ", names)));
    }
    if (!t.is_tensor()) return items(v, t, d);
    if (d.kind != Datum::Kind::tensor)
      return add(error("run.kind", cat("the input '", v.name, "' must be a tensor, ", t.text())));
    const Tensor& x = d.tensor;
    if (t.elem != DType::undefined && x.dtype() != t.elem)
      add(error("run.dtype",
                cat("the input '", v.name, "' is ", name(x.dtype()), ", and the model wants ", name(t.elem)))
              .help(cat("convert the array, or export with --input '", v.name, "=", name(x.dtype()), "[...]'")));
    if (!t.has_rank()) return;
    if (x.rank() != t.rank()) {
      Error e = error("run.rank", cat("the input '", v.name, "' has ", x.rank(), " axes, ", shape_text(x.shape()),
                                      ", and the model wants ", t.rank(), ": [", ir::shape_text(*t.shape), "]"));
      return x.rank() + 1 == t.rank()
                 ? add(std::move(e).help("one axis is missing, perhaps that of the batch: numpy's x[None] adds it"))
                 : add(e);
    }
    for (size_t axis = 0; axis < x.shape().size(); ++axis) size(v, axis, (*t.shape)[axis], x.shape()[axis]);
  }

  std::vector<Diag> findings;

 private:
  void add(const Error& e) { findings.push_back(e.diag()); }

  // What is in a sequence is of the declared kind; sizes may differ.
  void items(const Value& v, const Type& t, const Datum& d) {
    const Type& sequence = t.is_optional() ? *t.inner : t;
    if (!sequence.is_sequence() || !sequence.inner || !sequence.inner->is_tensor()) return;
    if (d.kind != Datum::Kind::sequence)
      return add(error("run.kind", cat("the input '", v.name, "' must be a sequence, ", t.text())));
    for (const Datum& item : *d.items)
      if (item.kind != Datum::Kind::tensor || item.tensor.dtype() != sequence.inner->elem)
        return add(error("run.dtype", cat("the input '", v.name, "' must be a sequence of tensors, ", t.text())));
  }

  void size(const Value& v, size_t axis, Dim wanted, int64_t came) {
    if (wanted.is_literal()) {
      if (wanted.literal() != came)
        add(error("run.size", cat("axis ", axis, " of the input '", v.name, "' has size ", came,
                                  ", and the model wants ", wanted.literal()))
                .why(cat("the model declares [", ir::shape_text(*v.fact.type.shape), "]"))
                .help(dynamic_hint(v, axis)));
      return;
    }
    if (!wanted.is_symbol() || is_fresh(wanted)) return;
    const std::string symbol(symbol_name(wanted));
    const auto [it, is_new] = sizes_.try_emplace(symbol, Seen{came, v.name, axis});
    if (is_new || it->second.size == came) return;
    add(error("run.size", cat("axis ", axis, " of the input '", v.name, "' has size ", came, ", and the model wants ",
                              symbol, " = ", it->second.size))
            .why(cat("axis ", it->second.axis, " of '", it->second.input, "' is ", symbol, " too, and it has size ",
                     it->second.size)));
  }

  // How to get a model that takes any size there.
  static std::string dynamic_hint(const Value& v, size_t axis) {
    std::string dims;
    for (size_t i = 0; i < v.fact.type.shape->size(); ++i)
      dims += cat(i ? "," : "", i == axis ? axis == 0 ? "batch" : cat("n", i) : (*v.fact.type.shape)[i].text());
    return cat("for a dynamic axis, export with --input '", v.name, "=", name(v.fact.type.elem), "[", dims, "]'");
  }

  struct Seen {
    int64_t size;
    std::string input;
    size_t axis;
  };
  const Graph& g_;
  std::map<std::string, Seen> sizes_;
};

// Integers are below `integers`.
Tensor random_tensor(DType dtype, const std::vector<int64_t>& shape, Random& random, uint64_t integers) {
  constexpr int64_t most = int64_t{1} << 26;  // a file that declares more does not get gigabytes for it
  if (element_count(shape) > most)
    throw error("run.random", cat("an input of ", element_count(shape), " elements is too large to make up"))
        .help("give it with --inputs");
  const auto count = narrow<size_t>(element_count(shape));
  if (dtype == DType::string) {
    std::vector<std::string> words;
    for (size_t i = 0; i < count; ++i) words.push_back(cat("s", random.next() % 100));
    return {shape, std::move(words)};
  }
  if (is_complex(dtype)) {
    if (dtype == DType::c128) throw error("run.random", "random complex128 inputs cannot be made");
    std::vector<float> v(2 * count);
    for (float& x : v) x = static_cast<float>(random.unit());
    return Tensor::of<float>(dtype, shape, v);
  }
  if (is_float(dtype)) {
    std::vector<double> v(count);
    for (double& x : v) x = random.unit();
    return store(dtype, shape, v);
  }
  std::vector<int64_t> v(count);
  for (int64_t& x : v) x = static_cast<int64_t>(random.next() % integers);
  return store(dtype, shape, v);
}

}  // namespace

void check_inputs(const Graph& g, const std::vector<ValueId>& params, const std::vector<Datum>& inputs) {
  Judge judge(g);
  for (size_t i = 0; i < params.size(); ++i) judge.input(params[i], inputs[i]);
  if (!judge.findings.empty()) throw Error(std::move(judge.findings));
}

std::vector<Datum> random_inputs(const Graph& g, const std::vector<ValueId>& params, uint64_t seed,
                                 const std::map<std::string, int64_t>& given, std::map<std::string, int64_t>* taken) {
  Random random{seed};
  const std::map<std::string, int64_t> sizes = free_sizes(g, params, given);
  if (taken) *taken = sizes;
  const std::set<ValueId> zeros = zero_inputs(g, params, sizes);
  std::vector<Datum> out;
  for (const ValueId id : params) {
    const Value& v = g[id];
    const Type& t = v.fact.type;
    if (v.weight || t.is_optional()) {
      out.emplace_back();
      continue;
    }
    if (!t.is_tensor() || !t.has_rank() || t.elem == DType::undefined)
      throw error("run.random",
                  cat("the input '", v.name, "' (", t.text(), ") is not known well enough to make a random input"))
          .help("give it with --inputs");
    std::vector<int64_t> shape;
    for (const Dim d : *t.shape) {
      const auto it = sizes.find(name_or_text(d));
      shape.push_back(d.is_literal() ? d.literal() : it == sizes.end() ? 1 : it->second);
    }
    out.emplace_back(random_tensor(t.elem, shape, random, zeros.contains(id) ? 1 : 2));
  }
  return out;
}

}  // namespace cameo::runtime
