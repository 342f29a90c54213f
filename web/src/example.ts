// A model for who has none at hand: small, with modules, a block that repeats, and something to simplify.
const numbers = (n: number, f: (i: number) => number) => Array.from({length: n}, (_, i) => f(i).toFixed(3)).join(", ");

function text(): string {
  const lines: string[] = [];
  let last = "pooled";
  for (let i = 0; i < 4; ++i) {
    const path = `encoder.${i}`;
    lines.push(
      `["${path}.up/MatMul"] u${i} = MatMul(${last}, up)`, `["${path}.up/Add"] ub${i} = Add(u${i}, bias)`, `["${path}/Relu"] r${i} = Relu(ub${i})`,
      `["${path}.drop/Identity"] d${i} = Identity(r${i})`, `["${path}.down/MatMul"] w${i} = MatMul(d${i}, down)`, `["${path}/Add"] e${i} = Add(w${i}, ${last})`);
    last = `e${i}`;
  }
  return `<ir_version: 8, opset_import: ["" : 18], producer_name: "Cameo's example">
example (float[batch,3,32,32] image) => (float[batch,8] scores)
<float[8,3,3,3] kernel = {${numbers(216, (i) => Math.sin(i * 1.7) / 4)}}, float[8,16] up = {${numbers(128, (i) => Math.cos(i * 2.3) / 4)}},
 float[16] bias = {${numbers(16, (i) => i / 100)}}, float[16,8] down = {${numbers(128, (i) => Math.sin(i * 0.9) / 5)}}, float scale = {0.5}, float[8] gain = {${numbers(8, () => 1)}},
 float[8] shift = {${numbers(8, () => 0)}}>
{
  ["stem/Conv"] c = Conv<pads = [1, 1, 1, 1], strides = [2, 2]>(image, kernel)
  ["stem/Mul"] m = Mul(c, scale)
  ["stem/BatchNormalization"] n = BatchNormalization(m, gain, shift, shift, gain)
  ["stem/Relu"] a = Relu(n)
  ["pool/MaxPool"] p = MaxPool<kernel_shape = [2, 2], strides = [2, 2]>(a)
  ["pool/GlobalAveragePool"] g = GlobalAveragePool(p)
  ["pool/Flatten"] pooled = Flatten(g)
  ${lines.join("\n  ")}
  ["head/Softmax"] scores = Softmax<axis = -1>(${last})
}
`;
}

export function example(): File {
  return new File([text()], "example.onnxtxt", {type: "text/plain"});
}
