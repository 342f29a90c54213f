// What each page loads to show one model, gzipped: this one, Netron and onnxsim's module. Files are served from here, so
// that what a browser asks for is seen; nothing is installed.
//
// usage: pip download --no-deps netron -d FOLDER; unzip FOLDER/netron*.whl -d FOLDER; (cd FOLDER && npm pack onnxsim && tar xzf onnxsim*.tgz)
//        make page-wasm; (cd bench/web && npm ci); node bench/page_sizes.mjs FOLDER MODEL.onnx
import {existsSync, readdirSync, readFileSync, statSync} from "node:fs";
import {createServer} from "node:http";
import {dirname, extname, join} from "node:path";
import {fileURLToPath} from "node:url";
import {gzipSync} from "node:zlib";
import {browser} from "../web/tests/harness.mjs";

const [peers, model] = process.argv.slice(2);
const here = dirname(fileURLToPath(import.meta.url));
const kinds = {".html": "text/html", ".js": "text/javascript", ".mjs": "text/javascript", ".css": "text/css", ".json": "application/json", ".wasm": "application/wasm"};
const mb = (bytes) => `${(bytes / 1e6).toFixed(2)} MB`;
const row = (what, files, plain, packed) => console.log(`${what}: ${files} files, ${mb(plain)}, gzipped ${mb(packed)}`);

function add(what, paths) {
  const all = paths.filter(existsSync).map((p) => readFileSync(p));
  if (all.length) row(what, all.length, all.reduce((n, f) => n + f.length, 0), all.reduce((n, f) => n + gzipSync(f, {level: 9}).length, 0));
}

// What Netron's page asks for with a model in its address, until nothing more comes; the model itself aside.
async function netron(folder) {
  const asked = new Set();
  let latest = Date.now();
  const server = createServer((request, response) => {
    const name = decodeURIComponent((request.url ?? "/").split("?")[0]);
    const path = name === "/model.onnx" ? model : join(folder, name === "/" ? "index.html" : name);
    if (!existsSync(path) || !statSync(path).isFile()) return void response.writeHead(404).end();
    if (path !== model) asked.add(path);
    latest = Date.now();
    response.writeHead(200, {"content-type": kinds[extname(path)] ?? "application/octet-stream"}).end(readFileSync(path));
  });
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  const b = await browser();
  try {
    const page = await (await b.newContext()).newPage();
    await page.goto(`http://127.0.0.1:${server.address().port}/?url=/model.onnx`);
    for (const start = Date.now(); Date.now() - latest < 4000 && Date.now() - start < 60_000;) await page.waitForTimeout(500); // its page allows no eval()
  } finally {
    await b.close();
    server.close();
  }
  add("Netron, with an ONNX model", [...asked]);
}

add("Cameo, the page with the engine", [join(here, "..", "build", "page", "cameo.html")]);
add("Cameo, the page without it (cameo view)", [join(here, "..", "build", "page", "page.html")]);
if (existsSync(join(peers, "netron"))) await netron(join(peers, "netron"));
const simplifier = join(peers, "package");
if (existsSync(simplifier)) {
  const files = readdirSync(simplifier, {recursive: true}).filter((f) => /\.(wasm|[mc]?js)$/.test(f));
  add("onnxsim, the module", files.map((f) => join(simplifier, f)));
}
const ort = join(here, "web", "node_modules", "onnxruntime-web", "dist");
add("onnxruntime-web, which onnxsim's page runs models with", ["ort.wasm.min.mjs", "ort-wasm-simd-threaded.wasm", "ort-wasm-simd-threaded.mjs"].map((f) => join(ort, f)));
