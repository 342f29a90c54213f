#include "frontends/recognise.h"
#include "support/file_bytes.h"

#include <algorithm>

#include "formats/pickle.h"

namespace cameo::frontends {

namespace {
// The object that torch.save pickled, by its first instructions: enough to tell, and nothing is run or unpacked.
Recognised saved_object(std::string_view pickle) {
  if (pickle.size() >= 2 && pickle[0] == '\x80') pickle.remove_prefix(2);
  if (pickle.starts_with("}")) return {FileKind::checkpoint, {}};
  if (!pickle.starts_with("c")) return {FileKind::other_torch_save, {}};
  const auto line = pickle.find('\n');
  const auto end = line == pickle.npos ? line : pickle.find('\n', line + 1);
  if (end == pickle.npos || end > 1000) return {FileKind::other_torch_save, {}};
  const auto module = pickle.substr(1, line - 1), name = pickle.substr(line + 1, end - line - 1);
  if (module == "collections" && name == "OrderedDict") return {FileKind::state_dict, {}};
  if (module == "torch._utils") return {FileKind::lone_tensor, {}};
  return {FileKind::pickled_module, cat(module, ".", name)};
}

// torch.save before 1.6 wrote four pickles: a magic number, a protocol number, the system's facts, the object.
Recognised legacy_object(std::string_view file) {
  try {
    for (int i = 0; i < 3; ++i) {
      const auto head = file.substr(0, 1 << 16);
      const Bytes view({}, {reinterpret_cast<const std::byte*>(head.data()), head.size()});
      file.remove_prefix(pickle::read(view, "").consumed());
    }
    return {FileKind::legacy_torch_save, saved_object(file).detail};
  } catch (const Error&) {
    return {FileKind::legacy_torch_save, {}};
  }
}

// Protobuf of a model holds lengths and numbers: bytes that no text has.
bool is_plain_text(std::string_view head) {
  return std::all_of(head.begin(), head.end(), [](char c) {
    const auto b = static_cast<unsigned char>(c);
    return b >= 0x20 || c == '\n' || c == '\r' || c == '\t';
  });
}

struct Magic {
  std::string_view bytes;
  size_t at;
  FileKind kind;
};
using namespace std::string_view_literals;
constexpr Magic magics[] = {
    {"TFL3"sv, 4, FileKind::tflite},
    {"ptrt"sv, 0, FileKind::tensorrt},
    {"ftrt"sv, 0, FileKind::tensorrt},
    {"\x1F\x8B"sv, 0, FileKind::compressed},
    {"\xFD\x37zXZ\0"sv, 0, FileKind::compressed},
    {"BZh"sv, 0, FileKind::compressed},
    {"\x28\xB5\x2F\xFD"sv, 0, FileKind::compressed},
    {"7z\xBC\xAF"sv, 0, FileKind::compressed},
    {"Rar!"sv, 0, FileKind::compressed},
    {"\x89PNG"sv, 0, FileKind::picture},
    {"\xFF\xD8\xFF"sv, 0, FileKind::picture},
    {"<?xml"sv, 0, FileKind::xml},
};

bool is_web_page(std::string_view head) {
  head.remove_prefix(std::min(head.find_first_not_of(" \t\r\n"), head.size()));
  return head.starts_with("<!DOCTYPE") || head.starts_with("<!doctype") || head.starts_with("<html");
}
}  // namespace

Recognised recognise_head(std::string_view file) {
  using enum FileKind;
  const auto at = [&](size_t offset, std::string_view magic) {
    return file.size() >= offset && file.substr(offset).starts_with(magic);
  };
  if (file.empty()) return {empty, {}};
  if (at(0, std::string_view("\x80\x02\x8A\x0A\x6C\xFC\x9C\x46\xF9\x20\x6A\xA8\x50\x19\x2E\x80", 16)))
    return legacy_object(file);
  if (at(4, "PTMF")) return {flatbuffer, {}};
  if (at(4, "ET") && file.size() > 7 && file[6] >= '0' && file[6] <= '9') return {executorch, {}};
  if (at(257, "ustar")) return {legacy_tar, {}};
  if (at(0, "PYTORCH1")) return {legacy_torchscript, {}};
  if (at(0, "\x89HDF\r\n\x1a\n")) return {hdf5, {}};
  if (at(0, "GGUF")) return {gguf, {}};
  if (at(0, "version https://git-lfs")) return {git_lfs_pointer, {}};
  if (file.size() > 10 && at(8, "{\"") && file.substr(2, 6) == std::string_view("\0\0\0\0\0\0", 6))
    return {safetensors, {}};
  if (file.size() > 2 && file[0] == '\x80' && file[1] >= 2 && file[1] <= 5)
    return {plain_pickle, saved_object(file).detail};
  if (is_web_page(file.substr(0, 200))) return {web_page, {}};
  for (const Magic& m : magics)
    if (at(m.at, m.bytes)) return {m.kind, {}};
  if (is_plain_text(file.substr(0, 512))) return {text, {}};
  return {unknown, {}};
}

Recognised recognise_zip(const zip::Archive& archive) {
  using enum FileKind;
  const std::string folder = archive.top_folder().empty() ? std::string() : cat(archive.top_folder(), "/");
  const auto has = [&](std::string_view name) { return archive.find(folder + std::string(name)) != nullptr; };
  const auto any = [&](std::string_view start, std::string_view end) {
    for (const zip::Entry& e : archive.entries()) {
      const std::string_view entry = e.name;
      if (entry.starts_with(folder) && entry.substr(folder.size()).starts_with(start) && entry.ends_with(end))
        return true;
    }
    return false;
  };
  const bool code = any("code/", ".py");
  if (has("serialized_exported_program.json") || has("archive_format") || any("models/", ".json"))
    return {torch_export, {}};
  if (has("data.pkl") && has("constants.pkl") && code) return {torchscript, {}};
  if (has("bytecode.pkl")) return {bytecode_only, {}};
  if (has("model.json")) return {legacy_torchscript, {}};
  if (any(".data/ts_code/", "/data.pkl")) return {torchscript, "torch.package"};
  if (has(".data/extern_modules") || any(".data/ts_code/", "")) return {torch_package, {}};
  if (has("data.pkl") && (has("constants.pkl") || code))
    return {other_zip, "parts of a TorchScript archive are missing"};
  if (const zip::Entry* data = archive.find(cat(folder, "data.pkl"))) {
    if (data->size > (uint64_t{1} << 30)) return {other_torch_save, {}};
    try {
      return saved_object(archive.read(*data).text());
    } catch (const Error&) {
      return {other_torch_save, {}};
    }
  }
  if (!archive.entries().empty() && any("", ".npy")) return {npz, {}};
  return {other_zip, {}};
}

namespace {
constexpr std::string_view trace_it =
    "in Python: torch.jit.trace(model.eval(), example).save(\"net.pt\"), or "
    "torch.export.save(torch.export.export(model.eval(), (example,)), \"net.pt2\")";

std::string build_and_trace() {
  return cat("build the model in Python, load the weights with model.load_state_dict(torch.load(file)), then ",
             trace_it.substr(std::string_view("in Python: ").size()));
}

struct Advice {
  std::string_view code;
  std::string what, because, hint;
};

// long: a table, one answer per kind of file
Advice answer(const Recognised& r) {
  using enum FileKind;
  const std::string of_class = r.detail.empty() ? "" : cat(" of class ", r.detail);
  const std::string load_and_trace =
      cat("load it in Python with torch.load(file, weights_only=False), then ", trace_it.substr(11));
  switch (r.kind) {
    case torch_export:
      return {"file.pt2", "this is a torch.export archive, not a TorchScript one", "",
              "open it as an exported program: `cameo export` tells the two apart by their contents"};
    case torchscript: return {"file.torchscript", "this is a TorchScript archive", "", "the name should end in .pt"};
    case bytecode_only:
      return {"file.bytecode-only", "this lite-interpreter file holds bytecode only",
              "its code was stripped when it was saved for mobile use", "save the original model with torch.jit.save"};
    case state_dict:
      return {"file.state-dict", "this file holds a state_dict: weights without a model",
              "what the weights are for is in the Python code that made them", build_and_trace()};
    case checkpoint:
      return {"file.checkpoint", "this file holds a dict, as training checkpoints do: weights without a model",
              "what the weights are for is in the Python code that made them", build_and_trace()};
    case lone_tensor: return {"file.tensor", "this file holds a tensor, not a model", "", std::string(trace_it)};
    case pickled_module:
      return {"file.pickled-module", cat("this file holds a pickled Python object", of_class),
              "its code is not in the file: only Python with the same sources can load it", load_and_trace};
    case other_torch_save:
      return {"file.torch-save", "this file was written by torch.save, which stores no program", "", load_and_trace};
    case legacy_torch_save:
      return {"file.legacy",
              cat("this file was written by torch.save in the format before PyTorch 1.6",
                  r.detail.empty() ? "" : cat(": an object", of_class)),
              "it stores no program", load_and_trace};
    case legacy_tar:
      return {"file.legacy", "this is a tar file, which torch.save wrote before PyTorch 0.2", "it stores no program",
              load_and_trace};
    case legacy_torchscript:
      return {"file.legacy", "this TorchScript archive is of PyTorch 1.2 or older", "its format ended with PyTorch 1.3",
              "load it with PyTorch 1.4 to 1.13 and save it again with torch.jit.save"};
    case torch_package:
      return {"file.torch-package", "this is a torch.package archive",
              "it holds Python sources that only Python can run",
              cat("load the model in Python with torch.package.PackageImporter, then ", trace_it.substr(11))};
    case flatbuffer:
      return {"file.flatbuffer", "this is a flatbuffer file for PyTorch Mobile", "",
              "save the original model with torch.jit.save"};
    case executorch:
      return {"file.executorch", "this is an ExecuTorch program", "",
              "start from the exported program: torch.export.save(ep, \"net.pt2\")"};
    case plain_pickle:
      return {"file.pickle",
              cat("this is a Python pickle", r.detail.empty() ? "" : cat(" of ", r.detail), ", not a model archive"),
              "", load_and_trace};
    case safetensors:
      return {"file.safetensors", "this is a safetensors file: weights without a model",
              "what the weights are for is in Python code elsewhere",
              "build the model in Python, load the weights into it, then " + std::string(trace_it.substr(11))};
    case hdf5: return {"file.hdf5", "this is an HDF5 file, as Keras writes", "", "for Keras models use tf2onnx"};
    case gguf:
      return {"file.gguf", "this is a GGUF file: weights for llama.cpp, without a program", "", std::string(trace_it)};
    case npz: return {"file.npz", "these are NumPy arrays, not a model", "", "arrays are given with --inputs"};
    case git_lfs_pointer:
      return {"file.lfs-pointer", "this is a Git LFS pointer, not the model itself", "", "run git lfs pull"};
    case web_page:
      return {"file.web-page", "this is a web page, not a model",
              "a download that needs a login or a confirmation often gives one", "download the file again"};
    case tflite: return {"file.tflite", "this is a TensorFlow Lite model", "", "for TensorFlow models use tf2onnx"};
    case tensorrt:
      return {"file.tensorrt", "this is a TensorRT engine: it runs on one kind of GPU, and holds no graph", "",
              "start from the model that it was built of"};
    case compressed:
      return {"file.compressed", "this file is compressed or an archive of files", "",
              "unpack it, and give the model inside"};
    case picture:
      return {"file.picture", "this is a picture, not a model", "", "inputs of a model are arrays: --inputs FILE.npz"};
    case xml:
      return {"file.xml", "this is an XML file; OpenVINO keeps its models so", "",
              "start from the model that it was converted from"};
    case text:
      return {"file.text", "this is a text file, not a model", "",
              "a model written as text has a name that ends in .onnxtxt; a program in Python is exported from Python"};
    case empty: return {"file.empty", "this file is empty", "", ""};
    case other_zip:
      return {"file.not-torchscript", "this zip file is not a model archive", r.detail, std::string(trace_it)};
    case unknown: break;
  }
  return {"file.not-an-archive", "this file is not a PyTorch archive", "archives are zip files that start with PK",
          std::string(trace_it)};
}
}  // namespace

Bytes head_of(const Bytes& file) {
  constexpr uint64_t most = uint64_t{1} << 20;
  return in_memory(file) ? file : file.slice(0, std::min(length_of(file), most));
}

Recognised recognise(const Bytes& file, const std::string& path) {
  const Bytes head = head_of(file);
  if (zip::looks_like_zip(head.text())) return recognise_zip(zip::Archive(file, path));
  return recognise_head(head.text());
}

Error wrong_kind(const Recognised& what, const std::string& path) {
  Advice a = answer(what);
  Error e = error(a.code, cat(path, ": ", a.what)).at({.file = path});
  e.diag().because = std::move(a.because);
  e.diag().hint = std::move(a.hint);
  return e;
}

}  // namespace cameo::frontends
