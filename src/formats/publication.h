// All the files that one piece of work writes. Each is opened before the work begins, so that a bad name fails first,
// and all get their names together at the end: until then nothing has changed, whatever fails.
//
//   Publication files;
//   AtomicFile& ledger = files.open("ledger.json");
//   ... the work; save_model(m, files, "net.onnx", options) ...
//   ledger.append(text);
//   files.commit();
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "formats/atomic_file.h"

namespace cameo::formats {

class Publication {
 public:
  // In which order names are given. The model comes last, so that everything it refers to exists when it appears.
  enum class Turn : uint8_t { data, other, model };
  // Throws write.failed, and use.output where the same file was opened before. The file lives as long as this.
  AtomicFile& open(const std::string& path, Turn turn = Turn::other);

  // Steps before and after names are given, while the folder is locked against other Publications: a last check that
  // may throw, and cleaning up, which is skipped if the folder cannot be locked, and whose failure is ignored.
  void just_before(std::function<void()> look) { before_.push_back(std::move(look)); }
  // A last look at the model as it was written, when its data is there and before it has its name: what it throws
  // leaves nothing behind. Only a model that gets a name is looked at.
  void look_at_model(std::function<void(const Bytes&)> look) { model_looks_.push_back(std::move(look)); }
  void just_after(std::function<void()> tidy_up) { after_.push_back(std::move(tidy_up)); }

  // Throws what AtomicFile::finish throws, and write.busy where another process holds the folder for half a minute.
  void commit(bool durable = false);

 private:
  struct Item {
    Turn turn;
    std::unique_ptr<AtomicFile> file;
  };
  std::vector<Item> items_;
  void publish(bool durable);
  bool look();

  std::vector<std::function<void()>> before_, after_;
  std::vector<std::function<void(const Bytes&)>> model_looks_;
};

}  // namespace cameo::formats
