// cameo.lint: findings as tuples.
#include "cameo/lint.h"

#include <nanobind/stl/string.h>

#include "bindings.h"
#include "reports.h"
#include "words.h"

namespace cameo::python {

namespace {

constexpr const char* words[] = {"note", "warning", "error"};

}  // namespace

nb::tuple report_tuple(const LintReport& report) {
  nb::list all, findings;
  for (const LintTarget& t : report.targets) all.append(nb::make_tuple(t.name, t.version));
  for (const LintFinding& f : report.findings)
    findings.append(nb::make_tuple(words[static_cast<size_t>(f.severity)], f.target, f.rule, name_text(f.node),
                                   name_text(f.op), name_text(f.what), f.source, name_text(in_python(f.cure)),
                                   f.fixable, f.version));
  return nb::make_tuple(all, findings, report.ignored, to_sarif(report));
}

namespace {

nb::tuple lint_model(const Model& m, nb::dict given) {
  Options o(std::move(given));
  LintSettings settings;
  settings.targets = o.texts("targets");
  settings.ignore = o.texts("ignore");
  o.finish();
  return report_tuple(released([&] { return lint(m, settings); }));
}

// (model, report before, report after, [(cure, done, why), ...])
nb::tuple fix_model(const Model& m, nb::dict given) {
  Options o(std::move(given));
  LintFixSettings settings;
  settings.targets = o.texts("targets");
  settings.ignore = o.texts("ignore");
  settings.verify = o.flag("verify", true);
  settings.progress = progress_of(o.object("progress"));
  if (nb::object shapes = o.object("input_shapes"); !shapes.is_none())
    for (nb::handle entry : entries(shapes))
      settings.input_shapes[nb::cast<std::string>(entry[0])] = text_list(nb::object(entry[1]));
  settings.sizes = sizes_of(o.object("sizes"));
  o.finish();
  LintFixed f = released([&] { return fix_lint(m, settings); });
  nb::list steps;
  for (const LintStep& s : f.steps) steps.append(nb::make_tuple(s.cure, s.done, name_text(in_python(s.why))));
  return nb::make_tuple(std::move(f.model), report_tuple(f.before), report_tuple(f.after), steps);
}

nb::list targets() {
  nb::list out;
  for (const LintTarget& t : lint_targets()) out.append(nb::make_tuple(t.name, t.version));
  return out;
}

// [(rule, severity, when, what, source, cure), ...]
nb::list rules_of(nb::list names) {
  nb::list out;
  for (const LintRule& r : lint_rules(text_list(names)))
    out.append(nb::make_tuple(r.rule, words[static_cast<size_t>(r.severity)], r.when, r.what, r.source, r.cure));
  return out;
}

}  // namespace

void bind_lint(nb::module_& m) {
  m.def("lint", &lint_model);
  m.def("fix_lint", &fix_model);
  m.def("lint_targets", &targets);
  m.def("lint_rules", &rules_of);
}

}  // namespace cameo::python
