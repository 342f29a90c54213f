// Models to .onnx files.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "formats/publication.h"
#include "ir/graph.h"
#include "support/error.h"

namespace cameo::backends {

enum class WeightMode : uint8_t {
  keep,       // external data that stays beside the file is referred to as before; all else as `automatic`
  automatic,  // embed, unless that would pass 1.9 GiB; then external
  embed,      // everything in one file; past 2 GiB that is an error
  external,   // one data file beside the model, tensors page-aligned
  in_place,   // refer to the bytes inside the file they were read from (an archive in the same folder)
};

struct WriteOptions {
  std::optional<int64_t> opset;  // of ai.onnx; unset: the model's own
  WeightMode weights = WeightMode::keep;
  // Of the data file, relative to the model. Empty: the model's file name, a hash of the contents, and ".data". A name
  // that is given may be used once: where a file of that name holds other bytes, they are not replaced (write.exists).
  std::string external_name;
  uint64_t external_from = 1024;                                                    // smaller tensors stay in the model
  enum class ValueInfo : uint8_t { keep, all, none } value_info = ValueInfo::keep;  // keep: those the file had
  std::optional<uint64_t> shapes_up_to;  // all, unless the model's file would have more bytes than this: then keep
  bool fresh_dims = false;               // sizes without a name of their own are written under Cameo's, else left open
  bool initializers_as_inputs = false;   // list every initializer as an input too, as files of IR version 3 do
  std::vector<std::pair<std::string, std::string>> metadata;  // written too, in place of entries of the same key
  bool lossy = false;    // expansions that are wrong on inf, NaN or overflow, or only approximate, are allowed
  bool durable = false;  // wait until the disk has it
};

// The same model and options give the same bytes. Unchanged nodes that were read at the same opset are
// copied byte for byte. Nothing appears under `path` unless all of it was written, and a reader of `path` finds the
// data file that belongs to what it read, or none, whenever the process ends and however many write at once
// (docs/onnx-files.md). Throws convert.* with one finding per node that the opset cannot express, write.* and use.*.
// Findings that do not stop the work (lossy expansions) go to `diags`.
void write_onnx(const ir::Model& model, const std::string& path, const WriteOptions& options = {},
                DiagSink* diags = nullptr);
// The same, to be published with other files: all is written, and nothing has its name before files.commit().
void write_onnx(const ir::Model& model, formats::Publication& files, const std::string& path,
                const WriteOptions& options, DiagSink* diags);
// The same into memory; external and in-place weights are refused.
std::string write_onnx(const ir::Model& model, const WriteOptions& options = {}, DiagSink* diags = nullptr);

// Of ai.onnx, for nodes of a model that does not import it: the standard opset, or the oldest after it that has them.
int64_t implied_opset(const ir::Model& model);
// The IR version that came with an opset of ai.onnx.
int64_t ir_version_for(int64_t opset);

}  // namespace cameo::backends
