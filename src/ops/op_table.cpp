// Joins the generated entries with the hand-written rules of every family.
#include <algorithm>
#include <map>
#include <unordered_map>

#include "ops/families.h"
#include "ops/op_def.h"
#include "ops/versions.h"
#include "support/error.h"
#include "support/name_table.h"

namespace cameo::ops {

std::span<const OpEntry> microsoft_entries();  // com.microsoft's operators that Cameo knows
std::span<const OpEntry> linger_entries();

namespace {

struct Table {
  std::vector<OpDef> ops;
  std::unordered_map<const void*, const OpDef*> by_tag;
  std::map<std::string_view, NameTable<const OpDef*>> by_name;  // in each domain

  Table() {
    std::unordered_map<const void*, const OpRules*> rules;
    for (const auto family : op_families())
      for (const OpRules& r : family())
        invariant(rules.emplace(r.attrs_tag, &r).second, "an operator has one set of rules");
    for (const auto entries : {op_entries(), microsoft_entries(), linger_entries()})
      for (const OpEntry& e : entries) {
        OpDef d;
        static_cast<OpInfo&>(d) = e.info;
        d.history = e.history;
        if (const auto it = rules.find(e.info.attrs_tag); it != rules.end()) d.rules = *it->second;
        ops.push_back(d);
      }
    for (const OpDef& d : ops) {
      by_tag[d.attrs_tag] = &d;
      by_name[d.domain].emplace(d.name, &d);
    }
  }
};

const Table& table() {
  static const Table t;
  return t;
}

}  // namespace

bool OpDef::needs_body(size_t i) const {
  const AttrSpec* spec = newest().attribute(graph_attrs[i]);
  return spec && spec->required;
}

const SchemaVersion* OpDef::at(int64_t opset) const {
  for (const auto& v : history)
    if (v.since <= opset) return &v;
  return nullptr;
}

std::span<const OpDef> all_ops() { return table().ops; }

const OpDef* find_op(std::string_view domain, std::string_view name) {
  if (domain == "ai.onnx") domain = "";
  const auto names = table().by_name.find(domain);
  const OpDef* const* found = names == table().by_name.end() ? nullptr : names->second.find(name);
  return found ? *found : nullptr;
}

int64_t newest_version(std::string_view domain) {
  static const auto newest = [] {
    std::map<std::string_view, int64_t> m;
    for (const OpDef& d : all_ops()) m[d.domain] = std::max<int64_t>(m[d.domain], d.newest().since);
    m[""] = newest_opset;
    return m;
  }();
  const auto it = newest.find(domain);
  return it == newest.end() ? 0 : it->second;
}

const OpDef& op_by_tag(const void* tag) {
  const auto it = table().by_tag.find(tag);
  invariant(it != table().by_tag.end(), "an operator of the table");
  return *it->second;
}

}  // namespace cameo::ops
