// Torch operator signatures: parsed on demand from the generated list.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "support/layers.h"

namespace cameo::lowering {

std::span<const std::string_view> torch_signatures();  // generated; grouped by name, in matching order

struct SchemaType {
  enum class Kind : uint8_t {
    tensor,
    integer,
    floating,
    boolean,
    number,
    string,
    complex,
    device,
    generator,
    storage,
    stream,
    any,
    none,
    list,
    optional,
    dict,
    tuple,
    variable,
    other,
  };
  Kind kind = Kind::other;
  std::vector<SchemaType> args;  // list, optional: 1; dict: 2; tuple: any
  int fixed_size = 0;            // int[2]
  bool is_dtype = false;         // ScalarType: an int in scripts
  std::string name;              // variable, other
  std::string text() const;
};

struct SchemaParam {
  SchemaType type;
  std::string name;
  bool keyword_only = false;
  bool written = false;  // (a!)
  char alias = 0;        // the letter of (a) or (a!)
  bool has_default = false;
  std::string default_text;  // "None", "1", "[0, 0]", "\"none\""
};

struct Schema {
  std::string_view signature;
  std::string name, overload;  // "aten::add", "Tensor"
  std::vector<SchemaParam> params, returns;
  bool vararg = false;  // format(str self, ...)

  std::string full_name() const { return overload.empty() ? name : name + "." + overload; }
  bool mutates() const;
  bool is_inplace() const;  // writes its first parameter and returns it
  bool is_out() const;      // has a written keyword-only parameter
  const SchemaParam* param(std::string_view name) const;
};

// All overloads of "aten::add", in matching order; empty when there is none. Parsed once, kept for ever.
const std::vector<Schema>& schemas_of(std::string_view name);
const Schema* find_schema(std::string_view full_name);  // "aten::add.Tensor"
Schema parse_schema(std::string_view signature);        // one of ours; else throws a Bug

}  // namespace cameo::lowering
