// Files of torch.save that hold plain data: dicts of tensors, example inputs. Nothing is imported or called.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "frontends/torchscript/stored.h"
#include "support/bytes.h"

namespace cameo::torchscript {

struct ProgramState;

class SavedFile {
 public:
  explicit SavedFile(std::unique_ptr<ProgramState> state, const StoredValue* root);
  ~SavedFile();
  SavedFile(SavedFile&&) noexcept;
  SavedFile& operator=(SavedFile&&) noexcept;

  const StoredValue& root() const { return *root_; }
  const StoredValue* find(std::string_view key) const;  // of a dict with string keys; null when missing
  Bytes bytes(const Storage& storage);                  // as Program::bytes

 private:
  std::unique_ptr<ProgramState> state_;
  const StoredValue* root_;
};

SavedFile read_saved(Bytes file, std::string name);  // throws file.*

}  // namespace cameo::torchscript
