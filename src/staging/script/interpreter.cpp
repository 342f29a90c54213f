#include "staging/script/interpreter.h"

#include <algorithm>

namespace cameo::staging {

ScriptInterpreter::ScriptInterpreter(ts::Program& p, Machine& m)
    : program(p), machine(m), stored(*this), calls_(m.journals) {
  m.run_by(*this);
}

Value ScriptInterpreter::run(const ts::FunctionDef& method, std::vector<Value> args) {
  args.insert(args.begin(), root_object());
  try {
    return call_function(method, std::move(args));
  } catch (const Raised& r) {
    machine.fail_as_raised(r);
  }
}

Loc ScriptInterpreter::here() const {
  Loc loc = program.locate(pos_);
  loc.scope = scope();
  return loc;
}

const std::string& ScriptInterpreter::scope() const {
  static const std::string root;
  return calls_.empty() ? root : calls_.back().scope;
}

std::string ScriptInterpreter::user_line(const Loc& where) const {
  const auto mark = where.file.find('!');
  if (mark == where.file.npos || where.line == 0) return {};
  for (const ts::SourceFile* f : program.all_sources()) {
    if (f->path != std::string_view(where.file).substr(mark + 1)) continue;
    const std::string_view text = f->text.text();
    size_t start = 0;
    for (uint32_t line = 1; line < where.line && start != text.npos; ++line) start = text.find('\n', start) + 1;
    if (start >= text.size()) return {};
    const auto frame =
        program.user_frame(ts::Pos{f->base + static_cast<uint32_t>(start) + std::max<uint32_t>(where.column, 1) - 1});
    if (!frame) return {};
    std::string_view line = frame->text;
    while (line.starts_with(' ')) line.remove_prefix(1);
    return cat(frame->file, ":", frame->line, line.empty() ? "" : ": ", line);
  }
  return {};
}

std::string_view ScriptInterpreter::field_name(const Tuple& t, size_t field) const {
  return t.named && field < t.named->attributes.size() ? t.named->attributes[field].name : std::string_view();
}

// While it lives, a function of the program runs.
class ScriptInterpreter::Entered {
 public:
  Entered(ScriptInterpreter& s, Call call) : s_(s), caller_(s.pos_), depth_(s.calls_.size()), wanted_(s.machine, 1) {
    s.calls_.push(std::move(call));
  }
  ~Entered() {
    s_.calls_.rewind(depth_);
    s_.pos_ = caller_;
  }
  Entered(const Entered&) = delete;

 private:
  ScriptInterpreter& s_;
  ts::Pos caller_;
  size_t depth_;
  Machine::ResultsWanted wanted_;
};

Value ScriptInterpreter::call_function(const ts::FunctionDef& f, std::vector<Value> args) {
  if (calls_.size() >= machine.options.max_depth)
    machine.fail("budget.depth", cat("calls are nested more than ", machine.options.max_depth, " deep"));
  if (args.size() > f.params.size())
    machine.fail("stage.arguments",
                 cat(f.qualified_name, " takes ", f.params.size(), " arguments, ", args.size(), " were given"));
  FrameCell frame;
  frame.locals.resize(f.locals.size());
  frame.assigned.resize(f.locals.size(), false);
  for (size_t i = 0; i < f.params.size(); ++i) {
    if (i >= args.size() && !f.params[i].default_value)
      machine.fail("stage.arguments", cat(f.qualified_name, ": argument '", f.params[i].name, "' is missing"));
    frame.locals[i] = i < args.size() ? std::move(args[i]) : eval(*f.params[i].default_value);
    frame.assigned[i] = true;
  }
  std::string path = scope();
  if (!f.params.empty())
    if (const auto* self = frame.locals[0].as<ObjectRef>(); self && f.owner)
      path = machine.heap.get<ObjectCell>(self->cell).path;
  const Entered entered(*this, {machine.heap.add(std::move(frame)), &f, std::move(path)});
  const auto result = block(f.body);
  return result ? *result : Value();
}

}  // namespace cameo::staging
