// Where each weight goes: into the model, into one data file beside it, or nowhere because it already lies there.
#pragma once

#include <filesystem>
#include <map>

#include "backends/onnx/messages.h"
#include "backends/onnx/writer.h"
#include "formats/publication.h"

namespace cameo::onnx {

class WeightStore {
 public:
  // `path` is the model's; empty when it is written to memory.
  WeightStore(const Graph& g, const std::string& path, const WriteOptions& options);

  // The TensorProto of an initializer.
  ChunkedMessage tensor(const std::string& name, const std::shared_ptr<const Weight>& w);
  bool has_data_file() const { return !queue_.empty(); }
  // Writes the data file, if there is one to write, and settles its name, which the tensors' messages hold.
  void write_data_file(Publication& files);

 private:
  bool stays(const Weight& w, ExternalRange& range);
  std::shared_ptr<const std::string> reference_to(const FileRange& file) const;
  bool goes_out(const Weight& w) const;
  ExternalRange place(const std::shared_ptr<const Weight>& w);

  std::string path_;
  std::filesystem::path folder_;
  bool name_given_;  // by the caller; otherwise the contents decide it
  std::shared_ptr<std::string> data_name_;
  WeightMode mode_;
  uint64_t external_from_;
  uint64_t end_ = 0;  // of the data file so far
  std::map<std::pair<std::string, std::string>, std::shared_ptr<const std::string>>
      references_;  // by path and location: few files hold all weights
  struct Queued {
    std::shared_ptr<const Weight> weight;
    uint64_t offset;
  };
  std::vector<Queued> queue_;
  std::multimap<uint64_t, size_t> by_source_;  // index in queue_: tied weights are written once
};

}  // namespace cameo::onnx
