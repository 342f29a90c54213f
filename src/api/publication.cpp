// include/cameo/publication.h.
#include "formats/mapped_file.h"
#include "support/error.h"
#include "support/extension.h"

#include "api/publication_state.h"

namespace cameo {

formats::Publication& PublicationState::files_of(const Publication& p) {
  if (!p.state_) throw support::error("use.moved-from", "the publication was moved from");
  if (p.state_->committed)
    throw support::error("use.publication", "the files of this publication have their names already")
        .help("take another Publication for more files");
  return p.state_->files;
}

// Committed files are no longer written, whether all could be published or not.
formats::Publication& PublicationState::last_use_of(const Publication& p) {
  formats::Publication& files = files_of(p);
  p.state_->committed = true;
  return files;
}

formats::AtomicFile& PublicationState::file_of(const Publication::File& f) {
  return *static_cast<formats::AtomicFile*>(f.file_);
}

Publication::Publication() : state_(std::make_unique<PublicationState>()) {}
Publication::~Publication() = default;
Publication::Publication(Publication&&) noexcept = default;
Publication& Publication::operator=(Publication&&) noexcept = default;

void Publication::File::append(std::string_view text) { PublicationState::file_of(*this).append(text); }
bool Publication::File::goes_to(const std::string& path) const {
  return PublicationState::file_of(*this).goes_to(path);
}

Publication::File Publication::open(const std::string& path, std::initializer_list<std::string_view> extensions) {
  if (extensions.size()) support::need_extension(path, extensions);
  return File(&PublicationState::files_of(*this).open(path));
}
void Publication::commit(bool durable) { PublicationState::last_use_of(*this).commit(durable); }

void require_unchanged_files() { formats::require_unchanged_files(); }

}  // namespace cameo
