// The C interface, function by function, as a program calls it with a model and settings from strangers.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cameo/c.h"

namespace attack {

struct TextRelease {
  void operator()(char* text) const { cameo_release_text(text); }
};
struct ModelRelease {
  void operator()(cameo_model* model) const { cameo_release_model(model); }
};
using Text = std::unique_ptr<char, TextRelease>;
using Model = std::unique_ptr<cameo_model, ModelRelease>;

// What a call has to work with.
struct CCall {
  const cameo_model* model;
  const cameo_model* second;
  const char* file;                // the model's
  const char* out;                 // the name of the file to write
  const char* settings;            // JSON, or lines
  std::vector<std::string> lines;  // of it
  cameo_model** made;
  char** text;

  const char* line(size_t i) const { return i < lines.size() ? lines[i].c_str() : ""; }
};

struct CFunction {
  std::string_view name;
  cameo_status (*call)(const CCall& c);
};
std::span<const CFunction> c_functions();      // from model to model, or to text
std::span<const CFunction> c_run_functions();  // sessions, kernels, desks, pages

}  // namespace attack
