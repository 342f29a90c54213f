#include "frontends/onnx/external_data.h"

#include <charconv>
#include <filesystem>

#include "formats/mapped_file.h"
#include "support/error.h"
#include "support/file_bytes.h"

namespace cameo::onnx {

namespace fs = std::filesystem;

namespace {

[[noreturn]] void refuse(const std::string& model, std::string_view location, std::string why) {
  throw error("file.external-path", cat("external data at '", location, "' is refused"))
      .at({.file = model})
      .why(std::move(why))
      .help("external data has to be a plain file in the model's folder or below");
}

// Windows' separators and drives are refused everywhere: a model must mean the same on every system.
void check_spelling(const std::string& model, std::string_view location) {
  if (location.empty()) refuse(model, location, "the location is empty");
  if (location.find('\0') != location.npos) refuse(model, location, "the location holds a zero byte");
  if (location.front() == '/' || location.find('\\') != location.npos || location.find(':') != location.npos)
    refuse(model, location, "the path is absolute, or uses another system's separators");
  for (const auto& part : fs::path(location))
    if (part == "..") refuse(model, location, "the path leads out of the model's folder");
}

// Refuses absolute paths, `..`, links, hard links and everything that is not a regular file.
void check_location(const std::string& model, std::string_view location) {
  if (model.empty() || model == "-") refuse(model, location, "this model was not read from a folder");
  check_spelling(model, location);
  fs::path at = fs::path(model).parent_path();
  std::error_code code;
  for (const auto& part : fs::path(location)) {
    if (part.empty() || part == ".") continue;
    at /= part;
    if (fs::is_symlink(fs::symlink_status(at, code))) refuse(model, location, cat(at.string(), " is a symbolic link"));
  }
  const auto status = fs::symlink_status(at, code);
  if (!fs::exists(status)) {
    throw error("file.missing", cat("the external data file '", location, "' is missing"))
        .at({.file = model})
        .help("keep the model's data files beside it when moving it");
  }
  if (!fs::is_regular_file(status)) refuse(model, location, "it is not a regular file");
  if (const auto links = fs::hard_link_count(at, code); !code && links > 1)
    refuse(model, location, "the file has several names (hard links), one of which may lie outside the folder");
}

}  // namespace

const ExternalData::File& ExternalData::file(std::string_view location) {
  const auto known = files_.find(location);
  if (known != files_.end()) return known->second;
  check_location(model_path_, location);
  // Another file may have taken its place: map_file_below checks the opened one again.
  const fs::path folder = fs::path(model_path_).parent_path();
  File file{(folder / fs::path(location)).string(), map_file_below(folder.string(), std::string(location))};
  return files_.emplace(std::string(location), std::move(file)).first->second;
}

ExternalData::Range ExternalData::find(const Pairs& entries, uint64_t wanted) {
  std::string_view location;
  std::optional<uint64_t> offset, length;
  const auto number = [&](std::string_view key, std::string_view text) {
    uint64_t v = 0;
    const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), v);
    if (text.empty() || fault != std::errc() || end != text.data() + text.size())
      throw error("file.external-range", cat("external data has '", text, "' as its ", key)).at({.file = model_path_});
    return v;
  };
  for (const auto& [key, value] : entries) {
    if (key == "location") location = value;
    else if (key == "offset") offset = number(key, value);
    else if (key == "length") length = number(key, value);
  }
  const auto& [path, whole] = file(location);
  const uint64_t from = offset.value_or(0), size = length.value_or(wanted);
  if (from > length_of(whole) || size > length_of(whole) - from)
    throw error("file.external-range", cat("external data lies outside '", location, "'"))
        .at({.file = model_path_})
        .why(cat(size, " bytes at ", from, " are needed, the file has ", length_of(whole)));
  if (size != wanted)
    throw error("file.external-range", cat("external data in '", location, "' has the wrong length"))
        .at({.file = model_path_})
        .why(cat("its tensor takes ", wanted, " bytes, ", size, " are named"));
  auto range = std::make_shared<FileRange>();
  range->path = path;
  range->location = location;
  range->offset = from;
  range->length = size;
  return {whole.slice(from, size), std::move(range)};
}

}  // namespace cameo::onnx
