// include/cameo/lint.h: cures one after the other, each verified.
#include "api/lint/fix.h"

#include <algorithm>
#include <set>

#include "support/progress.h"

#include "cameo/json.h"
#include "cameo/session.h"
#include "cameo/verify.h"

namespace cameo {

namespace {

using linting::Ailment;
using linting::Cure;
using linting::Diagnosis;

std::string text_of(const Cure& c) {
  std::string out = c.name;
  for (const std::string& w : c.words) out += cat(" ", w);
  return out;
}

// The next cure that was not tried: errors before warnings, then in the order of treatments.
const Ailment* next_ailment(const Diagnosis& d, const std::set<std::string>& tried) {
  const Ailment* best = nullptr;
  const auto rank = [](const Ailment& a) {
    return std::pair(a.found.severity == Severity::error ? 0 : 1, linting::order_of(a.found.cure));
  };
  for (const Ailment& a : d.all) {
    if (a.found.severity == Severity::note || !linting::is_fixable(a.found.cure)) continue;
    if (tried.contains(text_of(a.found.cure))) continue;
    if (!best || rank(a) < rank(*best)) best = &a;
  }
  return best;
}

size_t errors_of(const Diagnosis& d) {
  return static_cast<size_t>(
      std::count_if(d.all.begin(), d.all.end(), [](const Ailment& a) { return a.found.severity == Severity::error; }));
}

// Findings of that cure are left as they were, and so are errors.
bool cures_nothing(const Diagnosis& before, const Diagnosis& after, const Cure& cure) {
  const auto count = [&](const Diagnosis& d) {
    return std::count_if(d.all.begin(), d.all.end(), [&](const Ailment& a) { return a.found.cure == cure; });
  };
  return count(after) >= count(before) && errors_of(after) >= errors_of(before);
}

// An input whose element type changed: the model as given takes its numbers in that type.
Model with_types_of(const Model& given, const Model& changed) {
  if (given.inputs().empty() || changed.inputs().empty() ||
      given.inputs()[0].type.substr(0, 3) == changed.inputs()[0].type.substr(0, 3))
    return given;
  return linting::cured(given, {"f32", {}}, {}, {});
}

// Other forms of an operator round otherwise.
constexpr double rtol = 1e-3, atol = 1e-4;

// Fast kernels sum integers exactly, and floats not; a sum between two levels may then be taken for the other one. The
// reference kernels compute both models in floats.
bool same_by_reference(const Model& changed, const Model& given) {
  const auto inputs = random_inputs(given);
  const SessionSettings how{.reference = true};
  const auto got = Session(changed, how).run_values(inputs), wanted = Session(given, how).run_values(inputs);
  for (size_t i = 0; i < wanted.size(); ++i)
    if (!compare_values(got.at(i), wanted[i], {.rtol = rtol, .atol = atol}).same) return false;
  return true;
}

std::string difference(const Model& changed, const Model& given_model, const Cure& cure) {
  const Model given = with_types_of(given_model, changed);
  VerifySettings how;
  how.rtol = rtol;
  how.atol = atol;
  const Verified v = verify(changed, given, how);
  if (v.agree || (cure.name == "float-grid" && same_by_reference(changed, given))) return "";
  return cat("it changes the results: ", v.findings().front().what);
}

class Fixer {
 public:
  Fixer(const Model& model, const LintFixSettings& settings)
      : given_(model), model_(model), settings_(settings), now_(linting::diagnose(model, settings)) {}

  void run() {
    for (int turn = 0; turn < most_turns; ++turn) {
      const Ailment* next = next_ailment(now_, tried_);
      if (!next) return;
      support::tell_progress("curing", steps.size(), 0);
      step(*next);
    }
  }

  Model given_, model_;
  std::vector<LintStep> steps;

 private:
  static constexpr int most_turns = 32;

  void step(const Ailment& a) {
    const Cure cure = a.found.cure;
    tried_.insert(text_of(cure));
    LintStep made{text_of(cure),
                  linting::command_text(cure, a.target->name, "NODE", a.found.node ? a.found.node->op : ""), false, ""};
    try {
      Model changed = linting::cured(model_, cure, now_, settings_);
      Diagnosis after = linting::diagnose(changed, settings_);
      if (errors_of(after) > errors_of(now_)) made.why = "it adds errors";
      else if (cures_nothing(now_, after, cure)) made.why = "it cures nothing";
      else if (settings_.verify) made.why = difference(changed, given_, cure);
      if (made.why.empty()) accept(std::move(changed), std::move(after), cure);
      made.done = made.why.empty();
    } catch (const Error& e) {
      if (e.exit_code() != 1 || support::ends_work(e)) throw;
      made.why = e.diag().what;
    }
    steps.push_back(std::move(made));
  }

  // What an expansion is made of may need one more, and so may what simplifying leaves.
  void accept(Model changed, Diagnosis after, const Cure& cure) {
    model_ = std::move(changed);
    if (errors_of(after) < errors_of(now_)) tried_.erase("expand"), tried_.erase("widen");
    if (cure.name == "fixed-sizes") tried_.insert("simplify");
    now_ = std::move(after);
  }

  const LintFixSettings& settings_;
  Diagnosis now_;
  std::set<std::string> tried_;
};

}  // namespace

LintFixed fix_lint(const Model& model, const LintFixSettings& settings) {
  const support::ProgressScope told(settings.progress);
  const LintSettings how{settings.targets, settings.ignore};
  Fixer fixer(linting::exported_if_archive(model), settings);
  LintReport before = lint(fixer.given_, how);
  fixer.run();
  return {fixer.model_, std::move(before), lint(fixer.model_, how), std::move(fixer.steps)};
}

std::string to_json(const LintFixed& fixed, const std::string& file) {
  json::Writer w;
  w.object().key("steps").array();
  for (const LintStep& s : fixed.steps) {
    w.object().key("cure").value(s.cure).key("command").value(s.command).key("done").value(s.done);
    if (!s.why.empty()) w.key("why").value(s.why);
    w.end();
  }
  w.end().key("before").raw(to_json(fixed.before, file)).key("after").raw(to_json(fixed.after, file));
  return w.end().text();
}

}  // namespace cameo
