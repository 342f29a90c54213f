// Opening an archive: what it is, which version, and its data. Code is parsed later, as it is asked for.
#include <algorithm>
#include <charconv>

#include "formats/mapped_file.h"
#include "frontends/recognise.h"
#include "frontends/torchscript/program_state.h"

namespace cameo::torchscript {

namespace {
constexpr int newest_version = 10;

void read_version(ProgramState& state) {
  const zip::Entry* entry = state.find(".data/version");
  if (!entry) entry = state.find("version");
  if (!entry) throw error("file.version", "the archive has no version").at({.file = state.archive.path()});
  const Bytes data = state.read_copy(*entry, 64);
  const auto text = data.text();
  const auto result = std::from_chars(text.data(), text.data() + text.size(), state.version);
  const bool clean = result.ec == std::errc() && (result.ptr == text.data() + text.size() || *result.ptr == '\n');
  if (!clean || state.version < 1 || state.version > newest_version)
    throw error("file.version", cat("the archive has format version ", clean ? cat(state.version) : "(unreadable)"))
        .at({.file = state.archive.path()})
        .why(cat("Cameo reads versions 1 to ", newest_version))
        .help("save the model again with a PyTorch release that writes one of these");
}

void check_byte_order(const ProgramState& state) {
  const zip::Entry* entry = state.find("byteorder");
  if (!entry) return;  // older archives do not tell and are little-endian
  if (const Bytes data = state.read_copy(*entry, 64); data.text() != "little")
    throw error("file.byte-order", "the archive was written on a big-endian machine")
        .at({.file = state.archive.path()})
        .help("load and save it with PyTorch on a little-endian machine");
}
}  // namespace

namespace {
// torch.package keeps code, programs and weights apart: net/.data/ts_code/code, net/.data/ts_code/0,
// net/.data/0.storage.
void enter_package(ProgramState& state, std::string_view which) {
  state.shared = cat(state.folder, ".data/");
  state.folder = cat(state.shared, "ts_code/");
  state.program = cat(which.empty() ? "0" : which, "/");
  if (!state.find(cat(state.program, "data.pkl")))
    throw error("file.torch-package",
                cat("the torch.package archive has no program ", state.program.substr(0, state.program.size() - 1)))
        .at({.file = state.archive.path()})
        .help("its programs are numbered from 0");
}
}  // namespace

Program read_torchscript(Bytes file, std::string name, std::string_view which) {
  if (const Bytes head = head_of(file); !zip::looks_like_zip(head.text()))
    throw wrong_kind(recognise_head(head.text()), name);
  auto state = std::make_unique<ProgramState>(std::move(file), name);
  const Recognised what = recognise_zip(state->archive);
  if (what.kind != FileKind::torchscript) throw wrong_kind(what, name);
  if (!state->archive.top_folder().empty()) state->folder = cat(state->archive.top_folder(), "/");
  read_version(*state);
  check_byte_order(*state);
  if (!what.detail.empty()) enter_package(*state, which);
  read_stored(*state);
  return Program(std::move(state));
}

Program read_torchscript(const std::string& path) { return read_torchscript(map_file(path), path); }

std::string demangle(std::string_view name) {
  std::string out;
  while (!name.empty()) {
    const auto part = name.substr(0, name.find('.'));
    name.remove_prefix(std::min(part.size() + 1, name.size()));
    if (part.starts_with("___torch_mangle_")) continue;
    if (!out.empty()) out += '.';
    out += part;
  }
  return out;
}

}  // namespace cameo::torchscript
