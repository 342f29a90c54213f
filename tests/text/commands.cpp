#include "text/commands.h"

#include <algorithm>

#include "api/simplify_check.h"
#include "backends/onnx/legalise.h"
#include "backends/onnx/writer.h"
#include "frontends/onnx/reader.h"
#include "frontends/text/parse.h"
#include "ir/structure.h"
#include "lowering/complex.h"
#include "operators/call_text.h"
#include "ops/gate.h"
#include "ops/infer.h"
#include "ops/op_def.h"
#include "backends/text/print.h"
#include "ops/schema_check.h"
#include "passes/dce.h"
#include "passes/engine_set.h"
#include "passes/simplify.h"
#include "quant/insert/insert.h"
#include "runtime/reference.h"

namespace cameo::tests {

namespace {

bool has(const Arguments& arguments, std::string_view flag) {
  return std::find(arguments.begin(), arguments.end(), flag) != arguments.end();
}

// print [--onnx] [--no-types] [--listed] [--header]: the text itself.
Outcome run_print(const std::string& before, const Arguments& arguments) {
  PrintOptions o;
  o.header = has(arguments, "--header");
  o.onnx_only = has(arguments, "--onnx");
  o.value_info = !has(arguments, "--no-types");
  o.canonical_order = !has(arguments, "--listed");
  const Model m = parse(before);
  o.one_line = true;
  std::string text = print_text(m, o);
  if (text.size() > 112) {
    o.one_line = false;
    text = print_text(m, o);
    while (text.ends_with('\n')) text.pop_back();
  }
  return {.text = text};
}

// infer [--strict] [--no-fold]: with the types of all values; findings are errors.
Outcome run_infer(const std::string& before, const Arguments& arguments) {
  Model m = parse(before);
  InferOptions o;
  o.strict = has(arguments, "--strict");
  o.fold = !has(arguments, "--no-fold");
  const InferResult result = infer(m.graph, m.functions, o);
  Outcome out{.types = true};
  for (const Diag& d : result.findings) out.errors.push_back(error_line(d));
  out.model = std::move(m);
  return out;
}

// roundtrip: to text and back, to a file and back; nothing may change.
Outcome run_roundtrip(const std::string& before, const Arguments&) {
  Outcome out;
  const Model m = parse(before);
  TensorTable tensors;
  DiagSink diags;
  const StructureOptions all{.notes = true};
  const auto compare = [&](const Model& back, std::string_view way) {
    if (const auto d = structural_difference(m, back, all)) out.errors.push_back(cat(way, ": ", *d));
  };
  const std::string text = print_text(m, {.tensors = &tensors});
  compare(parse_text(text, "printed", diags, {.tensors = &tensors}), "text");
  compare(read_onnx(Bytes::own(write_onnx(m)), "", diags), "file");
  return out;
}

// verify: the graph keeps its own rules.
Outcome run_verify(const std::string& before, const Arguments&) {
  Outcome out;
  for (const Diag& d : schema_findings(parse(before))) out.errors.push_back(error_line(d));
  return out;
}

std::vector<std::string> listed(const Arguments& arguments, std::string_view flag) {
  std::vector<std::string> out;
  for (const std::string& a : arguments) {
    if (!a.starts_with(flag)) continue;
    std::string_view rest = std::string_view(a).substr(flag.size());
    while (!rest.empty()) {
      const size_t comma = std::min(rest.find(','), rest.size());
      out.emplace_back(rest.substr(0, comma));
      rest.remove_prefix(std::min(comma + 1, rest.size()));
    }
  }
  return out;
}

// simplify [--only=A,B] [--skip=A,B] [--opset=N] [--exact] [--freeze] [--unroll=N] [--zero] [--why]: near misses of
// --only are refused:, with --why.
SimplifyOptions simplify_options(const Arguments& arguments) {
  SimplifyOptions o;
  o.only = listed(arguments, "--only=");
  o.skip = listed(arguments, "--skip=");
  const auto opset = listed(arguments, "--opset="), unroll = listed(arguments, "--unroll=");
  o.opset = opset.empty() ? newest_released_opset : std::stoll(opset[0]);
  o.unroll = unroll.empty() ? 0 : std::stoll(unroll[0]);
  o.exact = has(arguments, "--exact");
  o.freeze_initializers = has(arguments, "--freeze");
  o.sizes_may_be_zero = has(arguments, "--zero");
  o.keep_misses = has(arguments, "--why");
  return o;
}

Outcome run_simplify(const std::string& before, const Arguments& arguments) {
  Model m = parse(before);
  const SimplifyResult result = simplify(m, simplify_options(arguments));
  Outcome out;
  for (const NearMiss& miss : result.misses) out.refused.push_back(cat(miss.rule, ": ", miss.why));
  out.model = std::move(m);
  return out;
}

// The stages of the engine's target set, each behind the gate, with the sizes that the case has.
EngineResult engine_stages_of(Model& m, const Arguments& arguments) {
  const auto slow = listed(arguments, "--without="), only = listed(arguments, "--only=");
  EngineTarget target;
  target.is_fast = [&](const OpInfo& op) { return std::find(slow.begin(), slow.end(), op.name) == slow.end(); };
  target.multiplies_bytes = !has(arguments, "--slow-bytes");
  target.small_bytes = has(arguments, "--tight") ? 0 : target.small_bytes;
  EngineResult all;
  forget_declared(m.graph);
  for (const EngineStage stage : engine_stages) {
    for (const NodeId n : m.graph.nodes(m.graph.main())) check_node(m.graph, n);
    EngineResult one = rewrite_for_engine(m.graph, stage, target, only, has(arguments, "--why"));
    all.ledger.insert(all.ledger.end(), one.ledger.begin(), one.ledger.end());
    all.misses.insert(all.misses.end(), one.misses.begin(), one.misses.end());
  }
  return all;
}

// engine --only=A,B [--without=OPERATOR,...] [--slow-bytes] [--tight] [--why]: operators without a fast kernel, no fast
// products of bytes, no constant larger than what it is made of.
Outcome run_engine(const std::string& before, const Arguments& arguments) {
  Model m = parse(before);
  Outcome out;
  for (const NearMiss& miss : engine_stages_of(m, arguments).misses)
    out.refused.push_back(cat(miss.rule, ": ", miss.why));
  out.model = std::move(m);
  return out;
}

// lower: one call of a torch operator, in the words of operators/call_text.h, becomes a graph of its tensors. Results
// that are no tensors (sizes, numbers) are listed.
Outcome run_lower(const std::string& before, const Arguments&) {
  Model m;
  m.opsets[""] = newest_released_opset;
  Lower on(m.graph, m.graph.main());
  ParsedCall parsed = parse_call(before, on);
  const std::vector<Arg> results = lower_call(on, *parsed.row, std::move(parsed.call));
  std::vector<ValueId> outputs;
  add_results(results, outputs);
  for (ValueId& v : outputs)
    if (is_complex(on.dtype(v))) v = pair_of(on, v);
  std::string others;
  for (const Arg& a : results)
    if (std::vector<ValueId> none; add_results({a}, none), none.empty())
      others += cat(others.empty() ? "" : ", ", arg_text(a, m.graph, false));
  m.graph.set_region_outputs(m.graph.main(), outputs);
  m.graph.label(m.graph.main()).name.assign(1, 'g');
  remove_dead_code(m.graph);
  if (outputs.empty()) return {.text = others};
  return {.text = cat(print(m, false), others.empty() ? "" : cat("\nand ", others))};
}

LegaliseCase legalised(const std::string& before, const Arguments& arguments) {
  LegaliseCase out{parse(before), 0, has(arguments, "--lossy")};
  const auto opset = listed(arguments, "--opset=");
  if (opset.empty()) throw error("use.flag", "legalise wants --opset=N");
  out.opset = std::stoll(opset[0]);
  infer(out.model.graph, out.model.functions);
  return out;
}

// legalise --opset=N [--lossy]: what the opset lacks is expanded; what cannot be is refused:.
Outcome run_legalise(const std::string& before, const Arguments& arguments) {
  LegaliseCase c = legalised(before, arguments);
  const onnx::LegaliseResult result = onnx::legalise(c.model, c.opset, {.lossy = c.lossy});
  Outcome out;
  for (const Diag& d : result.refusals) out.refused.push_back(error_line(d));
  if (out.refused.empty()) out.model = std::move(c.model);
  return out;
}

// quantize --target=NAME [--keep=A,B]: Q and DQ for the target, with the range -1 to 1 for every value.
Outcome run_quantize(const std::string& before, const Arguments& arguments) {
  Model m = parse(before);
  infer(m.graph, m.functions);
  const auto name = listed(arguments, "--target="), kept = listed(arguments, "--keep=");
  const quant::Target* target = quant::find_target(name.empty() ? "onnxruntime" : name[0]);
  if (!target) throw error("use.target", "there is no such target");
  std::set<NodeId> keep;
  for (const NodeId n : m.graph.nodes(m.graph.main()))
    if (std::find(kept.begin(), kept.end(), m.graph[m.graph[n].outputs.at(0)].name) != kept.end()) keep.insert(n);
  const quant::Selection selection(m.graph, *target, keep);
  quant::WeightCache cache;
  quant::InsertOptions how;
  how.target = target;
  how.cache = &cache;
  for (const ValueId v : selection.values())
    how.scales[selection.group(v)] = quant::scale_of({-1, 1}, target->activation);
  quant::insert(m.graph, selection, how);
  remove_dead_code(m.graph);
  Outcome out;
  out.model = std::move(m);
  return out;
}

constexpr Command table[] = {
    {"print", "the text as Cameo prints it", run_print},
    {"infer", "types and shapes of all values", run_infer},
    {"roundtrip", "to text and to a file and back", run_roundtrip},
    {"verify", "the graph's own rules", run_verify},
    {"simplify", "rewrite rules to the fixed point", run_simplify},
    {"engine", "what a session rewrites before it plans", run_engine},
    {"lower", "a call of a torch operator to a graph", run_lower},
    {"legalise", "expanded for an older opset", run_legalise},
    {"quantize", "QuantizeLinear and DequantizeLinear for a target", run_quantize},
    {"lint", "findings of rules for deployment targets", run_lint},
};

}  // namespace

std::span<const Command> commands() { return table; }

namespace {

// The reference kernels on made-up inputs, before and after.
void run_both(const Model& before, const Model& after, RulesOfCase& out) {
  for (int64_t set = 0; set < 4; ++set) {
    std::vector<Datum> inputs, wanted;
    try {
      inputs = made_up_inputs(before.graph, set, {});
      wanted = run_reference(before, inputs);
    } catch (const Error&) {
      continue;  // unknown operators, sizes that do not fit
    }
    const std::vector<Datum> found = run_reference(after, inputs);
    ++out.runs;
    for (size_t i = 0; i < wanted.size(); ++i) {
      if (wanted[i].kind == Datum::Kind::tensor && wanted[i].tensor.count() == 0)
        continue;  // beside a 0, a -1 could be anything
      const Comparison c = compare(found[i], wanted[i], {.rtol = 2e-3, .atol = 2e-3});
      if (!c.same) out.difference = cat("output ", i, " of set ", set, ": ", c.why);
    }
  }
}

}  // namespace

RulesOfCase rules_of_case(std::string_view command, const std::string& before, const Arguments& arguments) {
  const Model old = parse(before);
  Model m = old;
  RulesOfCase out{listed(arguments, "--only="), {}, 0, ""};
  const auto ledger =
      command == "engine" ? engine_stages_of(m, arguments).ledger : simplify(m, simplify_options(arguments)).ledger;
  for (const Application& a : ledger) out.applied.emplace_back(a.rule);
  run_both(old, m, out);
  return out;
}

std::vector<std::string> expansions_of_case(const std::string& before, const Arguments& arguments) {
  LegaliseCase c = legalised(before, arguments);
  const Graph& g = c.model.graph;
  std::vector<std::string> out;
  for (uint32_t i = 0; i < g.node_capacity(); ++i) {
    const NodeId n(i);
    if (g[n].dead || g[n].op->is_opaque()) continue;
    for (const Expansion& e : def(*g[n].op).rules.expansions) {
      if (c.opset >= e.below || (e.needed && !e.needed(g[n].attrs.get(), g, n, c.opset))) continue;
      if (e.exactness > Exactness::rounding && !c.lossy) continue;
      out.push_back(expansion_name(def(*g[n].op), e));
      break;
    }
  }
  return onnx::legalise(c.model, c.opset, {.lossy = c.lossy}).refusals.empty() ? out : std::vector<std::string>();
}

std::string expansion_name(const OpDef& op, const Expansion& e) {
  const auto all = op.rules.expansions;
  const auto same = std::count_if(all.begin(), all.end(), [&](const Expansion& x) { return x.below == e.below; });
  const std::string name = cat(op.name, " below ", e.below);
  return same == 1 ? name : cat(name, ", number ", &e - all.data() + 1);
}

std::vector<std::string> all_rule_names(std::string_view command) {
  std::vector<std::string> out;
  if (command == "simplify")
    for (const RuleInfo& r : rule_list()) out.emplace_back(r.name);
  else
    for (const EngineStage stage : engine_stages)
      for (const Rule* r : engine_rules(stage)) out.emplace_back(r->name);
  return out;
}

Model parse(const std::string& text) {
  DiagSink diags;
  return parse_text(text, "", diags);
}

std::string print(const Model& m, bool types) {
  PrintOptions o{.header = false, .value_info = types, .one_line = true};
  std::string text = print_text(m, o);
  if (text.size() <= 112) return text;
  o.one_line = false;
  text = print_text(m, o);
  while (text.ends_with('\n')) text.pop_back();
  return text;
}

std::string error_line(const Diag& d) {
  return cat(d.code, d.where.line ? cat(" ", d.where.line, ":", d.where.column) : "", ": ", d.what);
}

}  // namespace cameo::tests
