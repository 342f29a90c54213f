// ONNX Runtime Web in Chromium, for to_onnxruntime_web.py: jobs as JSON lines on standard input, {"model": PATH} or {"feeds": {name: {dims, data}}} with f32 as base64;
// answers as JSON lines on standard output. CHROMIUM is the browser, PACKAGES the folder node_modules.
import {createServer} from "node:http";
import {readFileSync} from "node:fs";
import {createRequire} from "node:module";
import {extname, join} from "node:path";
import {createInterface} from "node:readline";

const packages = process.env["PACKAGES"];
const {chromium} = createRequire(join(packages, "x.js"))("playwright-core");
const TYPES = {".html": "text/html", ".mjs": "text/javascript", ".wasm": "application/wasm"};
const PAGE = `<!doctype html><script type="module">
import * as ort from "/ort/ort.wasm.min.mjs";
ort.env.wasm.numThreads = 1;
const floats = (text) => new Float32Array(Uint8Array.from(atob(text), (c) => c.charCodeAt(0)).buffer);
const text = (data) => { let s = ""; for (const b of new Uint8Array(data.buffer, data.byteOffset, data.byteLength)) s += String.fromCharCode(b); return btoa(s); };
let session;
window.load = async () => { await session?.release(); session = await ort.InferenceSession.create("/model.onnx?" + Math.random(), {executionProviders: ["wasm"]}); return {}; };
window.run = async (feeds) => {
  const tensors = Object.fromEntries(Object.entries(feeds).map(([name, a]) => [name, new ort.Tensor("float32", floats(a.data), a.dims)]));
  let results;
  const times = [];
  for (let i = 0; i < 10; ++i) { const start = performance.now(); results = await session.run(tensors); times.push(performance.now() - start); }
  return {ms: times.sort((a, b) => a - b)[5], outputs: session.outputNames.map((name) => ({dims: [...results[name].dims], data: text(results[name].data)}))};
};
window.ready = true;
</script>`;

let model = null;
const server = createServer((request, response) => {
  const path = new URL(request.url, "http://localhost").pathname;
  const body = path === "/" ? PAGE : path === "/model.onnx" ? readFileSync(model) : path.startsWith("/ort/") && !path.includes("..")
    ? readFileSync(join(packages, "onnxruntime-web", "dist", path.slice(5))) : "";
  response.writeHead(200, {"Content-Type": TYPES[extname(path)] ?? (path === "/" ? "text/html" : "application/octet-stream")});
  response.end(body);
});
await new Promise((done) => server.listen(0, "127.0.0.1", done));
const browser = await chromium.launch({executablePath: process.env["CHROMIUM"], headless: true,
  args: ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"]});
const page = await browser.newPage();
await page.goto(`http://127.0.0.1:${server.address().port}/`);
await page.waitForFunction(() => window.ready, null, {timeout: 60000});

for await (const line of createInterface({input: process.stdin})) {
  const job = JSON.parse(line);
  let answer;
  try {
    if (job.model) model = job.model;
    answer = job.model ? await page.evaluate(() => window.load()) : await page.evaluate((feeds) => window.run(feeds), job.feeds);
  } catch (e) {
    answer = {error: String(e.message ?? e).split("\n")[0]};
  }
  process.stdout.write(JSON.stringify(answer) + "\n");
}
await browser.close();
server.close();
