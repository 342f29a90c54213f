#include "formats/zip.h"

#include <algorithm>
#include <numeric>

#include "formats/deflate.h"
#include "formats/zip_directory.h"
#include "support/error.h"

namespace cameo::zip {

bool looks_like_zip(std::string_view head) { return head.starts_with("PK\x03\x04"); }

Archive::Archive(Bytes file, std::string path, Limits limits)
    : file_(std::move(file)), path_(std::move(path)), entries_(read_directory(file_, path_, limits)) {
  by_name_.resize(entries_.size());
  std::iota(by_name_.begin(), by_name_.end(), 0u);
  const auto name = [&](uint32_t i) -> const std::string& { return entries_[i].name; };
  std::sort(by_name_.begin(), by_name_.end(), [&](uint32_t a, uint32_t b) { return name(a) < name(b); });
  const auto twin =
      std::adjacent_find(by_name_.begin(), by_name_.end(), [&](uint32_t a, uint32_t b) { return name(a) == name(b); });
  if (twin != by_name_.end())
    throw error("file.damaged", cat("two entries of the archive are called ", name(*twin)))
        .at({.file = path_, .offset = entries_[*twin].header_offset});
}

const Entry* Archive::find(std::string_view name) const {
  const auto at = std::lower_bound(by_name_.begin(), by_name_.end(), name,
                                   [&](uint32_t i, std::string_view n) { return entries_[i].name < n; });
  return at == by_name_.end() || entries_[*at].name != name ? nullptr : &entries_[*at];
}

std::string_view Archive::top_folder() const {
  if (entries_.empty()) return {};
  const std::string_view first = entries_.front().name;
  const auto slash = first.find('/');
  if (slash == first.npos) return {};
  const auto with_slash = first.substr(0, slash + 1);
  const bool shared = std::all_of(entries_.begin(), entries_.end(),
                                  [&](const Entry& e) { return std::string_view(e.name).starts_with(with_slash); });
  return shared ? first.substr(0, slash) : std::string_view{};
}

Bytes Archive::read(const Entry& e, Crc crc) const {
  const Loc where{.file = cat(path_, "!", e.name), .offset = e.data_offset};
  Bytes data = file_.slice(e.data_offset, e.packed_size);
  if (e.method == Method::deflated) {
    std::vector<std::byte> unpacked(narrow<size_t>(e.size));
    if (!inflate_into(data.span(), unpacked))
      throw error("file.damaged", cat("the entry ", e.name, " does not unpack")).at(where);
    data = Bytes::own(std::move(unpacked));
  }
  if (crc == Crc::check && crc32_of(data.span()) != e.crc)
    throw error("file.damaged", cat("the checksum of the entry ", e.name, " is wrong")).at(where);
  return data;
}

}  // namespace cameo::zip
