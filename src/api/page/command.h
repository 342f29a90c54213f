// The command line that does what a call did.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cameo/convert.h"
#include "cameo/dynamic.h"
#include "cameo/edit.h"
#include "cameo/export.h"
#include "cameo/quantize.h"
#include "cameo/simplify.h"
#include "cameo/verify.h"
#include "cameo/weights.h"

namespace cameo::page {

// What a verb reads and writes.
struct Files {
  std::string in, out;
};
// "net.onnx" and "simplified" give net.simplified.onnx; an empty word net.onnx.
std::string file_after(const std::string& file, std::string_view word);

std::string plain_command(std::string_view verb, const Files& f);  // cameo VERB IN OUT
std::string simplify_command(const Files& f, const SimplifySettings& s);
std::string convert_command(const Files& f, const ConvertSettings& s);
std::string export_command(const Files& f, const ExportSettings& s);
std::string extract_command(const Files& f, const std::vector<std::string>& from, const std::vector<std::string>& to);
// Flags with their values, which are empty where a flag takes none.
std::string edit_command(const Files& f, const std::vector<std::pair<std::string_view, std::string>>& changes);
std::string merge_command(const Files& f, const std::string& second, const MergeSettings& s);

std::string check_command(const std::string& file, bool strict);
std::string diff_command(const std::string& file, const std::string& second, int64_t limit);
std::string lint_command(const std::string& file, const std::vector<std::string>& targets);
// Samples that came in several files are in a folder of that name; `pictures`: as the page makes inputs of pictures.
struct SampleFiles {
  std::string name;
  bool pictures = false;
};
std::string quantize_command(const Files& f, const SampleFiles& samples, const QuantizeSettings& s);
std::string dynamic_command(const Files& f, const DynamicSettings& s);
std::string weights_command(const Files& f, const WeightSettings& s);
// What a run is given: a file of all inputs, or a seed and sizes for made-up ones.
struct RunInputs {
  std::string file;
  int64_t seed = 0;
  std::map<std::string, int64_t> sizes;
};
std::string run_command(const std::string& file, const RunInputs& inputs, const std::vector<std::string>& keep);
std::string verify_command(const std::string& file, const std::string& reference, const VerifySettings& s);

}  // namespace cameo::page
