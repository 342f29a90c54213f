// Data files beside a model. Their names are decided by their contents: a model that is replaced gets a data file of
// another name, and the renaming of the model is the one step from the old pair to the new.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "formats/publication.h"

namespace cameo::onnx {

// "net.onnx" and a hash to "net.onnx.0123456789abcdef.data": of the same length for every hash.
std::string data_file_name(const std::string& model_name, uint64_t hash);

// The last bytes of such a file, by which we know it for ours.
inline constexpr uint64_t data_mark_size = 32;
std::string data_mark(uint64_t hash);

// For a data file whose name the caller chose: where a file of that name has these bytes already it stays, and where it
// has others the publication fails with write.exists, because a model that refers to them would get the wrong weights.
// No hash: there was no such file when the bytes were written.
void keep_what_is_there(Publication& files, AtomicFile& file, std::optional<uint64_t> hash);

// Removes data files of the model at `path` that we wrote and no model in its folder refers to, itself included: those
// of the version it replaced, and of writers that were killed. To be called while the folder is locked.
void retire_old_data(const std::string& path);

}  // namespace cameo::onnx
