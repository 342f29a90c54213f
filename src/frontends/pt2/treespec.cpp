// Pytree specifications: how nested results were flattened. A path names each leaf.
#include "frontends/pt2/program_state.h"

namespace cameo::pt2 {

namespace {
constexpr int deepest = 64;

class Paths {
 public:
  explicit Paths(json::Value fields) : fields_(fields) {}

  void walk(json::Value node, const std::string& path, int depth) {
    const json::Value type = node.present("type");
    if (!type) {
      all.push_back(path);
      return;
    }
    if (depth > deepest) node.fail("results nested too deeply");
    const json::Value children = node["children_spec"];
    const auto labels = labels_of(type.text(), node.find("context"), children.size());
    size_t i = 0;
    for (const json::Value child : children.elements())
      walk(child, path.empty() ? labels[i] : cat(path, ".", labels[i]), depth + 1), ++i;
  }

  std::vector<std::string> all;

 private:
  std::vector<std::string> labels_of(std::string_view type, json::Value context, size_t count) const {
    std::vector<std::string> labels;
    if (type == "collections.namedtuple" && fields_ && context && context.is_string()) {
      if (const json::Value known = fields_.find(context.text()))
        for (const json::Value f : known["field_names"].elements()) labels.emplace_back(f.text());
    } else if (context && context.is_object() && context.find("dict_context"))
      labels = keys_of(context["dict_context"]);
    else if (context && context.is_string()) labels = keys_in(context.text());
    if (labels.size() != count) {
      labels.clear();
      for (size_t i = 0; i < count; ++i) labels.push_back(cat(i));
    }
    return labels;
  }

  // A JSON text with a list of keys; a dataclass has two lists, of the fields that are there and of those that are
  // None.
  static std::vector<std::string> keys_in(std::string_view text) {
    try {
      const json::Document doc(Bytes::own(text), "context");
      json::Value list = doc.root();
      if (!list.is_array()) return {};
      if (list.size() == 2 && list[size_t{0}].is_array()) list = list[size_t{0}];
      return keys_of(list);
    } catch (const Error&) {
      return {};  // a class's own text: indices name its parts
    }
  }

  static std::vector<std::string> keys_of(json::Value list) {
    std::vector<std::string> labels;
    if (!list.is_array()) return labels;
    for (const json::Value k : list.elements()) {
      if (k.is_string()) labels.emplace_back(k.text());
      else if (k.kind() == json::Kind::integer) labels.push_back(cat(k.integer()));
      else return {};
    }
    return labels;
  }

  json::Value fields_;
};
}  // namespace

std::vector<std::string> leaf_paths(std::string_view spec, json::Value namedtuple_fields) {
  const json::Document doc(Bytes::own(spec), "out_spec");
  const json::Value root = doc.root();
  if (!root.is_array() || root.size() != 2) return {};
  Paths paths(namedtuple_fields);
  paths.walk(root[size_t{1}], "", 0);
  return std::move(paths.all);
}

}  // namespace cameo::pt2
