#include "frontends/torchscript/program.h"

#include <gtest/gtest.h>

#include <cstring>

#include "unit/frontends/torchscript/samples.h"

namespace cameo::torchscript {
namespace {

const StoredValue& at(const StoredObject& o, std::string_view name) {
  const StoredValue* v = o.attribute(name);
  if (!v) throw std::runtime_error(cat("no attribute ", name));
  return *v;
}

const StoredTensor& tensor(const StoredObject& o, std::string_view name) { return *at(o, name).tensor; }

std::string shown(Program& p, std::string_view name) { return to_string(at(p.root(), name)); }

TEST(TorchScriptProgram, EverySampleIsReadAndPrintedAsItWas) {
  auto all = archives_below(sample_path(""));
  EXPECT_GE(all.size(), 25u);
  for (const auto& path : archives_below(CAMEO_SOURCE_DIR "/../shared/fixtures/torchvision")) all.push_back(path);
  for (const auto& path : all) {
    Program p = read_torchscript(path);
    const auto sources = p.all_sources();
    EXPECT_FALSE(sources.empty()) << path;
    for (const SourceFile* f : sources) EXPECT_EQ(print(*f), f->text.text()) << path << " " << f->path;
    EXPECT_FALSE(dump(p).empty());
  }
}

TEST(TorchScriptProgram, ModulesHaveParametersBuffersAndBytes) {
  Program p = sample("nested.pt");
  EXPECT_EQ(p.version(), 3);
  EXPECT_EQ(p.root().cls->qualified_name, "__torch__.Nested");
  const StoredObject& conv = *at(*at(*at(p.root(), "blocks").object, "0").object, "conv").object;
  EXPECT_TRUE(conv.cls->attribute("weight")->is_parameter);
  EXPECT_FALSE(conv.cls->attribute("training")->is_parameter);
  const StoredTensor& w = tensor(conv, "weight");
  EXPECT_EQ(to_string(at(conv, "weight")), "float32[2,2,3,3] @data/0 grad");
  EXPECT_EQ(p.bytes(*w.storage).size(), 2 * 2 * 3 * 3 * 4u);
  // The bytes are those of the file, at the offset told.
  EXPECT_EQ(p.bytes(*w.storage).data(), p.file().data() + *w.storage->file_offset);
  const StoredObject& bn = *at(*at(*at(p.root(), "blocks").object, "0").object, "bn").object;
  EXPECT_TRUE(bn.cls->attribute("running_mean")->is_buffer);
  EXPECT_EQ(conv.cls->constant("kernel_size")->value->as<TupleLiteral>()->items.size(), 2u);
}

TEST(TorchScriptProgram, CompressedWeightsReadTheSame) {
  Program plain = sample("nested.pt"), packed = sample("rezipped.pt");
  const StoredObject &a = *at(*at(plain.root(), "heads").object, "my_head").object,
                     &b = *at(*at(packed.root(), "heads").object, "my_head").object;
  const Storage &x = *tensor(a, "weight").storage, &y = *tensor(b, "weight").storage;
  EXPECT_FALSE(y.file_offset);
  EXPECT_EQ(plain.bytes(x).text(), packed.bytes(y).text());
  EXPECT_EQ(packed.bytes(y).data(), packed.bytes(y).data());  // unpacked once
  EXPECT_EQ(dump(plain), dump(packed));
}

TEST(TorchScriptProgram, TiedWeightsAndViewsKeepTheirIdentity) {
  Program p = sample("tied.pt");
  const StoredObject& r = p.root();
  EXPECT_EQ(&at(*at(r, "embed").object, "weight"), &at(*at(r, "out").object, "weight"));
  const Storage* base = tensor(r, "base").storage;
  for (const auto name : {"row", "turned", "every_other"}) EXPECT_EQ(tensor(r, name).storage, base) << name;
  EXPECT_EQ(shown(p, "row"), "float32[6] @data/0+12");
  EXPECT_EQ(shown(p, "turned"), "float32[6,4] strides [1,6] @data/0");
  EXPECT_EQ(shown(p, "expanded"), "float32[3,4] strides [0,0] @data/1");
  EXPECT_EQ(shown(p, "last"), "float32[1,2,3,4] strides [24,1,8,2] @data/2");
  EXPECT_EQ(shown(p, "no_elements"), "float32[0,3] @data/3");
  EXPECT_EQ(shown(p, "scalar"), "float32[] @data/4");
  EXPECT_EQ(shown(p, "none"), "None");
  float value = 0;
  std::memcpy(&value, p.bytes(*base).data() + 12 * sizeof value, sizeof value);
  EXPECT_EQ(value, 12.f);
}

TEST(TorchScriptProgram, TensorsOfEveryKind) {
  Program p = sample("dtypes.pt");
  for (const auto name : {"uint8", "int64", "float16", "complex128", "bool", "bfloat16", "float8_e5m2", "uint32"})
    EXPECT_TRUE(shown(p, cat("t_", name)).starts_with(cat(name, "[3] @"))) << name;
  EXPECT_TRUE(tensor(p.root(), "conj").conjugate);
  EXPECT_TRUE(tensor(p.root(), "neg").negative);
  EXPECT_EQ(shown(p, "q"), "quint8[2,3] @data/18 scale 0.5 zero 3");
  EXPECT_EQ(shown(p, "qc"), "qint8[2,3] @data/19 axis 0 scales (float64[2] @data/20) zeros (int64[2] @data/21)");
  EXPECT_EQ(shown(p, "coo"), "float32[3,3] sparse_coo (int64[2,3] @data/22) (float32[3] @data/23)");
  Program meta = sample("meta.pt");
  EXPECT_FALSE(tensor(meta.root(), "w").storage->has_data);
  EXPECT_THROW(meta.bytes(*tensor(meta.root(), "w").storage), Error);
}

TEST(TorchScriptProgram, ContainersHaveTheirTypes) {
  Program p = sample("containers.pt");
  EXPECT_EQ(shown(p, "ints"), "[1, -1, 300, 70000, -2147483649, 4611686018427387904] : List[int]");
  EXPECT_EQ(
      shown(p, "words"),
      "{\"a\": [float32[1] @data/1] : List[Tensor], \"\xC3\xBC\\n\\\"\": [] : List[Tensor]} : Dict[str, List[Tensor]]");
  EXPECT_EQ(shown(p, "pair"), "(7, \"seven\", 7.5)");
  EXPECT_EQ(shown(p, "number"), "complex(1, 2)");
  EXPECT_EQ(shown(p, "where"), "device(cuda:1)");
}

TEST(TorchScriptProgram, EnumsTuplesAndInterfaces) {
  Program p = sample("tuples.pt");
  const StoredValue& color = at(p.root(), "color");
  EXPECT_EQ(color.kind, StoredKind::enumeration);
  EXPECT_EQ(color.items[0]->integer, 2);
  EXPECT_EQ(p.class_of(*color.type)->item("GREEN")->value->as<IntegerLiteral>()->value, 2);
  EXPECT_EQ(p.find_class("__torch__.Point")->kind, ClassKind::named_tuple);
  Program i = sample("interfaces.pt");
  EXPECT_EQ(i.find_class("__torch__.Unary")->kind, ClassKind::module_interface);
  EXPECT_EQ(to_string(*i.root().cls->attribute("first")->type), "__torch__.Unary");
  EXPECT_EQ(at(i.root(), "first").object->cls->name, "Mul");
}

TEST(TorchScriptProgram, StateForSetstateAndNativeClasses) {
  Program p = sample("state.pt");
  ASSERT_TRUE(p.root().state);
  EXPECT_EQ(to_string(*p.root().state), "(float32[3] @data/0, 4, False)");
  Program q = sample("quantized.pt");
  const StoredObject& packed = *at(*at(*at(q.root(), "0").object, "_packed_params").object, "_packed_params").object;
  EXPECT_EQ(packed.cls, nullptr);
  EXPECT_EQ(packed.type->name, "__torch__.torch.classes.quantized.LinearPackedParamsBase");
  EXPECT_EQ(packed.state->items[0]->tensor->dtype, TorchDtype::qint8);
  EXPECT_TRUE(q.resolve("__torch__.torch.classes.quantized.LinearPackedParamsBase").native);
}

TEST(TorchScriptProgram, ResolvesDottedNames) {
  Program p = sample("objects.pt");
  const Resolved made = p.resolve("__torch__.Counter.__new__");
  EXPECT_EQ(made.cls->name, "Counter");
  EXPECT_EQ(made.rest, "__new__");
  EXPECT_EQ(made.function, nullptr);
  EXPECT_EQ(p.resolve("__torch__.Hooked.pre_hook").function->name, "pre_hook");
  EXPECT_EQ(p.root().cls->method("forward")->owner, p.root().cls);
  EXPECT_FALSE(p.resolve("__torch__.nothing.here"));
  EXPECT_FALSE(p.find_class("__torch__.Missing"));
  EXPECT_EQ(p.resolve("__torch__.torch.nn.modules.linear.___torch_mangle_9999.Linear").cls, nullptr);
  EXPECT_EQ(demangle("__torch__.a.___torch_mangle_12.Net"), "__torch__.a.Net");
  Program e = sample("tuples.pt");
  EXPECT_EQ(e.resolve("__torch__.Color.RED").rest, "RED");
}

TEST(TorchScriptProgram, ConstantsExampleInputsAndExtraFiles) {
  Program p = sample("nested_traced.pt");
  ASSERT_EQ(p.example_inputs().size(), 1u);
  EXPECT_EQ(p.example_inputs()[0].method, "forward");
  EXPECT_EQ(to_string(*p.example_inputs()[0].inputs[0]), "float32[1,2,4,4] @traced_inputs/0 no data");
  Program frozen = sample("frozen.pt");
  EXPECT_EQ(frozen.constant_count(), 2u);
  EXPECT_EQ(to_string(frozen.constant(0)), "float32[2,1,3,3] @constants/0");
  EXPECT_THROW(frozen.constant(2), Error);
  Program extra = sample("extra.pt");
  EXPECT_EQ(extra.version(), 10);
  EXPECT_EQ(extra.extra_files(), (std::vector<std::string>{"meta.json", "sub/dir.txt"}));
  EXPECT_EQ(extra.extra_file("sub/dir.txt").text(), "text");
}

TEST(TorchScriptProgram, PlacesLeadToTheUsersSource) {
  Program p = sample("loops.pt");
  const Block body = p.root().cls->method("forward")->body;
  const Stmt& first = **std::ranges::find(body, StmtKind::for_range, &Stmt::kind);
  const Loc loc = p.locate(first.pos);
  EXPECT_TRUE(loc.file.ends_with("loops.pt!code/__torch__.py"));
  EXPECT_EQ(loc.source, "    for i in range(n):");
  EXPECT_EQ(loc.column, 5u);
  const auto frame = p.user_frame(first.as<For>()->body[0]->as<Assign>()->values[0]->pos);
  ASSERT_TRUE(frame);
  EXPECT_EQ(frame->file, "/tmp/samples/make_samples.py");
  EXPECT_EQ(frame->text, "x = x + i");
  EXPECT_EQ(frame->function, "forward");
  EXPECT_EQ(p.user_frame(first.pos)->line + 1, frame->line);
}

TEST(TorchScriptProgram, TracesRememberThePythonStack) {
  Program p = sample("mixed_traced.pt");
  const FunctionDef& forward = *p.root().cls->method("forward");
  const auto all = p.user_frames(forward.body[3]->pos);
  ASSERT_GE(all.size(), 3u);
  EXPECT_EQ(all[0].function, "forward");
  EXPECT_EQ(all[0].file, "/tmp/samples/make_samples.py");
  // Inside torch.nn, the user's frame is the caller.
  const ClassDef* act = at(p.root(), "act").object->cls;
  const auto inner = p.user_frames(act->method("forward")->body.back()->pos);
  ASSERT_FALSE(inner.empty());
  EXPECT_TRUE(inner[0].file.ends_with("torch/nn/functional.py"));
  EXPECT_EQ(p.user_frame(act->method("forward")->body.back()->pos)->file, "/tmp/samples/make_samples.py");
}

TEST(TorchScriptProgram, TensorsHaveTheirStateDictNames) {
  Program p = sample("tied.pt");
  std::string names;
  for (const NamedTensor& t : named_tensors(p.root())) names += cat(t.name, t.is_parameter ? "* " : " ");
  EXPECT_EQ(
      names,
      "base row turned every_other expanded last no_elements scalar unsaved embed.weight* out.weight* same.weight* "
      "same.bias* again.weight* again.bias* ");
}

TEST(TorchScriptProgram, OldArchives) {
  Program p = sample("old/nested_traced.pt");
  EXPECT_TRUE(p.example_inputs().empty());
  EXPECT_EQ(p.root().cls->name, "Nested");
}

}  // namespace
}  // namespace cameo::torchscript
