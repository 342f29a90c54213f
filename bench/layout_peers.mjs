// One graph laid out by Cameo, dagre and elkjs in the same run. Needs `make page` (npm packages) and bench_layout.
//
//   node bench/layout_peers.mjs [NODES...]        default: 300 1500 10000
//
// Each runs in a process of its own with 600 seconds; dagre gets a stack of 64 MiB.
import {execFileSync, spawnSync} from "node:child_process";
import {existsSync, mkdtempSync, writeFileSync} from "node:fs";
import {createRequire} from "node:module";
import {tmpdir} from "node:os";
import {dirname, join} from "node:path";
import {fileURLToPath} from "node:url";

const self = fileURLToPath(import.meta.url);
const root = join(dirname(self), "..");
const require = createRequire(join(root, "web", "package.json"));

// Attention blocks in a row, as a transformer has them; every 50th reads the input.
function graph(nodes) {
  const boxes = [];
  const links = [];
  const box = () => boxes.push([60 + ((boxes.length * 37) % 80), 24 + ((boxes.length * 17) % 30)]) - 1;
  const input = box();
  let last = input;
  for (let i = 0; boxes.length < nodes; ++i) {
    const [norm, q, k, v, scores, mix, sum] = Array.from({length: 7}, box);
    links.push([last, norm], [norm, q], [norm, k], [norm, v], [q, scores], [k, scores], [scores, mix], [v, mix], [mix, sum], [last, sum]);
    if (i % 50 === 49) links.push([input, mix]);
    last = sum;
  }
  return {boxes, links};
}

function dagre({boxes, links}) {
  const {graphlib, layout} = require("@dagrejs/dagre");
  const g = new graphlib.Graph();
  g.setGraph({rankdir: "TB", ranker: "longest-path"});
  g.setDefaultEdgeLabel(() => ({}));
  boxes.forEach(([width, height], i) => g.setNode(String(i), {width, height}));
  for (const [a, b] of links) g.setEdge(String(a), String(b));
  layout(g);
}

async function elk({boxes, links}) {
  const ELK = require("elkjs/lib/elk.bundled.js");
  await new ELK().layout({
    id: "root", layoutOptions: {"elk.algorithm": "layered", "elk.direction": "DOWN"},
    children: boxes.map(([width, height], i) => ({id: String(i), width, height})),
    edges: links.map(([a, b], i) => ({id: `e${i}`, sources: [String(a)], targets: [String(b)]})),
  });
}

const [, , which, count] = process.argv;
if (which === "dagre" || which === "elk") {
  const g = graph(Number(count));
  const start = performance.now();
  await (which === "dagre" ? dagre : elk)(g);
  console.log(((performance.now() - start) / 1000).toFixed(3));
} else {
  const ours = process.env["BENCH_LAYOUT"] ?? join(root, "build", "release", "bench", "bench_layout");
  if (!existsSync(ours)) throw new Error("build bench_layout first: cmake --build build/release --target bench_layout");
  const sizes = process.argv.slice(2).map(Number);
  console.log("nodes\tcameo s\tdagre s\telkjs s");
  for (const n of sizes.length ? sizes : [300, 1500, 10000]) {
    const g = graph(n);
    const path = join(mkdtempSync(join(tmpdir(), "layout-")), "graph");
    writeFileSync(path, [`${g.boxes.length} ${g.links.length}`, ...g.boxes.map((b) => b.join(" ")), ...g.links.map((l) => l.join(" "))].join("\n"));
    const own = JSON.parse(execFileSync(ours, [path], {encoding: "utf8"})).seconds;
    const peer = (name) => {
      const done = spawnSync(process.execPath, ["--stack-size=60000", self, name, String(n)],
        {encoding: "utf8", timeout: 600_000, shell: false});
      return done.status === 0 ? done.stdout.trim() : done.error?.code === "ETIMEDOUT" ? "> 600" : `failed (${/RangeError[^\n]*/.exec(done.stderr)?.[0] ?? done.signal ?? done.status})`;
    };
    console.log(`${g.boxes.length}\t${own}\t${peer("dagre")}\t${peer("elk")}`);
  }
}
