#include "frontends/recognise.h"

#include <gtest/gtest.h>

#include "unit/frontends/torchscript/samples.h"

namespace cameo::tests {
namespace {

using namespace std::string_literals;

std::string refusal(const std::string& name) {
  try {
    torchscript::sample(name);
    return "fine";
  } catch (const Error& e) {
    EXPECT_EQ(e.exit_code(), 3);
    EXPECT_FALSE(e.diag().hint.empty()) << name;
    return e.diag().code;
  }
}

std::string head_code(const std::string& bytes) { return wrong_kind(recognise_head(bytes), "f").diag().code; }

TEST(Recognise, SavedByTorchSave) {
  EXPECT_EQ(refusal("wrong_state_dict.pt"), "file.state-dict");
  EXPECT_EQ(refusal("wrong_checkpoint.pt"), "file.checkpoint");
  EXPECT_EQ(refusal("wrong_tensor.pt"), "file.tensor");
  EXPECT_EQ(refusal("wrong_module.pt"), "file.pickled-module");
  EXPECT_EQ(refusal("wrong_legacy.pt"), "file.legacy");
  EXPECT_EQ(refusal("wrong_pickle.pkl"), "file.pickle");
  EXPECT_EQ(refusal("wrong_bytecode.ptl"), "file.bytecode-only");
  EXPECT_EQ(refusal("lite.ptl"), "fine");
}

TEST(Recognise, NamesThePickledClass) {
  try {
    torchscript::sample("wrong_module.pt");
  } catch (const Error& e) {
    EXPECT_NE(e.diag().what.find("torch.nn.modules.linear.Linear"), std::string::npos);
  }
}

TEST(Recognise, HeadsOfOtherFiles) {
  EXPECT_EQ(head_code(""), "file.empty");
  EXPECT_EQ(head_code("PYTORCH1...."), "file.legacy");
  EXPECT_EQ(head_code("\x1c\0\0\0PTMF"s), "file.flatbuffer");
  EXPECT_EQ(head_code("\x1c\0\0\0ET12"s), "file.executorch");
  EXPECT_EQ(head_code(std::string(257, '\0') + "ustar"), "file.legacy");
  EXPECT_EQ(head_code("\x40\0\0\0\0\0\0\0{\"w\":1}"s), "file.safetensors");
  EXPECT_EQ(head_code("\x89HDF\r\n\x1a\n"), "file.hdf5");
  EXPECT_EQ(head_code("version https://git-lfs.github.com/spec/v1\n"), "file.lfs-pointer");
  EXPECT_EQ(head_code(" \n<!DOCTYPE html>"), "file.web-page");
  EXPECT_EQ(head_code("\x08\x07\x12"), "file.not-an-archive");
}

// A zip with these entries, each holding a line of text.
Recognised zip_of(const std::vector<std::string>& names) {
  std::string bytes;
  zip::Writer w([&](std::span<const std::byte> d) { bytes.append(reinterpret_cast<const char*>(d.data()), d.size()); });
  for (const auto& n : names) w.add(n, "pt2");
  w.finish();
  return recognise_zip(zip::Archive(Bytes::own(bytes), "f"));
}

TEST(Recognise, ZipsByTheirEntries) {
  EXPECT_EQ(zip_of({"a/archive_format", "a/models/model.json"}).kind, FileKind::torch_export);
  EXPECT_EQ(zip_of({"serialized_exported_program.json", "version"}).kind, FileKind::torch_export);
  EXPECT_EQ(zip_of({"a/model.json", "a/tensors/0"}).kind, FileKind::legacy_torchscript);
  EXPECT_EQ(zip_of({"a/.data/extern_modules", "a/x.py"}).kind, FileKind::torch_package);
  EXPECT_EQ(zip_of({"a/data.pkl", "a/constants.pkl"}).kind, FileKind::other_zip);
  EXPECT_EQ(zip_of({"a.npy", "b.npy"}).kind, FileKind::npz);
  EXPECT_EQ(zip_of({"word/document.xml"}).kind, FileKind::other_zip);
}

}  // namespace
}  // namespace cameo::tests
