#include "frontends/torchscript/stored.h"
#include "support/error.h"

namespace cameo::torchscript {

namespace {
constexpr size_t most_names = 1'000'000;

class Collector {
 public:
  std::vector<NamedTensor> found;

  void visit(const StoredObject& module, const std::string& path) {
    if (++visited_ > most_names) throw error("file.too-large", "the archive's modules share parts without end");
    for (const auto wanted : {Role::parameter, Role::buffer, Role::other})
      for (size_t i = 0; i < module.attributes.size(); ++i) {
        const StoredAttribute& a = module.attributes[i];
        if (a.value->kind == StoredKind::tensor && role(module, i) == wanted)
          found.push_back({joined(path, a.name), a.value, wanted == Role::parameter, wanted == Role::buffer});
      }
    if (found.size() > most_names) throw error("file.too-large", "the archive's modules share parts without end");
    for (const StoredAttribute& a : module.attributes)
      if (a.value->kind == StoredKind::object) visit(*a.value->object, joined(path, a.name));
  }

 private:
  enum class Role { parameter, buffer, other };

  static Role role(const StoredObject& module, size_t index) {
    if (!module.cls) return Role::other;
    // Pickles list attributes in the order of their declarations.
    const auto name = module.attributes[index].name;
    const auto declared = module.cls->attributes;
    const bool in_order = index < declared.size() && declared[index].name == name;
    const AttributeDecl* d = in_order ? &declared[index] : module.cls->attribute(name);
    return !d ? Role::other : d->is_parameter ? Role::parameter : d->is_buffer ? Role::buffer : Role::other;
  }
  static std::string joined(const std::string& path, std::string_view name) {
    return path.empty() ? std::string(name) : cat(path, ".", name);
  }

  size_t visited_ = 0;
};
}  // namespace

std::vector<NamedTensor> named_tensors(const StoredObject& root) {
  Collector c;
  c.visit(root, "");
  return std::move(c.found);
}

}  // namespace cameo::torchscript
