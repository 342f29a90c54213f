// Attributes of nodes.
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "cameo/array.h"

namespace cameo {

// {"axis", 1}, {"alpha", 0.5}, {"mode", "linear"}, {"pads", {0, pad, 0, pad}}, {"value", array}; whole numbers and
// fractions of any width.
struct Attribute {
  using Content = std::variant<int64_t, double, std::string, std::vector<int64_t>, std::vector<double>,
                               std::vector<std::string>, Array>;
  std::string name;
  Content value;

  // One of a list in braces.
  struct Number {
    template <std::integral T>
    Number(T v) : value(static_cast<double>(v)), whole(static_cast<int64_t>(v)) {}
    template <std::floating_point T>
    Number(T v) : value(static_cast<double>(v)), is_whole(false) {}
    double value;
    int64_t whole = 0;
    bool is_whole = true;
  };
  struct Text {
    template <std::convertible_to<std::string_view> T>
    requires(!std::integral<T>)  // 0 is a number
        Text(const T& v)
        : value(std::string_view(v)) {}
    std::string value;
  };

  template <std::integral T>
  Attribute(std::string n, T v) : name(std::move(n)), value(static_cast<int64_t>(v)) {}
  template <std::floating_point T>
  Attribute(std::string n, T v) : name(std::move(n)), value(static_cast<double>(v)) {}
  Attribute(std::string n, std::string_view v) : name(std::move(n)), value(std::string(v)) {}
  Attribute(std::string n, std::initializer_list<Number> v);
  Attribute(std::string n, std::initializer_list<Text> v);
  template <std::integral T>
  Attribute(std::string n, const std::vector<T>& v)
      : name(std::move(n)), value(std::vector<int64_t>(v.begin(), v.end())) {}
  template <std::floating_point T>
  Attribute(std::string n, const std::vector<T>& v)
      : name(std::move(n)), value(std::vector<double>(v.begin(), v.end())) {}
  Attribute(std::string n, std::vector<std::string> v) : name(std::move(n)), value(std::move(v)) {}
  Attribute(std::string n, Array v) : name(std::move(n)), value(std::move(v)) {}
};

}  // namespace cameo
