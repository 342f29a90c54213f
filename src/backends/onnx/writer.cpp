#include "backends/onnx/writer.h"

#include <algorithm>
#include <memory>

#include "backends/onnx/data_files.h"
#include "backends/onnx/graph_writer.h"
#include "backends/onnx/legalise.h"
#include "cameo/opset.h"
#include "frontends/onnx/graph_reader.h"

namespace cameo::backends {

using namespace onnx;

int64_t ir_version_for(int64_t opset) {
  static constexpr struct {
    int64_t opset, ir;
  } table[] = {{28, 14}, {25, 13}, {24, 12}, {23, 11}, {21, 10}, {19, 9}, {15, 8}, {12, 7}, {11, 6}, {10, 5}, {9, 4}};
  for (const auto& row : table)
    if (opset >= row.opset) return row.ir;
  return 3;
}

namespace {

constexpr uint64_t protobuf_limit = (uint64_t{1} << 31) - 1;

// Types that came with an IR version may be used with older opsets only in files of that IR version.
int64_t ir_version_of(DType t) {
  switch (t) {
    case DType::f8e4m3fn:
    case DType::f8e4m3fnuz:
    case DType::f8e5m2:
    case DType::f8e5m2fnuz: return 9;
    case DType::u4:
    case DType::i4: return 10;
    case DType::f4e2m1: return 11;
    case DType::f8e8m0: return 12;
    case DType::u2:
    case DType::i2: return 13;
    case DType::f6e2m3:
    case DType::f6e3m2: return 14;
    default: return 3;
  }
}

int64_t ir_version(const Model& m, const Opsets& target) {
  if (m.ir_version != 0 && target == m.opsets) return m.ir_version;
  const auto opset = target.find("");
  int64_t ir = opset == target.end() ? std::max<int64_t>(m.ir_version, 8) : ir_version_for(opset->second);
  for (const LocalFunction& f : m.functions) ir = std::max<int64_t>(ir, f.overload.empty() ? 8 : 10);
  for (uint32_t i = 0; i < m.graph.value_capacity(); ++i)
    if (const Value& v = m.graph[ValueId(i)]; v.kind != Value::Kind::dead) {
      ir = std::max(ir, ir_version_of(v.fact.type.elem));
      // Before version 4 initializers are inputs, which a branch has none of.
      if (v.kind == Value::Kind::initializer && m.graph[v.home].owner) ir = std::max<int64_t>(ir, 4);
    }
  return ir;
}

}  // namespace

int64_t implied_opset(const Model& m) {
  const auto is_onnx = [&](uint32_t i) { return !m.graph[NodeId(i)].dead && m.graph[NodeId(i)].op->domain.empty(); };
  uint32_t node = 0;
  while (node < m.graph.node_capacity() && !is_onnx(node)) ++node;
  if (node == m.graph.node_capacity()) return opsets::standard;
  for (int64_t opset = opsets::standard; opset < newest_released_opset; ++opset) {
    Model trial = m;
    if (legalise(trial, opset).refusals.empty()) return opset;
  }
  return newest_released_opset;
}

namespace {

// The versions to write: what was asked for, the model's own, and the newest of domains it did not import yet.
Opsets target_opsets(const Model& m, const WriteOptions& options) {
  Opsets target = m.opsets;
  if (options.opset) target[""] = *options.opset;
  const Graph& g = m.graph;
  bool has_onnx = target.count("") != 0;
  for (uint32_t i = 0; i < g.node_capacity(); ++i) {
    if (g[NodeId(i)].dead || (has_onnx && g[NodeId(i)].op->domain.empty())) continue;
    const std::string domain(g[NodeId(i)].op->domain);
    has_onnx = has_onnx || domain.empty();
    if (!target.count(domain))
      target[domain] = domain.empty() ? implied_opset(m) : std::max<int64_t>(1, newest_version(domain));
  }
  if (target.empty()) target[""] = implied_opset(m);
  return target;
}

Opsets function_opsets(const LocalFunction& f, const Opsets& target, const Graph& g, const WriteOptions& options) {
  Opsets out = f.opsets;
  if (options.opset && out.count("")) out[""] = *options.opset;
  for (const NodeId n : g.nodes(f.body))
    if (const auto it = target.find(std::string(g[n].op->domain)); it != target.end()) out.insert(*it);
  return out;
}

void write_opsets(pb::Writer& w, uint32_t field, const Opsets& opsets) {
  for (const auto& [domain, version] : opsets) {
    const auto import = w.begin(field);
    w.text(1, domain);
    w.int64(2, version);
    w.end(import);
  }
}

void write_head(ChunkedMessage& out, const Model& m, int64_t ir) {
  pb::Writer& w = out.small();
  w.int64(1, ir);
  if (!m.producer_name.empty()) w.text(2, m.producer_name);
  if (!m.producer_version.empty()) w.text(3, m.producer_version);
  if (!m.domain.empty()) w.text(4, m.domain);
  if (m.model_version) w.int64(5, m.model_version);
  if (!m.doc.empty()) w.text(6, m.doc);
}

using Entries = std::vector<std::pair<std::string, std::string>>;

// An entry of the same key is replaced where it stands.
Entries with_entries(Entries metadata, const Entries& more) {
  for (const auto& [key, value] : more) {
    const auto it =
        std::find_if(metadata.begin(), metadata.end(), [&, &k = key](const auto& e) { return e.first == k; });
    if (it == metadata.end()) metadata.emplace_back(key, value);
    else it->second = value;
  }
  return metadata;
}

ChunkedMessage model_message(const Model& m, const Graph& declared, WeightStore& weights, const WriteOptions& options) {
  const Opsets target = target_opsets(m, options);
  const int64_t ir = ir_version(m, target);
  Names names(m.graph);
  GraphWriter writer(m.graph, declared, names, weights, options);
  ChunkedMessage out;
  write_head(out, m, ir);
  out.message(7, writer.main(target, ir));
  write_opsets(out.small(), 8, target);
  write_pairs(out.small(), 14, with_entries(m.metadata, options.metadata));
  for (const LocalFunction& f : m.functions)
    out.message(25, writer.function(f, function_opsets(f, target, m.graph, options)));
  for (const Bytes& field : m.kept) out.raw(field);
  if (!writer.refusals.empty()) throw Error(std::move(writer.refusals));
  if (out.size() > protobuf_limit)
    throw error("write.too-large",
                cat("the model would take ", out.size(), " bytes in one file, and protobuf ends at 2 GiB"))
        .help("write its weights as external data");
  return out;
}

// A copy of the model that can be written, where the model itself cannot.
std::optional<Model> legal_copy(const Model& m, const WriteOptions& options, DiagSink* diags) {
  const Opsets target = target_opsets(m, options);
  const auto opset = target.find("");
  if (opset == target.end()) return std::nullopt;
  LegaliseOptions how;
  how.lossy = options.lossy;
  how.functions_follow = options.opset.has_value();
  if (!needs_legalising(m, opset->second, how)) return std::nullopt;
  Model copy = m;
  LegaliseResult result = legalise(copy, opset->second, how);
  if (!result.refusals.empty()) throw Error(std::move(result.refusals));
  for (Diag& d : result.notes)
    if (diags) diags->add(std::move(d));
  return copy;
}

}  // namespace

void write_onnx(const Model& model, Publication& files, const std::string& path, const WriteOptions& options,
                DiagSink* diags) {
  const auto legal = legal_copy(model, options, diags);
  const Model& m = legal ? *legal : model;
  WriteOptions how = options;
  auto weights = std::make_unique<WeightStore>(m.graph, path, how);
  ChunkedMessage message = model_message(m, model.graph, *weights, how);
  if (how.value_info == WriteOptions::ValueInfo::all && how.shapes_up_to && message.size() > *how.shapes_up_to) {
    how.value_info = WriteOptions::ValueInfo::keep;
    weights = std::make_unique<WeightStore>(m.graph, path, how);
    message = model_message(m, model.graph, *weights, how);
  }
  AtomicFile& file = files.open(path, Publication::Turn::model);
  weights->write_data_file(files);
  file.expect(message.size());
  message.write(file.sink());
  if (file.is_named()) files.just_after([path] { retire_old_data(path); });
}

void write_onnx(const Model& model, const std::string& path, const WriteOptions& options, DiagSink* diags) {
  Publication files;
  write_onnx(model, files, path, options, diags);
  files.commit(options.durable);
}

std::string write_onnx(const Model& model, const WriteOptions& options, DiagSink* diags) {
  const auto legal = legal_copy(model, options, diags);
  const Model& m = legal ? *legal : model;
  WeightStore weights(m.graph, "", options);
  return model_message(m, model.graph, weights, options).flat();
}

}  // namespace cameo::backends
