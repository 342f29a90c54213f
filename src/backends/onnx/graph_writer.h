// Graphs and local functions as messages: untouched nodes copied, the others encoded for the target.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "backends/onnx/names.h"
#include "backends/onnx/weight_store.h"

namespace cameo::onnx {

using Opsets = std::map<std::string, int64_t>;

// Which nodes can be written as the bytes they were read from.
class Originals {
 public:
  Originals(const Graph& g, Names& names) : g_(g), names_(names), groups_(g.origins().size()) {}

  // Sorts a region's nodes by origin. Call before asking about them.
  void enter(RegionId r, const Opsets& target);
  // The bytes stand for this node, and for the others that were made of the same message.
  bool copies(NodeId n);
  // The last node of its message: the place where the bytes go.
  bool is_last(NodeId n) const { return groups_[g_[n].origin].last == n; }
  const Bytes& bytes(NodeId n) const { return g_.origins()[g_[n].origin].bytes; }

 private:
  struct Group {
    NodeId first, last;  // in the order of the region
    uint32_t count = 0;
    enum : uint8_t { unknown, yes, no } answer = unknown;
  };
  bool whole(const Group& group, const Origin& origin) const;
  bool fits(NodeId n);
  bool all_fit(const Group& group);
  bool names_hold(const Group& group, const Origin& origin) const;
  int64_t target_version(const OpInfo& op);

  const Graph& g_;
  Names& names_;
  std::vector<Group> groups_;
  const Opsets* target_ = nullptr;
  int64_t onnx_version_ = 0;  // of ai.onnx, which nearly all nodes are of
};

class GraphWriter {
 public:
  // `declared` is the graph before legalisation, which infers types for its own use: the file goes on declaring what it
  // did.
  GraphWriter(const Graph& g, const Graph& declared, Names& names, WeightStore& weights, const WriteOptions& options)
      : g_(g),
        declared_(declared),
        names_(names),
        weights_(weights),
        options_(options),
        originals_(g, names),
        referenced_(g.value_capacity(), false),
        computed_(g.value_capacity(), false),
        described_(g.value_capacity(), false) {}

  // `ir_version` below 4 wants every initializer among the inputs as well.
  ChunkedMessage main(const Opsets& target, int64_t ir_version);
  ChunkedMessage function(const LocalFunction& f, const Opsets& target);

  std::vector<Diag> refusals;

 private:
  ChunkedMessage graph(RegionId r, bool initializers_are_inputs);
  void nodes(ChunkedMessage& out, uint32_t field, RegionId r);
  ChunkedMessage node(NodeId n);
  bool is_spent_constant(NodeId n) const;
  void bodies(ChunkedMessage& out, NodeId n);
  void refuse(NodeId n, const std::string& why, int64_t version);
  void mark_copied(NodeId n);
  void initializers(ChunkedMessage& out, RegionId r);
  bool wanted(ValueId v) const;
  void value_infos(ChunkedMessage& out, RegionId r, uint32_t field);
  void interface(ChunkedMessage& out, RegionId r, bool initializers_are_inputs);
  void info(ChunkedMessage& out, uint32_t field, ValueId v);
  const Type& declared_type(ValueId v) const;
  void annotations(ChunkedMessage& out, RegionId r);
  bool is_sparse_initializer(NodeId n) const;
  int64_t version_of(std::string_view domain) const;

  const Graph& g_;
  const Graph& declared_;
  Names& names_;
  WeightStore& weights_;
  const WriteOptions& options_;
  Originals originals_;
  const Opsets* target_ = nullptr;
  std::vector<bool> referenced_;  // by the nodes as they are written: constants may have become attributes
  std::vector<bool> computed_;    // by nodes as they are written: an upgrade makes values that no file names
  std::vector<bool> described_;   // those that need no value_info any more
  RegionId function_body_;        // none while the main graph is written
  std::vector<ValueId> function_constants_;
};

}  // namespace cameo::onnx
