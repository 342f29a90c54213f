// Methods that find out something: check, lint, diff, verify.
#include <algorithm>
#include <map>

#include "api/settings_json.h"

#include "api/page/call.h"
#include "api/page/command.h"
#include "cameo/check.h"
#include "cameo/edit.h"
#include "cameo/lint.h"
#include "cameo/verify.h"

namespace cameo::page {

namespace {

// By node name, and by the names of the values that a node makes.
std::map<std::string, uint32_t> items_by_name(const Tree& tree) {
  std::map<std::string, uint32_t> out;
  for (const Wire& w : tree.wires)
    if (!w.value.empty()) out.emplace(w.value, w.from);
  for (uint32_t i = 0; i < tree.nodes.size(); ++i) {
    for (const Value& v : tree.nodes[i].outputs())
      if (v.present() && !v.name().empty()) out.emplace(v.name(), tree.item_of_node[i]);
    if (const std::string name = tree.nodes[i].name(); !name.empty()) out.emplace(name, tree.item_of_node[i]);
  }
  return out;
}

// The node or value that a finding is about: "node 'conv1'", "conv1", "graph.node 3".
uint32_t item_about(const Diag& d, const std::map<std::string, uint32_t>& items) {
  const std::string& scope = d.where.scope;
  if (const auto it = items.find(scope); it != items.end()) return it->second;
  for (const std::string* text : {&scope, &d.what})
    for (size_t open = text->find('\''); open != text->npos;) {
      const size_t close = text->find('\'', open + 1);
      if (close == text->npos) break;
      if (const auto it = items.find(text->substr(open + 1, close - open - 1)); it != items.end()) return it->second;
      open = text->find('\'', close + 1);
    }
  return no_item;
}

void check_model(Call& call) {
  Opened& m = call.model();
  call.progress("checking", 0, 1);
  const bool from_file = m.verb == "open" && m.from == 0 && !call.desk.offers.count(m.file) && !m.in_memory;
  const CheckSettings settings{.types = call.flag("types", true), .strict = call.flag("strict")};
  const auto findings = from_file ? check(m.file, settings) : check(m.model, settings);
  const auto items = items_by_name(m.drawn());
  auto& w = call.out.object().key("command").value(check_command(m.file, settings.strict));
  w.key("findings").array();
  for (const Diag& d : findings) {
    const uint32_t item = item_about(d, items);
    w.object().key("finding").raw(d.render_json());
    if (item != no_item) w.key("item").value(uint64_t{item});
    w.end();
  }
  w.end().end();
}

void lint_model(Call& call) {
  const LintSettings settings = faces::lint_settings(call.json_text("settings"));
  Opened& m = call.model();
  call.progress("judging", 0, 1);
  const LintReport report = lint(m.model, settings);
  const auto items = items_by_name(m.drawn());
  auto& w = call.out.object().key("command").value(lint_command(m.file, settings.targets));
  w.key("targets").array();
  for (const LintTarget& t : lint_targets()) w.object().key("name").value(t.name).key("title").value(t.title).end();
  w.end().key("findings").array();
  for (const LintFinding& f : report.findings) {
    const Diag d{
        .severity = f.severity, .code = f.rule, .what = f.what, .because = f.source, .hint = f.cure, .where = f.where};
    w.object().key("finding").raw(d.render_json());
    if (const auto it = items.find(f.node); it != items.end() && !f.node.empty())
      w.key("item").value(uint64_t{it->second});
    w.end();
  }
  w.end().end();
}

// {"model": first, "second": N}: differences, each with the items that it is about.
void diff_models(Call& call) {
  Opened &first = call.model(), &second = call.model("second");
  const auto in_first = items_by_name(first.drawn()), in_second = items_by_name(second.drawn());
  call.progress("comparing", 0, 1);
  const int64_t limit = std::max<int64_t>(1, call.integer("limit", 1000));
  const auto all = diff(first.model, second.model, static_cast<size_t>(limit));
  auto& w = call.out.object().key("same").value(all.empty());
  w.key("command").value(diff_command(first.file, second.file, limit));
  w.key("differences").array();
  const auto write_item = [&](std::string_view key, const std::string& name, const auto& items) {
    if (const auto it = items.find(name); it != items.end()) w.key(key).value(uint64_t{it->second});
  };
  for (const Difference& d : all) {
    w.object().key("what").value(d.what).key("first").value(d.first).key("second").value(d.second);
    write_item("first_item", d.first, in_first);
    write_item("second_item", d.second, in_second);
    w.end();
  }
  w.end().end();
}

void verify_models(Call& call) {
  VerifySettings settings = faces::verify_settings(call.json_text("settings"));
  if (!settings.inputs.empty()) throw error("use.file", "the page reads no files by path");
  Opened &m = call.model(), &reference = call.model("reference");
  settings.progress = [&](const char* what, uint64_t done, uint64_t all) { return call.progress(what, done, all); };
  call.progress("running both", 0, 1);
  const Verified v = verify(m.model, reference.model, settings);
  call.out.object().key("command");
  call.out.value(verify_command(m.file, reference.file, settings));
  call.out.key("verified").raw(to_json(v)).end();
}

constexpr Method methods[] = {
    {"check", check_model}, {"lint", lint_model}, {"diff", diff_models}, {"verify", verify_models}};

}  // namespace

std::span<const Method> finding_methods() { return methods; }

}  // namespace cameo::page
