// cameo check: everything that is wrong with a model, at once.
#include "cameo/check.h"
#include "cameo/json.h"
#include "cli/verb.h"
#include "cli/verbs.h"

namespace cameo::cli {

namespace {
constexpr Flag flags[] = {
    {"strict", 0, "", "rules that onnx.checker and the engines do not enforce are errors too"},
    {"no-types", 0, "", "leave out types and shapes: check only names, operators, numbers of operands and attributes"},
};
constexpr Verb verb{
    "check",
    "IN",
    "everything onnx.checker checks, and more, against the opset the file itself imports; all findings at once",
    "cameo check net.onnx",
    flags,
    1,
    1};
}  // namespace

int check_main(Raw raw, Out& out) {
  const auto args = parse(verb, raw, out);
  if (!args) return 0;
  const std::string& path = args->operands[0];
  const auto findings = check(path, {.types = !args->has("no-types"), .strict = args->has("strict")});
  size_t errors = 0, warnings = 0;
  for (const Diag& d : findings) {
    errors += d.severity == Severity::error;
    warnings += d.severity == Severity::warning;
    out.diag(d);
  }
  if (out.json) {
    json::Writer w;
    w.object().key("file").value(path).key("errors").value(uint64_t{errors});
    w.key("warnings").value(uint64_t{warnings}).end();
    out.line(w.text());
  } else {
    out.line(cat(path, ": ",
                 errors || warnings ? cat(plural(errors, "error"), ", ", plural(warnings, "warning")) : "no findings"));
  }
  return errors ? 1 : 0;
}

}  // namespace cameo::cli
