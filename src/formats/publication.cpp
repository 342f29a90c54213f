#include "formats/publication.h"

#include <algorithm>
#include <chrono>
#include <filesystem>

#include "formats/file_handle.h"
#include "formats/posix_files.h"
#include "support/budget.h"
#include "support/error.h"

#if CAMEO_POSIX_FILES
#include <thread>
#endif

namespace cameo::formats {

namespace fs = std::filesystem;

namespace {

constexpr std::chrono::seconds patience{30};

void wait_a_little() {
#if CAMEO_POSIX_FILES
  std::this_thread::sleep_for(std::chrono::milliseconds(1));
#endif
}

// The folder itself is locked: no lock file is left over, and the lock ends with its process. Held for a short time,
// while names are given. Invalid if folders cannot be locked.
FileHandle locked(const std::string& folder) {
  FileHandle handle = FileHandle::open_folder(folder);
  if (!handle.valid()) return {};
  const auto end = std::chrono::steady_clock::now() + patience;
  for (;;) {
    const auto got = handle.try_lock();
    if (got == FileHandle::Lock::taken) return handle;
    if (got == FileHandle::Lock::none) return {};
    if (std::chrono::steady_clock::now() > end)
      throw error("write.busy",
                  cat("another process keeps ", folder.empty() ? "the current folder" : folder, " locked"))
          .help("it may have been stopped while it was writing there; end it or let it go on");
    checkpoint();
    wait_a_little();
  }
}

}  // namespace

AtomicFile& Publication::open(const std::string& path, Turn turn) {
  if (path.empty()) throw error("write.failed", "the path of the output is empty");
  auto file = std::make_unique<AtomicFile>(path);
  for (const Item& other : items_)
    if (other.file->goes_to(path))
      throw error("use.output", cat(path, " would be written twice")).help("give each output a name of its own");
  items_.push_back({turn, std::move(file)});
  return *items_.back().file;
}

// False: it cannot be read before it has its name.
bool Publication::look() {
  const Item& model = items_.back();
  if (model_looks_.empty() || model.turn != Turn::model || !model.file->is_named()) return true;
  const Bytes written = model.file->written();
  for (const auto& look : model_looks_)
    if (!written.empty()) look(written);
  return !written.empty();
}

// Data is named first: a model that is refused then takes its data with it.
void Publication::publish(bool durable) {
  const auto give_name = [&](const Item& item) {
    item.file->publish();
    if (durable && item.file->is_named()) sync_folder(fs::path(item.file->target()).parent_path().string());
  };
  const auto rest =
      std::find_if(items_.begin(), items_.end(), [](const Item& item) { return item.turn != Turn::data; });
  std::for_each(items_.begin(), rest, give_name);
  bool is_looked_at = true;
  try {
    if (!items_.empty()) is_looked_at = look();
  } catch (...) {
    std::for_each(items_.begin(), rest, [](const Item& item) { item.file->take_back(); });
    throw;
  }
  std::for_each(rest, items_.end(), give_name);
  if (is_looked_at) return;
  for (const auto& look : model_looks_) look(map_file(items_.back().file->target()));
}

void Publication::commit(bool durable) {
  for (const Item& item : items_) item.file->finish(durable);
  std::stable_sort(items_.begin(), items_.end(), [](const Item& a, const Item& b) { return a.turn < b.turn; });
  const bool needs_lock = !items_.empty() && items_.back().turn == Turn::model && items_.back().file->is_named();
  const std::string folder = needs_lock ? fs::path(items_.back().file->target()).parent_path().string() : "";
  const FileHandle lock = needs_lock ? locked(folder) : FileHandle();
  for (const auto& look : before_) look();
  publish(durable);
  if (!lock.valid()) return;
  for (const auto& tidy_up : after_) {
    try {
      tidy_up();
    } catch (const Bug&) {
      throw;
    } catch (const std::exception&) {  // what is left over does no harm; the next writer tries again
    }
  }
}

}  // namespace cameo::formats
