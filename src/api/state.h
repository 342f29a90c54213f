// What stands behind the public Model, for the files that implement include/cameo. These include the layers first and
// public headers last: `Graph` in a layer's header means the layer's own.
#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "backends/onnx/writer.h"
#include "frontends/recognise.h"
#include "ir/graph.h"
#include "kernels/datum.h"
#include "support/error.h"

#include "cameo/model.h"

namespace cameo {

using support::cat;
using support::error;

// Values by region and name, made when first asked for. It belongs to one state of the graph: copies begin without.
class NameIndex {
 public:
  NameIndex() = default;
  NameIndex(const NameIndex&) {}
  NameIndex& operator=(const NameIndex&) { return clear(), *this; }
  std::optional<uint32_t> find(const ir::Graph& g, uint32_t region, std::string_view name) const;

 private:
  void clear() { values_.clear(), made_ = false; }
  mutable std::mutex busy_;
  mutable bool made_ = false;
  mutable std::vector<std::tuple<uint32_t, std::string_view, uint32_t>> values_;
};

struct ModelState {
  support::Bytes archive;  // a PyTorch archive; empty: `model` holds an ONNX model
  std::string path;        // where it was read from; empty: from memory
  bool is_script = false;  // a TorchScript archive
  ir::Model model;
  support::Bytes source;                 // the archive that it was exported from
  std::optional<uint64_t> source_bytes;  // of the ONNX file that it was read from
  std::optional<size_t> inferred;        // nodes that inference visited, where the types are those that it found
  int64_t opset = 0;                     // to write in; 0: the model's own
  backends::WriteOptions write;          // what else holds for the file
  std::vector<Diag> findings;
  NameIndex names;

  static const ModelState& of(const Model& m);   // throws use.moved-from
  static const ir::Model& onnx(const Model& m);  // throws use.archive
  // To work on, of an ONNX model, without findings: a copy, or the state itself if the model has no other owner.
  static ModelState changed(Model m);
  static Model make(ModelState s) { return Model(std::make_shared<ModelState>(std::move(s))); }
};

// Of ai.onnx: what the model is written in.
int64_t opset_of(const ModelState& s);
std::map<std::string, int> opsets_of(const ModelState& s);
int ir_version_of(const ModelState& s);
// Throws use.opset for one that there is not, or that models are not written in.
int64_t known_opset(int64_t opset);
int known_threads(int threads);  // throws use.value; 0: all the machine has
backends::WeightMode weight_mode(Weights weights);
backends::WriteOptions write_options(const ModelState& s, const SaveSettings& settings);
// Types are inferred, unless they are already.
void infer_types(ModelState& s);

// None for types, sparse tensors and lists of tensors, which have no public form.
std::optional<Attribute> attribute_of(const std::string& name, const ir::AttrValue& v);

std::vector<ValueInfo> infos_of(const ir::Graph& g, const std::vector<support::ValueId>& values);

// Throws use.array where dtype, shape and bytes do not go together. A view's memory is not copied.
ir::Tensor tensor_of(const Array& a, const std::string& name);
ir::Tensor tensor_of(const ArrayView& a, const std::string& name);
ir::Tensor tensor_of(const SharedArray& a, const std::string& name);
kernels::Datum datum_of(const RunValue& v, const std::string& name);
SharedArray shared_of(const ir::Tensor& t);
RunValue run_value_of(const kernels::Datum& d);
support::Bytes bytes_of(Buffer b);                             // throws use.null
Array array_of(const ir::Tensor& t, const std::string& name);  // throws use.array for strings
Array array_of(const kernels::Datum& d, const std::string& name);
const ir::Tensor& numbers_in(const kernels::Datum& d,
                             const std::string& name);  // throws run.kind where it is not an array of numbers

}  // namespace cameo
