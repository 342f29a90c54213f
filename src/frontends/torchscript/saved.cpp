#include "frontends/torchscript/saved.h"

#include "frontends/torchscript/stored_reader.h"
#include "support/error.h"

namespace cameo::torchscript {

SavedFile::SavedFile(std::unique_ptr<ProgramState> state, const StoredValue* root)
    : state_(std::move(state)), root_(root) {}
SavedFile::~SavedFile() = default;
SavedFile::SavedFile(SavedFile&&) noexcept = default;
SavedFile& SavedFile::operator=(SavedFile&&) noexcept = default;

const StoredValue* SavedFile::find(std::string_view key) const {
  if (root_->kind != StoredKind::dict) return nullptr;
  for (size_t i = 0; i + 1 < root_->items.size(); i += 2)
    if (root_->items[i]->kind == StoredKind::string && root_->items[i]->text == key) return root_->items[i + 1];
  return nullptr;
}

Bytes SavedFile::bytes(const Storage& storage) { return storage_bytes(*state_, storage); }

SavedFile read_saved(Bytes file, std::string name) {
  if (!zip::looks_like_zip(file.text()))
    throw error("file.damaged", "this is not a file of torch.save").at({.file = name});
  auto state = std::make_unique<ProgramState>(std::move(file), name);
  if (!state->archive.top_folder().empty()) state->folder = cat(state->archive.top_folder(), "/");
  const zip::Entry* entry = state->find("data.pkl");
  if (!entry) throw error("file.damaged", "a file of torch.save without data.pkl").at({.file = name});
  state->pickles.push_back(pickle::read(state->read_copy(*entry, uint64_t{1} << 30), state->place("data.pkl").file));
  const StoredValue* root = StoredReader(*state, "data", false).read(state->pickles.back().root());
  return SavedFile(std::move(state), root);
}

}  // namespace cameo::torchscript
