// Models that the tests look at, as text.

const head = `<ir_version: 8, opset_import: ["" : 18]>`;
const numbers = (n, f) => Array.from({length: n}, (_, i) => f(i).toFixed(3)).join(",");

// A small image network with an encoder of three equal blocks, and something to simplify.
export function network() {
  const conv = numbers(8 * 3 * 3 * 3, (i) => Math.sin(i * 1.7) / 3);
  const square = numbers(64, (i) => Math.cos(i * 2.3) / 4);
  const blocks = [];
  let last = "flat";
  for (let i = 0; i < 3; ++i) {
    const p = `encoder.blocks.${i}`;
    blocks.push(`["${p}.attn/MatMul"] q${i} = MatMul(${last}, w)`, `["${p}.attn/Softmax"] s${i} = Softmax<axis=-1>(q${i})`,
      `["${p}.mlp.fc/MatMul"] f${i} = MatMul(s${i}, w)`, `["${p}.mlp.act/Relu"] r${i} = Relu(f${i})`, `["${p}/Add"] b${i} = Add(${last}, r${i})`);
    last = `b${i}`;
  }
  return `${head}
net (float[batch,3,16,16] image) => (float[batch,8] scores)
<float[8,3,3,3] kernel = {${conv}}, float[8,8] w = {${square}}, float one = {1}>
{
  ["stem/Conv"] c = Conv<pads=[1,1,1,1]>(image, kernel)
  ["stem/Mul"] m = Mul(c, one)
  ["stem/Relu"] a = Relu(m)
  ["stem/Relu_1"] a2 = Relu(a)
  ["pool/GlobalAveragePool"] g = GlobalAveragePool(a2)
  ["pool/Flatten"] flat = Flatten(g)
  ${blocks.join("\n  ")}
  ["head/MatMul"] scores = MatMul(${last}, w)
}
`;
}

export const hostile = `</script><img src=x onerror="window.hacked=1">`;

export function hostileNetwork() {
  const name = hostile.replaceAll('"', '\\"');
  return `${head}
net (float[2] "${name}") => (float[2] y)
{
  ["${name}/Relu"] "${name}a" = Relu("${name}")
  ["b"] y = Neg("${name}a")
}
`;
}

// `count` nodes without modules: residual blocks in a row.
export function deep(count) {
  const lines = [];
  let last = "x";
  for (let i = 0; lines.length < count; ++i) {
    lines.push(`["n${lines.length}"] a${i} = Relu(${last})`, `["n${lines.length + 1}"] b${i} = Tanh(a${i})`, `["n${lines.length + 2}"] c${i} = Sigmoid(a${i})`,
      `["n${lines.length + 3}"] d${i} = Mul(b${i}, c${i})`, `["n${lines.length + 4}"] e${i} = Add(d${i}, ${last})`);
    last = `e${i}`;
  }
  return `${head}\ndeep (float[2,8] x) => (float[2,8] y)\n{\n${lines.join("\n")}\n["last"] y = Neg(${last})\n}\n`;
}

// An .onnx file with 24 MB of weights inside: two products by different matrices, and an Identity between them.
export function heavy() {
  const varint = (n) => {
    const out = [];
    for (; n > 127; n = Math.floor(n / 128)) out.push((n % 128) + 128);
    return Buffer.from([...out, n]);
  };
  const number = (field, n) => Buffer.concat([varint(field * 8), varint(n)]);
  const message = (field, ...parts) => {
    const inside = Buffer.concat(parts.map((p) => typeof p === "string" ? Buffer.from(p) : p));
    return Buffer.concat([varint(field * 8 + 2), varint(inside.length), inside]);
  };
  const side = 1732;
  const weight = (name, seed) => {
    const data = new Float32Array(side * side).map((_, i) => Math.sin(i * seed) / side);
    return message(5, number(1, side), number(1, side), number(2, 1), message(8, name), message(9, Buffer.from(data.buffer)));
  };
  const node = (op, inputs, output) => message(1, ...inputs.map((i) => message(1, i)), message(2, output), message(3, output), message(4, op));
  const value = (field, name) => message(field, message(1, name), message(2, message(1, number(1, 1), message(2, message(1, number(1, 1)), message(1, number(1, side))))));
  return Buffer.concat([number(1, 8), message(7, node("MatMul", ["x", "a"], "m"), node("Identity", ["m"], "i"), node("MatMul", ["i", "b"], "y"), message(2, "heavy"),
    weight("a", 0.1), weight("b", 0.2), value(11, "x"), value(12, "y")), message(8, number(2, 18))]);
}

// Models that are right, and unlike the usual ones.
export function strange() {
  const long = `very.${"long.".repeat(60)}name`;
  const wide = Array.from({length: 120}, (_, i) => `x${i}`);
  const floats = (names) => names.map((n) => `float[2] ${n}`).join(", ");
  return {
    "no nodes": `${head}\ng (float[2] x) => (float[2] x) {}`,
    "no inputs": `${head}\ng () => (float[2] y) <float[2] w = {1, 2}> { y = Relu(w) }`,
    "names from right to left": `${head}\n"مرحبا" (float[2] "قيمة الإدخال") => (float[2] "نتيجة‮تيج") { ["שלום/עולם"] "a🙂b" = Relu("قيمة الإدخال") ["名前/層"] "نتيجة‮تيج" = Neg("a🙂b") }`,
    "huge names": `${head}\n"${long}" (float[batch_${"x".repeat(200)},3] "${long}") => (float[?,3] "${long}.y") { ["${long}/Relu"] "${long}.y" = Relu("${long}") }`,
    "half precision": `${head}\ng (float16[1,4] x) => (float16[1,4] y) <float16[4,4] w = {1,0,0,0, 0,1,0,0, 0,0,1,0, 0,0,0,1}> { m = MatMul(x, w) y = Relu(m) }`,
    "quantised": `<ir_version: 9, opset_import: ["" : 21]>\ng (float[1,4] x) => (float[1,4] y) <float s = {0.5}, uint8 z = {128}, int8[4,4] w = {1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16}, int8 wz = {0}>
{ q = QuantizeLinear(x, s, z) d = DequantizeLinear(q, s, z) v = DequantizeLinear(w, s, wz) y = MatMul(d, v) }`,
    "functions and bodies": `<ir_version: 9, opset_import: ["" : 18, "own" : 1]>
g (float[2] x, bool c) => (float[2] y) {
  t = own.twice(x)
  y = If<then_branch = a () => (float[2] p) { p = Neg(t) }, else_branch = b () => (float[2] r) { r0 = own.twice(t) r = Abs(r0) }>(c)
}
<domain: "own", opset_import: ["" : 18]>
twice (u) => (v) { v = Add(u, u) }`,
    "text and numbers": `${head}\ng (string[n] s, int64[0] e) => (string[n] t, int64[0] f) { t = Identity(s) f = Neg(e) }`,
    "operators of others": `<ir_version: 8, opset_import: ["" : 18, "com.example" : 3]>\ng (float[2] x) => (float[2] y) { ["a/b"] h = com.example.Strange<alpha = 1.5, words = ["a", "b"]>(x) y = Relu(h) }`,
    "many inputs": `${head}\ng (${floats(wide)}) => (float[240] y) { y = Concat<axis = 0>(${wide.join(", ")}) }`,
  };
}
