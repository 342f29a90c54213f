// Several files that belong together: all get their names at the end, or none does.
//
//   cameo::Publication files;
//   auto ledger = files.open("ledger.jsonl");   // a name that cannot be written fails before the work
//   const auto small = cameo::simplify(cameo::load("net.onnx"));
//   for (const auto& r : small.ledger) ledger.append(cameo::to_json(r) + "\n");
//   small.model.save(files, "small.onnx");
//   files.commit();
#pragma once

#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>

namespace cameo {

struct PublicationState;

class Publication {
 public:
  Publication();
  ~Publication();
  Publication(Publication&&) noexcept;
  Publication& operator=(Publication&&) noexcept;

  // A file that is being written; valid as long as its Publication.
  class File {
   public:
    void append(std::string_view text);
    bool goes_to(const std::string& path) const;  // that is its name, however it is spelt

   private:
    friend class Publication;
    friend struct PublicationState;
    explicit File(void* file) : file_(file) {}
    void* file_;
  };

  // "-" is standard output. Throws write.failed, use.output where the same file was opened before, and use.extension
  // where the name has another extension than those given.
  File open(const std::string& path, std::initializer_list<std::string_view> extensions = {});
  // Ends the publication: later calls throw use.publication. `durable` waits until the disk has everything.
  void commit(bool durable = false);

 private:
  friend struct PublicationState;
  std::unique_ptr<PublicationState> state_;
};

// Throws file.changed, naming the file, where a file that is still mapped was changed since it was read. For programs
// that are done with all their files at once; call it before commit().
void require_unchanged_files();

}  // namespace cameo
