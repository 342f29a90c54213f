// Methods that run a model: inputs made up or given, every value on the way, and where the time goes.
#include <algorithm>
#include <chrono>

#include "formats/npy.h"
#include "runtime/arrays.h"

#include "api/page/call.h"
#include "api/page/command.h"
#include "api/page/numbers.h"
#include "api/state.h"
#include "cameo/verify.h"

namespace cameo::page {

namespace {

// {"name", "dtype", "shape", "blob"}: raw numbers; {"name", "npy": blob}: an .npy file.
NamedValue given_input(Call& call, const json::Value& v) {
  if (!v.is_object()) throw error("use.params", "an input is an object");
  std::string name(v["name"].text());
  if (const json::Value npy = v.present("npy")) {
    const npy::Array array = npy::plain(npy::read(bytes_of(call.given(npy.integer())), name));
    return {name, shared_of(runtime::to_tensor(array, ir::DType::undefined, name))};
  }
  SharedArray a;
  a.dtype = std::string(v["dtype"].text());
  for (const json::Value size : v["shape"].elements()) a.shape.push_back(size.integer());
  a.memory = call.given(v["blob"].integer());
  tensor_of(a, name);  // throws where they do not go together
  return {name, std::move(a)};
}

}  // namespace

std::vector<NamedValue> given_inputs(Call& call, const json::Value& list) {
  std::vector<NamedValue> out;
  if (!list) return out;
  for (const json::Value v : list.elements()) out.push_back(given_input(call, v));
  return out;
}

// An .npz as a whole: keys are input names, or x0, x1, ... in order.
void add_archive(Call& call, const Model& model, const Buffer& file, std::vector<NamedValue>& out) {
  const auto inputs = model.inputs();
  for (const npy::Named& n : npy::read_npz(bytes_of(file), "inputs.npz")) {
    std::string name = n.name;
    for (size_t i = 0; i < inputs.size(); ++i)
      if (name == cat("x", i) &&
          std::none_of(inputs.begin(), inputs.end(), [&](const auto& in) { return in.name == n.name; }))
        name = inputs[i].name;
    out.emplace_back(name, shared_of(runtime::to_tensor(npy::plain(n.array), ir::DType::undefined, name)));
  }
  call.progress("reading inputs", 1, 1);
}

namespace {

// Inputs that were given; the rest made up.
std::vector<NamedValue> inputs_of(Call& call, const Model& model) {
  std::vector<NamedValue> out = given_inputs(call, call.value("inputs"));
  if (call.has("npz")) add_archive(call, model, call.given(call.integer("npz", 0)), out);
  std::map<std::string, int64_t> sizes = call.sizes("sizes");
  const auto needed = model.inputs();
  const auto is_given = [&](const std::string& name) {
    return std::any_of(out.begin(), out.end(), [&](const NamedValue& v) { return v.first == name; });
  };
  if (std::all_of(needed.begin(), needed.end(), [&](const ValueInfo& v) { return is_given(v.name); })) return out;
  for (auto& [name, value] : random_inputs(model, static_cast<uint64_t>(call.integer("seed", 0)), sizes))
    if (!is_given(name)) out.emplace_back(name, std::move(value));
  return out;
}

void write_run_value(json::Writer& w, const std::string& name, const RunValue& v) {
  w.object().key("name").value(name);
  constexpr std::string_view kinds[] = {"nothing", "array", "sequence", "map"};
  w.key("kind").value(kinds[static_cast<size_t>(v.kind)]);
  if (v.kind == RunValue::Kind::array) {
    w.key("array");
    write_array(w, v.array, name);
  } else w.key("items").value(uint64_t{v.items.size()});
  w.end();
}

void inputs(Call& call) {
  auto& w = call.out.object().key("inputs").array();
  for (const auto& [name, value] : inputs_of(call, call.model().with_types())) write_run_value(w, name, value);
  w.end().key("sizes").object();
  for (const auto& [name, size] : free_sizes(call.model().with_types(), call.sizes("sizes"))) w.key(name).value(size);
  w.end().end();
}

void write_steps(json::Writer& w, const std::vector<Step>& steps, const Tree& tree) {
  std::map<std::string, uint32_t> items;
  for (uint32_t i = 0; i < tree.nodes.size(); ++i) items.emplace(tree.nodes[i].name(), tree.item_of_node[i]);
  w.key("steps").array();
  for (const Step& s : steps) {
    w.object().key("node").value(s.node).key("op").value(s.op).key("kernel").value(s.kernel);
    w.key("start_us").value(s.start_us).key("length_us").value(s.length_us);
    if (const auto it = items.find(s.node); it != items.end() && !s.node.empty())
      w.key("item").value(uint64_t{it->second});
    w.end();
  }
  w.end();
}

// What a terminal gives the model for the same. Inputs that came in several files, or with made-up ones beside them,
// are in one file once the page has saved them (`values`).
std::string command_of(Call& call, const std::vector<std::string>& keep) {
  const bool given = call.has("inputs") || call.has("npz");
  const RunInputs inputs{call.text("file", given ? "inputs.npz" : ""), call.integer("seed", 0), call.sizes("sizes")};
  return run_command(call.model().file, inputs, keep);
}

// {"keep": [names with * and ?]}: inner values to look at; "repeat": the fastest of so many runs is told; "file": the
// one file that all inputs came from. The values stay on the desk under "run".
void run(Call& call) {
  Opened& m = call.model();
  std::vector<NamedValue> values = inputs_of(call, m.with_types());
  const size_t inputs = values.size();
  const std::vector<std::string> keep = call.texts("keep");
  call.progress("preparing", 0, 3);
  const Session session(m.model, {.threads = call.desk.settings.threads, .keep_outputs = keep});
  call.progress("running", 1, 3);
  std::vector<Step> steps;
  const bool warm = call.flag("warm", true);
  if (warm) session.run_values(values);  // packs weights: not where the time of a model goes
  std::vector<RunValue> results;
  double ms = 0;
  const int64_t repeat = std::clamp<int64_t>(call.integer("repeat", 1), 1, 1000);
  for (int64_t i = 0; i < repeat; ++i) {
    std::vector<Step> took;
    const auto start = std::chrono::steady_clock::now();
    results = session.run_values(values, &took);
    const double one = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
    if (i == 0 || one < ms) ms = one, steps = std::move(took);
  }
  call.progress("summarising", 2, 3);
  const auto names = session.result_names();
  const size_t outputs = session.outputs().size();
  auto& w = call.out.object().key("run").value(call.desk.next).key("milliseconds").value(ms);
  w.key("command").value(command_of(call, keep));
  w.key("threads").value(session.threads()).key("arena_bytes").value(session.arena_bytes());
  w.key("inputs").array();
  for (const auto& [name, value] : values) write_run_value(w, name, value);
  w.end().key("outputs").array();
  for (size_t i = 0; i < results.size(); ++i) {
    if (i == outputs) w.end().key("inner").array();
    write_run_value(w, names[i], results[i]);
  }
  w.end();
  write_steps(w, steps, m.drawn());
  w.end();
  for (size_t i = 0; i < results.size(); ++i) values.emplace_back(names[i], std::move(results[i]));
  call.desk.runs.clear();  // one at a time: values can be large
  call.desk.runs.emplace(call.desk.next++, Ran{call.handle(), std::move(values), inputs});
}

const Ran& kept(Call& call) {
  const auto it = call.desk.runs.find(call.integer("run", 0));
  if (it == call.desk.runs.end()) throw error("use.run", "the values of this run are no longer kept").help("run again");
  return it->second;
}

// {"run": N, "value": NAME}: its numbers as a blob.
void value(Call& call) {
  const std::string name = call.need_text("value");
  for (const auto& [known, v] : kept(call).values) {
    if (known != name) continue;
    call.out.object().key("value");
    write_run_value(call.out, name, v);
    if (v.kind == RunValue::Kind::array)
      if (const auto blob = call.give(v.array.memory)) call.out.key("blob").value(*blob);
    call.out.end();
    return;
  }
  throw error("use.value", cat("the run has no value '", name, "'"));
}

// {"run": N, "of": "inputs" or "outputs", "name": NAME}: an .npz, as `cameo run -o` writes it.
void values(Call& call) {
  const Ran& ran = kept(call);
  const std::string name = call.need_text("name"), of = call.need_text("of");
  if (of != "inputs" && of != "outputs") throw error("use.params", "the parameter 'of' is \"inputs\" or \"outputs\"");
  const auto middle = ran.values.begin() + static_cast<std::ptrdiff_t>(ran.inputs);
  const std::vector<NamedValue> chosen =
      of == "inputs" ? std::vector(ran.values.begin(), middle) : std::vector(middle, ran.values.end());
  give_written(call, name, [&](const std::string& folder) {
    save_values(cat(folder, "/", name), chosen);
    return std::vector<std::string>{name};
  });
}

constexpr Method methods[] = {{"inputs", inputs}, {"run", run}, {"value", value}, {"values", values}};

}  // namespace

std::span<const Method> run_methods() { return methods; }

}  // namespace cameo::page
