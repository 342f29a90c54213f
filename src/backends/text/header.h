// The header of a model as text, of a graph in memory and of a file as it is: both have these members.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ir/text/writer.h"
#include "support/error.h"

namespace cameo::backends {

using TextOpsets = std::vector<std::pair<std::string, int64_t>>;  // domain and version

inline void write_opsets(text::Writer& w, const TextOpsets& opsets) {
  w << '[';
  w.separated(opsets, [&](const auto& o) {
    w.quoted(o.first);
    w << cat(" : ", o.second);
  });
  w << ']';
}

// <ir_version: 8, opset_import: ["" : 18], producer_name: "cameo", ...>
template <class M>
void write_header(text::Writer& w, const M& m, const TextOpsets& opsets, const text::StringPairs& metadata) {
  w << cat("<ir_version: ", m.ir_version, ", opset_import: ");
  write_opsets(w, opsets);
  const auto text = [&](std::string_view key, std::string_view value) {
    if (value.empty()) return;
    w << ", " << key << ": ";
    w.quoted(value);
  };
  text("producer_name", m.producer_name);
  text("producer_version", m.producer_version);
  text("domain", m.domain);
  if (m.model_version) w << cat(", model_version: ", m.model_version);
  text("doc_string", m.doc);
  if (!metadata.empty()) w << ", metadata_props: ", w.pairs(metadata);
  w << '>';
}

}  // namespace cameo::backends
