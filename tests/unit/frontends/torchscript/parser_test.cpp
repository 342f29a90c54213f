#include <gtest/gtest.h>

#include <cmath>
#include <memory>

#include "frontends/torchscript/source.h"
#include "support/error.h"

namespace cameo::torchscript {
namespace {

struct Parsed {
  TypeTable types;
  SourceFile file;
};

std::unique_ptr<Parsed> parse(std::string_view text) {
  auto p = std::make_unique<Parsed>();
  p->file.path = "code/__torch__.py";
  p->file.prefix = "__torch__";
  p->file.text = Bytes::own(text);
  parse_source(p->file, p->types);
  return p;
}

// The statements of a function with parameters x, y: Tensor and n: int.
std::string function(std::string_view body) {
  std::string out = "def f(x: Tensor,\n    y: Tensor,\n    n: int) -> Tensor:\n";
  while (!body.empty()) {
    const auto end = body.find('\n');
    out += cat("  ", body.substr(0, end), "\n");
    body = end == body.npos ? "" : body.substr(end + 1);
  }
  return out;
}

template <class T>
const T& value_of(const Parsed& p, size_t statement = 0) {
  const auto* s = p.file.functions[0]->body[statement]->as<Assign>();
  const T* e = s ? s->values[0]->template as<T>() : nullptr;
  if (!e) throw std::runtime_error("the statement has another form");
  return *e;
}

std::string syntax_error(std::string_view text) {
  try {
    parse(text);
    return "fine";
  } catch (const Error& e) {
    EXPECT_EQ(e.diag().code, "file.script-syntax");
    return cat(e.diag().where.line, ":", e.diag().where.column, " ", e.diag().what);
  }
}

TEST(TorchScriptParser, PrintsWhatItRead) {
  const std::string_view text = R"(class Net(Module):
  __parameters__ = ["0", "w", ]
  __buffers__ = []
  __forward_pre_hooks__ = ["pre", ]
  __annotations__ = []
  __annotations__["0"] = Tensor
  w : Tensor
  in : __torch__.a.___torch_mangle_4.Sub
  padding : Final[Tuple[int, int]] = (1, 1)
  u : Final[str] = CONSTANTS.c0
  def forward(this: __torch__.Net,
    x: Optional[Tensor],
    s: str="a\\b\'\"\n\001",
    k: float=-inf) -> Tuple[Tensor, Tuple[()]]:
    a, b = torch.max(x, 0)
    c, d, = (this.in).forward(x, a, )
    e, f = b, CONSTANTS.c3
    g, = e
    h : Optional[int] = annotate(Optional[int], None)
    i: Union[int, str, Tensor] = unchecked_cast(Tensor, x)
    if isinstance(x, (list, tuple)):
      this.w = ops.prim.min([1, -2], [])
    else:
      pass
    for j in range(torch.__range_length(1, 9223372036854775807, 2)):
      while h:
        ops.prim.RaiseException("m", "builtins.ValueError")
    def __forked_function():
      return (getattr(this, "0")).forward()
    fut = fork(__forked_function)
    with __torch__.no_grad.__new__(__torch__.no_grad) as z:
      m = {"a": 1, "b": nan}
    l = [1.+2.j, inf-nanj, 0.10000000000000001, 1e+30, -0., infj]
    t = (x,)
    o = uninitialized(Dict[str, List[Future[Any]]])
    return (torch.zeros([2, 2], dtype=4, device=torch.device("cpu")), ())
class Counter:
  n : int
class Color(Enum):
  RED = -1
  GREEN = "a\b"
class Point(NamedTuple):
  x : Tensor
def helper() -> NoneType:
  return None
class Iface(ModuleInterface):
  def forward(self, x: Tensor) -> Tensor:
    pass
)";
  EXPECT_EQ(print(parse(text)->file), text);
}

TEST(TorchScriptParser, NumbersLocals) {
  const auto p = parse(function("a = torch.add(x, n)\ny, b = a, missing\nreturn b"));
  const FunctionDef& f = *p->file.functions[0];
  ASSERT_EQ(f.locals.size(), 5u);
  EXPECT_EQ(f.locals[0], "x");
  EXPECT_EQ(f.locals[3], "a");
  EXPECT_EQ(f.locals[4], "b");
  EXPECT_EQ(f.qualified_name, "__torch__.f");
  const auto* pair = f.body[1]->as<Assign>();
  EXPECT_EQ(pair->form, AssignForm::parallel);
  EXPECT_EQ(pair->targets[0].slot, 1);
  EXPECT_EQ(pair->values[0]->as<Name>()->slot, 3);
  EXPECT_EQ(pair->values[1]->as<Name>()->slot, -1);
}

TEST(TorchScriptParser, KnowsOperatorsGlobalsAndConstants) {
  const auto p = parse(function(
      "a = torch.autograd.grad(x)\nb = ops.torchvision.nms(x, y, 0.5)\nc = __torch__.g.h(x, )\nd = CONSTANTS.c12"));
  const auto* op = value_of<Call>(*p, 0).callee->as<OpName>();
  EXPECT_EQ(cat(op->ns, "::", op->name), "aten::grad");
  op = value_of<Call>(*p, 1).callee->as<OpName>();
  EXPECT_EQ(cat(op->ns, "::", op->name), "torchvision::nms");
  EXPECT_EQ(value_of<Call>(*p, 2).callee->as<GlobalName>()->name, "__torch__.g.h");
  EXPECT_EQ(value_of<ConstantRef>(*p, 3).index, 12u);
}

TEST(TorchScriptParser, LocalsShadowSpecialNames) {
  const auto p = parse(function("annotate = x\na = annotate(x)\ntorch = y\nb = torch.n"));
  EXPECT_EQ(value_of<Call>(*p, 1).callee->as<Name>()->slot, 3);
  EXPECT_EQ(value_of<Attribute>(*p, 3).object->as<Name>()->slot, 5);
}

TEST(TorchScriptParser, ReadsLiterals) {
  const auto p = parse(
      function("a = -9223372036854775808\nb = -nan\nc = 4.9406564584124654e-324\nd = -1.-2.5j\ne = \"\\141\\tb\""));
  EXPECT_EQ(value_of<IntegerLiteral>(*p, 0).value, INT64_MIN);
  EXPECT_TRUE(std::isnan(value_of<FloatLiteral>(*p, 1).value));
  EXPECT_EQ(value_of<FloatLiteral>(*p, 2).value, 5e-324);
  EXPECT_EQ(value_of<ComplexLiteral>(*p, 3).real, -1);
  EXPECT_EQ(value_of<ComplexLiteral>(*p, 3).imaginary, -2.5);
  EXPECT_EQ(value_of<StringLiteral>(*p, 4).value, "a\tb");
}

TEST(TorchScriptParser, ReadsTheHeaderLinesOfOldFiles) {
  const auto p = parse(
      "op_version_set = 1\nimport __torch__.a.16.b\nimport __torch__.c\n\n# a remark\ndef f() -> int:\n\n  return 1\n");
  EXPECT_EQ(print(p->file), "def f() -> int:\n  return 1\n");
}

TEST(TorchScriptParser, IfWithoutElseAndFilesWithoutLastNewline) {
  const auto p = parse("def f(n: int) -> int:\n  if n:\n    a = 1\n  b = 2\n  return b");
  ASSERT_EQ(p->file.functions[0]->body.size(), 3u);
  EXPECT_TRUE(p->file.functions[0]->body[0]->as<If>()->else_block.empty());
}

TEST(TorchScriptParser, TypesAreShared) {
  TypeTable types;
  EXPECT_EQ(parse_type("Dict[str, List[Optional[Tensor]]]", types),
            parse_type("Dict[str,List[Optional[Optional[Tensor]]]]", types));
  EXPECT_EQ(parse_type("Union[int, NoneType]", types), parse_type("Optional[int]", types));
  EXPECT_NE(parse_type("Tuple[()]", types), parse_type("tuple", types));
  EXPECT_EQ(to_string(*parse_type("Tuple[int, __torch__.a.B, number]", types)), "Tuple[int, __torch__.a.B, number]");
  EXPECT_THROW(parse_type("List[int", types), Error);
  EXPECT_THROW(parse_type("List[int, int]", types), Error);
  EXPECT_THROW(parse_type("int]", types), Error);
  EXPECT_THROW(parse_type("", types), Error);
}

TEST(TorchScriptParser, SaysWhereAndWhat) {
  EXPECT_EQ(syntax_error("x = 1\n"), "1:1 only classes and functions can stand here");
  EXPECT_EQ(syntax_error("def f(x: Tensr) -> int:\n  return 1\n"), "1:10 unknown type Tensr");
  EXPECT_EQ(syntax_error(function("a = torch.add(x y)")), "4:19 expected ')' or ',' in a call");
  EXPECT_EQ(syntax_error(function("a = \"abc")), "4:7 a string without its closing quote");
  EXPECT_EQ(syntax_error(function("a = 9223372036854775808")), "4:7 an integer that does not fit 64 bits");
  EXPECT_EQ(syntax_error(function("a, b = 1, 2, 3")), "4:17 an assignment with unequal numbers of names and values");
  EXPECT_EQ(syntax_error(function("a = x + y")), "4:9 the statement should end before '+'");
  EXPECT_EQ(syntax_error(function("for a in x:\n  pass")), "4:12 a for loop must go over range(count)");
  EXPECT_EQ(syntax_error(function("if x:\npass")), "4:8 an indented block is missing after ':'");
}

TEST(TorchScriptParser, RefusesTooDeepNesting) {
  const auto nest = [](size_t n) { return function(cat("a = ", std::string(n, '('), "x", std::string(n, ')'))); };
  EXPECT_EQ(syntax_error(nest(300)), "fine");
  EXPECT_NE(syntax_error(nest(5000)), "fine");
  std::string chain = "a = x";
  for (int i = 0; i < 5000; ++i) chain += "[0]";
  EXPECT_NE(syntax_error(function(chain)), "fine");
  std::string ladder, indent;
  for (int i = 0; i < 600; ++i, indent += ' ') ladder += cat(indent, "if n:\n");
  EXPECT_NE(syntax_error(function(ladder + indent + "pass")), "fine");
}

TEST(TorchScriptParser, EveryTruncationParsesOrFailsCleanly) {
  const std::string whole = function(
      "a, b, = x\nc : Optional[int] = annotate(Optional[int], None)\nif isinstance(a, (int, str)):\n"
      "  x.y = {\"k\": [1.5, -2]}\nelse:\n  pass\nreturn f(a, k=3)");
  EXPECT_EQ(print(parse(whole)->file), whole);
  for (size_t n = 0; n < whole.size(); ++n) {
    try {
      parse(whole.substr(0, n));
    } catch (const Error& e) {
      EXPECT_EQ(e.diag().code, "file.script-syntax");
    }
  }
}

}  // namespace
}  // namespace cameo::torchscript
