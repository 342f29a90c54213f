// Attributes of nodes.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "cameo/array.h"

namespace cameo {

// {"axis", 1}, {"alpha", 0.5}, {"mode", "linear"}, {"pads", {1, 1, 1, 1}}, {"value", array}
struct Attribute {
  using Content = std::variant<int64_t, double, std::string, std::vector<int64_t>, std::vector<double>,
                               std::vector<std::string>, Array>;
  std::string name;
  Content value;

  Attribute(std::string n, int v) : name(std::move(n)), value(int64_t{v}) {}
  Attribute(std::string n, int64_t v) : name(std::move(n)), value(v) {}
  Attribute(std::string n, double v) : name(std::move(n)), value(v) {}
  Attribute(std::string n, const char* v) : name(std::move(n)), value(std::string(v)) {}
  Attribute(std::string n, std::string v) : name(std::move(n)), value(std::move(v)) {}
  Attribute(std::string n, std::initializer_list<int> v)
      : name(std::move(n)), value(std::vector<int64_t>(v.begin(), v.end())) {}
  Attribute(std::string n, std::initializer_list<double> v) : name(std::move(n)), value(std::vector<double>(v)) {}
  Attribute(std::string n, std::initializer_list<const char*> v)
      : name(std::move(n)), value(std::vector<std::string>(v.begin(), v.end())) {}
  Attribute(std::string n, std::vector<int64_t> v) : name(std::move(n)), value(std::move(v)) {}
  Attribute(std::string n, std::vector<double> v) : name(std::move(n)), value(std::move(v)) {}
  Attribute(std::string n, std::vector<std::string> v) : name(std::move(n)), value(std::move(v)) {}
  Attribute(std::string n, Array v) : name(std::move(n)), value(std::move(v)) {}
};

}  // namespace cameo
