// A program outside of Cameo: it sees only the public headers.
#include <cameo/cameo.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <locale>
#include <map>
#include <string>
#include <vector>

namespace {

struct Commas : std::numpunct<char> {
  char do_decimal_point() const override { return ','; }
  char do_thousands_sep() const override { return '.'; }
  std::string do_grouping() const override { return "\3"; }
};

int failures = 0;

void expect(bool fact, const char* what) {
  if (fact) return;
  ++failures;
  std::printf("not so: %s\n", what);
}

template <class F>
void expect_error(const std::string& code, F call) {
  try {
    call();
  } catch (const cameo::Error& e) {
    if (e.diag().code.rfind(code, 0) != 0 || e.exit_code() == 4)
      std::printf("%s", e.diag().render().c_str()), expect(false, code.c_str());
    return;
  }
  expect(false, code.c_str());
}

// The builder infers as it goes; bodies, tensors as attributes and custom operators included.
void builds() {
  cameo::Builder g("line");
  auto x = g.input("x", "f32[batch,4]");
  auto a = g.weight("a", {4}, std::vector<float>{1, 2, 3, 4});
  auto positive = g.op("Greater", {g.op("ReduceSum", {x}, {{"keepdims", 0}}), g.number(0, x)});
  auto y = g.if_else(
      positive, [&] { return std::vector{a * x}; }, [&] { return std::vector{x}; })[0];
  auto turns = g.op("Constant", {}, {{"value", cameo::Array::of({}, std::vector<int64_t>{3})}});
  auto looped = g.loop(turns, {}, {y}, [&](cameo::Var, const std::vector<cameo::Var>& carried) {
    return cameo::Builder::Turn{{}, {carried[0] + carried[0]}, {carried[0]}};
  });
  auto odd = g.op("com.example.Odd", {x});
  g.set_type(odd, "f32[batch,4]");
  g.output("y", looped[0]);
  g.output("all", looped[1]);
  expect(odd.type() == "f32[batch,4]", "a custom operator's output has the type it was given");
  expect(looped[1].type() == "f32[3,batch,4]", "what a loop gathers is stacked");
  const cameo::Model m = g.model();
  const auto y4 = cameo::Session(m).run({cameo::Array::of({1, 4}, std::vector<float>{1, 1, 1, 1})});
  expect(y4[0].as<float>()[3] == 32 && y4[1].shape == std::vector<int64_t>({3, 1, 4}), "an If and a Loop run");
  expect_error("build.name", [&] { g.input("x", "f32[2]"); });
  expect_error("build.type", [&] { g.input("z", "f3[b,6"); });
  expect_error("build.operator", [&] { g.op("NoSuchOperator", {}); });
  expect_error("build.absent", [&] { g.output("w", {}); });
  expect_error("use.opset", [&] { g.save("no.onnx", 999); });
}

// An archive is exported, walked, simplified, converted, edited, compared and run; the numbers are PyTorch's.
void carves(const std::string& data) {
  const cameo::Model archive = cameo::load(data + "/blocks.pt");
  expect(archive.is_archive(), "an archive is distinguished from a model");
  const auto exported =
      cameo::export_model(archive, {.inputs = {"x=f32[batch,6]"}, .output_names = {"y"}, .opset = 17});
  const cameo::Model model = cameo::infer(exported.model);
  expect(model.inputs()[0].type == "f32[batch,6]" && model.outputs()[0].name == "y" && model.opset() == 17,
         "inputs, outputs, opset");
  size_t weights = 0;
  for (const cameo::Node& n : model.nodes())
    for (const cameo::Value& v : n.inputs())
      if (v.present() && v.weight()) weights += v.weight()->array().bytes.size() == v.weight()->byte_size();
  expect(weights > 0, "weights can be read");
  expect(cameo::check(model).empty(), "the export is valid");
  const auto x = cameo::load_arrays(data + "/blocks_in.npz")[0].array;
  const auto wanted = cameo::load_arrays(data + "/blocks_out.npz")[0].array;
  const auto same = [&](const cameo::Model& m) {
    const auto got = cameo::Session(m).run({x})[0];
    if (got.shape != wanted.shape) return false;
    for (size_t i = 0; i < wanted.as<float>().size(); ++i)
      if (std::fabs(got.as<float>()[i] - wanted.as<float>()[i]) > 1e-5f) return false;
    return true;
  };
  expect(same(model) && same(cameo::convert(model, {.opset = 13}).model), "PyTorch's numbers, at two opsets");
  const auto small = cameo::simplify(model, {.check = 2});
  expect(small.checked == 2 && same(small.model) && cameo::diff(model, model).empty(),
         "simplified on two sets of inputs");
  const std::string bytes = model.bytes();
  const cameo::Model again = cameo::load_bytes(bytes.data(), bytes.size());
  expect(again.node_count() == model.node_count() && cameo::verify(again, model, {.random = 1}).agree,
         "a model from memory");
  const cameo::Model streamed = cameo::load_from(
      bytes.size(), [&](uint64_t at, void* into, size_t size) { std::memcpy(into, bytes.data() + at, size); });
  expect(streamed.node_count() == model.node_count(), "a model from a reader");
  const cameo::Model renamed = cameo::Editor(model).rename("x", "input").set_metadata("who", "me").apply();
  expect(renamed.inputs()[0].name == "input" && renamed.metadata().at("who") == "me" && model.inputs()[0].name == "x",
         "edits make a new model");
  expect(cameo::stats(model).parameters > 0 && !cameo::rules().empty() && cameo::operators().size() > 1000,
         "what there is");
}

// A program's operators as functions of ours say; the model shares the caller's memory.
void lowers(const std::string& data) {
  const cameo::Model archive = cameo::load(data + "/blocks.pt");
  cameo::ExportSettings settings{.inputs = {"x=f32[batch,6]"}};
  const cameo::Model plain = cameo::export_model(archive, settings).model;
  size_t calls = 0;
  settings.simplify = false;
  settings.lowerings.names = {"aten::relu"};
  settings.lowerings.call = [&](cameo::NodeBuilder& g, const cameo::LoweringCall& c) {
    ++calls;
    const cameo::Var x = c.tensor(0);
    expect(c.has_signature && x.dtype() == "f32" && x.shape()->at(0) == "batch" && !x.constant(),
           "what a lowering knows");
    return std::vector<cameo::LoweringValue>{g.op("Max", {x, g.number(0, x)})};
  };
  const auto ours = cameo::export_model(archive, settings);
  size_t maxima = 0;
  for (const cameo::Node& n : ours.model.nodes()) maxima += n.op() == "Max";
  expect(calls > 0 && maxima == calls && cameo::verify(ours.model, plain, {.sizes = {{"batch", 3}}}).agree,
         "lowerings of one's own");
  const std::string bytes = plain.bytes();
  const cameo::Model lent = cameo::load_buffer({nullptr, bytes.data(), bytes.size()}, "lent");
  const auto inputs = cameo::random_inputs(lent, 7, {{"batch", 2}});
  const auto a = cameo::Session(lent).run_values({inputs[0].second}),
             b = cameo::Session(plain).run_values({inputs[0].second});
  expect(inputs[0].second.array.shape == std::vector<int64_t>({2, 6}) && cameo::compare_values(a[0], b[0]).same,
         "a model in lent memory");
  cameo::RunValue other = b[0];
  other.array.shape.push_back(1);
  const auto compared = cameo::compare_values(a[0], other, {.other_program = true});
  expect(!compared.same && std::isinf(compared.worst), "another shape is no difference of numbers");
}

// Inputs by name and where they lie, outputs into the caller's memory, profiles, progress.
void runs() {
  cameo::Builder g("double");
  auto x = g.input("x", "f32[n]");
  g.output("y", x + x);
  const cameo::Session session(g.model(), {.threads = 1});
  const std::vector<float> in{1, 2};
  std::vector<float> out(2);
  std::vector<cameo::Step> steps;
  const auto got = session.run_named({{"x", {"f32", {2}, in.data()}}},
                                     {.profile = &steps, .into = {{"y", {out.data(), sizeof(float) * 2}}}});
  expect(out[1] == 4 && got[0].shape == std::vector<int64_t>{2} && got[0].bytes.empty() && !steps.empty(),
         "outputs in the caller's memory");
  expect_error("use.input-name", [&] { session.run_named({{"z", {"f32", {2}, in.data()}}}); });
  expect_error("run.", [&] { session.run({{"f64", {2}, in.data()}}); });
  expect_error("use.array", [&] { session.run({{"f3", {2}, in.data()}}); });
  expect_error("use.index", [&] { g.model().nodes()[0].input(7); });
  expect_error("budget.interrupted", [&] {
    cameo::simplify(g.model(), {.progress = [](const char*, uint64_t, uint64_t) { return false; }});
  });
  cameo::Model gone = g.model();
  const cameo::Model kept = std::move(gone);
  expect_error("use.moved-from", [&] { gone.node_count(); });  // NOLINT: the error is tested
  expect_error("use.opset", [&] { cameo::convert(kept, {.opset = 999}); });
}

long peak_mebibytes() {
  long kilobytes = 0;
  if (std::FILE* f = std::fopen("/proc/self/status", "r")) {
    for (char line[256]; std::fgets(line, sizeof line, f);) std::sscanf(line, "VmHWM: %ld", &kilobytes);
    std::fclose(f);
  }
  return kilobytes / 1024;
}

// An input of 256 MiB is read where it lies.
void runs_without_copies() {
  cameo::Builder g("largest");
  auto x = g.input("x", "f32[n]");
  g.output("y", g.op("ReduceMax", {x}, {{"keepdims", 0}}));
  const cameo::Session session(g.model(), {.threads = 1});
  const std::vector<float> little{1, 2}, much(size_t{64} << 20, 3.0f);
  session.run({{"f32", {2}, little.data()}});
  const long before = peak_mebibytes();
  const auto y = session.run({{"f32", {int64_t{64} << 20}, much.data()}});
  expect(y[0].as<float>()[0] == 3, "the largest of many");
  expect(peak_mebibytes() - before < 16, "an input of 256 MiB takes no memory of its own");

  cameo::Builder h("double");
  auto v = h.input("x", "f32[n]");
  h.output("y", v + v);
  const cameo::Session doubles(h.model(), {.threads = 1});
  std::vector<float> twice(much.size(), 0.0f);
  const long filled = peak_mebibytes();
  const cameo::ArrayView large{"f32", {int64_t{64} << 20}, much.data()};
  doubles.run({large}, {.into = {{"y", {twice.data(), twice.size() * sizeof(float)}}}});
  expect(twice.front() == 6 && twice.back() == 6 && peak_mebibytes() - filled < 16, "nor does an output");
  const auto own = doubles.run({large});
  expect(own[0].as<float>().back() == 6 && peak_mebibytes() - filled < 256 + 16, "but for its own memory");
  // The memory of the input: the result is put there after the run.
  doubles.run({{"f32", {int64_t{64} << 20}, twice.data()}},
              {.into = {{"y", {twice.data(), twice.size() * sizeof(float)}}}});
  expect(twice.front() == 12 && twice.back() == 12, "into the input's own memory");
}

// Values that were moved from say so, names that are wrong or given twice too.
void refuses(const std::string& data) {
  cameo::Builder g("double");
  auto x = g.input("x", "f32[n]");
  g.output("y", x + x);
  expect_error("build.name", [&] { g.output("y", x); });
  expect_error("build.name", [&] { g.weight("x", {1}, std::vector<float>{1}); });
  const cameo::Model model = g.model();
  expect_error("use.opset", [&] { model.save("no.onnx", {.opset = 999}); });
  expect_error("use.rule", [&] { cameo::simplify(model, {.skip = {"no-such-rule"}}); });
  expect_error("edit.no-value", [&] { cameo::extract(model, {"nope"}, {"y"}); });
  expect_error("edit.name", [&] { cameo::Editor(model).rename("x", "y").apply(); });
  cameo::Session session(model, {.threads = 1});
  const std::vector<float> in{1, 2};
  const cameo::ArrayView view{"f32", {2}, in.data()};
  expect_error("use.input-name", [&] { session.run_named({{"x", view}, {"x", view}}); });
  const auto made = cameo::random_inputs(model, 1, {{"n", 2}});
  expect_error("use.input-name", [&] { session.run_values({made[0], made[0]}); });
  expect_error("run.input-count", [&] { session.run({view, view}); });
  expect_error("use.value", [&] { cameo::Session(model, {.threads = -1}); });
  cameo::Editor editor(model);
  cameo::Publication files;
  const cameo::Session kept_session = std::move(session);
  const cameo::Editor kept_editor = std::move(editor);
  const cameo::Publication kept_files = std::move(files);
  expect_error("use.moved-from", [&] { session.run({view}); });  // NOLINT: the error is tested
  expect_error("use.moved-from", [&] { editor.apply(); });       // NOLINT
  expect_error("use.moved-from", [&] { files.open("a.txt"); });  // NOLINT
  expect_error("use.moved-from", [&] { files.commit(); });       // NOLINT
  const auto exports = [&](const cameo::ExportSettings& s) {
    return [&data, s] { cameo::export_model(cameo::load(data + "/blocks.pt"), s); };
  };
  expect_error("use.opset", exports({.inputs = {"x=f32[b,6]"}, .opset = 999}));
  expect_error("use.input", exports({.inputs = {"x=f32[b,6]", "x=f32[b,6]"}}));
  expect_error("use.output-names", exports({.inputs = {"x=f32[b,6]"}, .output_names = {"x"}}));
  expect_error("use.method", exports({.inputs = {"x=f32[b,6]"}, .method = "nope"}));
}

std::string text_of(const std::string& path) {
  std::string out;
  if (std::FILE* f = std::fopen(path.c_str(), "rb")) {
    for (int c; (c = std::fgetc(f)) != EOF;) out += static_cast<char>(c);
    std::fclose(f);
  }
  return out;
}

// What the command does with files: published together, with provenance, checked, reported, told as JSON.
void publishes(const std::string& data) {
  const cameo::Model archive = cameo::load(data + "/blocks.pt");
  const auto info = cameo::torchscript_info(archive);
  expect(info.methods.at(0).name == "forward" && !info.operators.empty() && info.operators[0].lowers,
         "what an archive holds");
  expect_error("use.archive", [&] { cameo::torch_export_info(archive); });
  const auto exported = cameo::export_model(
      archive, {.example_inputs = data + "/blocks_in.npz", .trace = true, .on_finding = [](const cameo::Diag&) {}});
  cameo::save_checked(exported, "blocks.onnx", {.provenance = "export"});
  const auto verified = cameo::verify_saved(exported, "blocks.onnx", data + "/blocks_out.npz");
  expect(verified.agree && verified.findings().empty() && verified.worst() < 1e-5,
         "the export gives PyTorch's numbers");
  expect(cameo::report_json(exported, {.source = "blocks.pt", .verified = verified}).find("\"lowered\"") !=
             std::string::npos,
         "a report tells what became what");
  const cameo::Model saved = cameo::load("blocks.onnx");
  expect(saved.metadata().at("cameo.command") == "export" && saved.metadata().count("cameo.source.sha256"),
         "a file says what it was made from");
  const auto coverage = cameo::shape_coverage(saved);
  expect(coverage.values > 0 && coverage.values == coverage.values_with_shape, "every shape is known");
  cameo::Publication files;
  auto ledger = files.open("ledger.jsonl");
  const auto small = cameo::simplify(saved);
  ledger.append("{}\n");
  small.model.save(files, "small.onnx");
  expect(text_of("small.onnx").empty() && text_of("ledger.jsonl").empty(),
         "nothing has its name before it is published");
  files.commit();
  expect(!text_of("small.onnx").empty() && text_of("ledger.jsonl") == "{}\n", "then all files have");
  expect_error("use.output", [&] {
    cameo::Publication twice;
    twice.open("a.txt");
    twice.open("./a.txt");
  });
  const auto half = cameo::convert(saved, {.float_type = cameo::FloatType::f16, .keep_io = true});
  expect(half.half.weights > 0 && half.half.casts > 0 && half.model.inputs()[0].type.rfind("f32", 0) == 0,
         "half precision");
  const auto inputs = cameo::load_inputs(saved, data + "/blocks_in.npz");
  cameo::save_values("y.npz", {{"y", cameo::Session(saved).run_values(inputs)[0]}});
  expect(cameo::load_arrays("y.npz").at(0).name == "y", "results as a file");
  expect(cameo::to_json(cameo::stats(saved)).find("\"macs\"") != std::string::npos, "results as JSON");
}

// What a call refuses leaves nothing behind; types and labels that are shown can be given back.
void goes_on_after_errors() {
  cameo::Builder g("net");
  auto x = g.input("x", "f32[batch, 4]"), seq = g.input("seq", "seq(f32[?, 4])");
  g.input("maybe", "optional(seq(i64[...]))");
  g.input("table", "map(i64, f32[])");
  expect_error("infer.axis", [&] { g.op("Softmax", {x}, {{"axis", 7}}); });
  expect_error("infer.split", [&] { g.op("Split", {x}, {{"num_outputs", 2}}); });
  expect_error("graph.type", [&] { g.op("Add", {x, g.ints({1})}); });
  expect_error("build.arity", [&] { g.op("Add", {x}); });
  expect_error("build.name", [&] { g.weight("", {1}, std::vector<float>{1}); });
  expect_error("build.name", [&] { g.output("", x); });
  auto w = g.weight("w", {4, 3}, std::vector<float>(12, 0.5f));
  auto hidden = g.op("MatMul", {x, w});
  g.output("y", g.op("Relu", {hidden}));
  g.output("count", g.op("SequenceLength", {seq}));
  const cameo::Model model = g.model();
  expect(model.node_count() == 3, "nodes that were refused are gone");
  expect(seq.type() == "seq(f32[?,4])" && model.inputs()[2].type == "optional(seq(i64[...]))" &&
             model.inputs()[3].type == "map(i64, f32[])",
         "types are read as they are shown");
  expect(model.opsets() == std::map<std::string, int>{{"", 18}} && model.ir_version() == 8, "what will be written");
  const std::string label = model.nodes()[0].output().label();
  const cameo::Model part = cameo::extract(model, {"x"}, {label});
  expect(label[0] == '%' && part.node_count() == 1, "a value without a name is found by its label");
  const cameo::Model named = cameo::Editor(model).rename(label, "hidden").apply();
  expect(named.graph().find("hidden") && !model.graph().find("hidden") && model.graph().find("w"), "values by name");
  const std::vector<float> numbers(12, 2.0f);
  expect_error("infer.", [&] {
    cameo::Editor(model).set_weight("w", cameo::ArrayView{"f32", {3, 4}, numbers.data()}).apply();
  });
  const cameo::Session all(model, {.threads = 1, .keep_outputs = {"*"}});
  expect(all.result_names() == std::vector<std::string>({"y", "count", label}) || all.result_names().size() == 3,
         "outputs are kept once");
  const auto array = cameo::Array::of({2}, std::vector<int32_t>{1, 2});
  expect_error("use.array", [&] { (void)array.as<float>(); });
  const cameo::Array half = cameo::Array::of("f16", {1}, "\0\x3c", 2);
  expect(array.as<uint32_t>()[1] == 2 && half.as<uint16_t>()[0] == 0x3c00, "elements by their size");
  cameo::Publication files;
  files.open("published.txt").append("x");
  files.commit();
  expect_error("use.publication", [&] { files.commit(); });
  expect_error("use.publication", [&] { files.open("more.txt"); });
  expect_error("value.range", [&] { cameo::load_from(UINT64_MAX, [](uint64_t, void*, size_t) {}); });
  expect_error("write.failed", [&] { model.save(""); });
  expect_error("file.missing", [&] { cameo::load(""); });
  expect_error("file.missing", [&] { cameo::samples_from(model, "no such folder"); });
  expect_error("use.array", [&] { cameo::ArrayView("float32", {1}, numbers.data()).byte_size(); });
}

// Numbers have points and letters are ASCII's, whatever locale the program has set.
void follows_no_locale() {
  cameo::Builder g("numbers");
  auto x = g.input("x", "f32[n,4]");
  auto i = g.op("LeakyRelu", {x}, {{"alpha", 0.25}});
  g.output("leak", i);
  g.output("y", g.op("Clip", {i, g.number(-0.5, x), g.number(1234.5, x)}));
  const cameo::Model model = g.model();
  const std::string text = model.text();
  expect(text.find("0.25") != std::string::npos && text.find("1234.5") != std::string::npos, "numbers with points");
  model.save("numbers.onnxtxt");
  expect(cameo::diff(cameo::load("numbers.onnxtxt"), model).empty(), "numbers as text are read back");
  const cameo::Model halves = cameo::Editor(model).set_attribute("leak", "alpha", "0.5").apply();
  expect(std::get<double>(halves.nodes()[0].attribute("alpha")->value) == 0.5, "an attribute from text");
  expect(cameo::nms_settings({"0.75", "0.125"}).iou == 0.75F, "0.75 is three quarters");
  expect(cameo::to_json(cameo::verify(model, model)).find(',') != std::string::npos, "JSON");
  cameo::OperatorQuery query;
  query.pattern = "INSTANCE_NORM";
  expect(!cameo::find_operators(query).empty(), "capitals and small letters");
  cameo::LimitScope limits({.seconds = 1234.5});
  const auto made = cameo::random_inputs(model, 1, {{"n", 2}});
  expect(cameo::Session(model).run_values({made[0].second})[0].array.shape[1] == 4, "it runs");
}

void says_what_is_wrong(const std::string& data) {
  expect_error("lower.no-rule",
               [&] { cameo::export_model(cameo::load(data + "/custom.pt"), {.inputs = {"x=f32[b,3]"}}); });
  expect_error("use.input", [&] { cameo::export_model(cameo::load(data + "/blocks.pt"), {.inputs = {"x=f3[b,6"}}); });
  expect_error("use.archive", [&] { cameo::load(data + "/blocks.pt").graph(); });
}

}  // namespace

int main(int count, char** arguments) {
  const std::string data = count > 1 ? arguments[1] : ".";
  if (std::getenv("LC_ALL")) std::locale::global(std::locale(""));  // sets C's too
  std::locale::global(std::locale(std::locale(), new Commas));
  builds();
  carves(data);
  lowers(data);
  runs();
  runs_without_copies();
  refuses(data);
  publishes(data);
  says_what_is_wrong(data);
  goes_on_after_errors();
  follows_no_locale();
  return failures ? 1 : 0;
}
