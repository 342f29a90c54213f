// The page with the engine in the tab, in Chromium, from disk with the network blocked: what it loads, a ResNet-50 from
// archive to file, models of 6 GB, and the engine beside onnxruntime-web, one thread each.
//
// usage: bench/page_models.py FOLDER CAMEO; (cd bench/web && npm ci); node bench/page_tab.mjs FOLDER CAMEO [sizes resnet50 threads large engine]
import {execFileSync} from "node:child_process";
import {createReadStream, existsSync, mkdtempSync, readFileSync, rmSync, statSync} from "node:fs";
import {createServer} from "node:http";
import {tmpdir} from "node:os";
import {basename, dirname, join} from "node:path";
import {fileURLToPath} from "node:url";
import {gzipSync} from "node:zlib";
import {browser, hosted, lasting, open, openTab, site, tab, withPickers} from "../web/tests/harness.mjs";

const [models, cameo, ...asked] = process.argv.slice(2);
const here = dirname(fileURLToPath(import.meta.url));
const wanted = (part) => !asked.length || asked.includes(part);
const seconds = (ms) => `${(ms / 1000).toFixed(2)} s`;
if (!tab) throw new Error("make page-wasm builds the page first");

function sizes() {
  const page = readFileSync(fileURLToPath(tab)), ort = join(here, "web", "node_modules", "onnxruntime-web", "dist");
  console.log(`the page, engine included: ${page.length} bytes, ${gzipSync(page, {level: 9}).length} gzipped`);
  const module = readFileSync(join(here, "..", "build", "wasm", "wasm", "cameo.wasm"));
  console.log(`the module: ${module.length} bytes, ${gzipSync(module, {level: 9}).length} gzipped`);
  for (const name of ["ort-wasm-simd-threaded.wasm", "ort-wasm-simd-threaded.jsep.wasm"])
    if (existsSync(join(ort, name))) console.log(`${name}: ${gzipSync(readFileSync(join(ort, name)), {level: 9}).length} gzipped`);
}

// Memory of the module after the last call, in MB.
const heap = async (page) => Math.round(await page.evaluate(() => window.cameo.engine.heap) / 1e6);

// Seconds of processor that the pages took so far, their workers included: what a busy machine changes little.
async function processor(b) {
  const {processInfo} = await (session ??= await b.newBrowserCDPSession()).send("SystemInfo.getProcessInfo");
  return processInfo.filter((p) => p.type === "renderer").reduce((sum, p) => sum + p.cpuTime, 0);
}
let session = null;

// A step of the page, timed in the page.
async function timed(page, what, ...rest) {
  const took = await page.evaluate(async ([name, args]) => {
    const start = performance.now();
    await window.cameo[name](...args);
    if (window.cameo.state.errors.length) throw new Error(JSON.stringify(window.cameo.state.errors));
    return performance.now() - start;
  }, [what, rest]);
  return took;
}

async function chosen(page, ...files) {
  await page.evaluate(() => {
    const before = window.cameo.openFiles.bind(window.cameo);
    window.opened = null;
    window.cameo.openFiles = async (list) => {
      const start = performance.now();
      await before(list);
      window.opened = performance.now() - start;
    };
  });
  await page.locator('[data-test="file"]').setInputFiles(files.map((f) => join(models, f)));
  await page.waitForFunction(() => window.opened !== null, undefined, {timeout: 120_000});
  const errors = await page.evaluate(() => window.cameo.state.errors);
  if (errors.length) throw new Error(JSON.stringify(errors));
  return await page.evaluate(() => window.opened);
}

async function download(page, act) {
  const coming = page.waitForEvent("download", {timeout: 300_000});
  const took = await act();
  return {path: await (await coming).path(), took};
}

async function resnet50(b) {
  for (let round = 0; round < 3; ++round) {
    const page = await openTab(b, []);
    const before = await processor(b);
    const ready = await page.evaluate(async () => {
      const start = performance.now();
      await window.cameo.call("models");
      return performance.now() - start;
    });
    const opened = await chosen(page, "resnet50.pt");
    const exported = await timed(page, "make", "export", {settings: {simplify: false, opset: 18}}, false);
    const first = await page.evaluate(() => window.cameo.state.current.model);
    const simplified = await timed(page, "make", "simplify", {}, false);
    const verified = await timed(page, "verify", first, 0);
    const same = await page.evaluate(() => window.cameo.state.verified.same);
    const saved = await page.evaluate(async () => { // without the second that the page waits before it lets go of the file
      const start = performance.now();
      await window.cameo.engine.call("save", {model: window.cameo.state.current.model, settings: {}, name: "timed.onnx"});
      return performance.now() - start;
    });
    const took = await processor(b) - before;
    const {path} = await download(page, () => timed(page, "saveAs", {}));
    const where = mkdtempSync(join(tmpdir(), "cameo-bench-"));
    execFileSync(cameo, ["export", join(models, "resnet50.pt"), "-o", join(where, "a.onnx"), "--no-simplify", "--no-provenance", "-q"]);
    execFileSync(cameo, ["simplify", join(where, "a.onnx"), join(where, "b.onnx"), "--no-provenance", "-q"]);
    const equal = readFileSync(path).equals(readFileSync(join(where, "b.onnx")));
    console.log(`resnet50: engine ready after ${seconds(ready)}; opened ${seconds(opened)}, exported ${seconds(exported)}, simplified ${seconds(simplified)}, ` +
      `verified ${seconds(verified)} (same: ${same}), saved ${seconds(saved)}: ${seconds(opened + exported + simplified + verified + saved)}, all of it ${took.toFixed(2)} s of processor; ` +
      `equal to the command's file: ${equal}; heap ${await heap(page)} MB`);
    await page.context().close();
  }
}

// Saved to where the user picks: a folder of the browser's private files stands for one on the disk. Written and told are the
// bytes of each file.
async function saveLarge(page, settings) {
  const got = await page.evaluate(async (how) => {
    const start = performance.now();
    await window.cameo.saveAs(how);
    if (window.cameo.state.errors.length) throw new Error(JSON.stringify(window.cameo.state.errors));
    return {took: performance.now() - start, files: await window.picked()};
  }, settings);
  console.log(`  saved${settings.weights ? ` (${settings.weights})` : ""} in ${seconds(got.took)}: ${JSON.stringify(got.files)}, heap ${await heap(page)} MB`);
}

async function large() {
  const web = await site(), profile = mkdtempSync(join(tmpdir(), "cameo-bench-"));
  for (const files of [["large.onnx", "large.data"], ["large.pt2"]]) {
    const b = await lasting(profile), page = await b.newPage();
    await page.goto(web.address);
    await page.evaluate(() => window.cameo.call("models"));
    const opened = await chosen(page, ...files);
    await withPickers(page);
    const size = statSync(join(models, files.at(-1))).size;
    let told = `${files[0]} (${(size / 1e9).toFixed(1)} GB): opened and shown in ${seconds(opened)}, heap ${await heap(page)} MB`;
    const archive = files[0].endsWith(".pt2");
    if (archive) told += `; exported and simplified in ${seconds(await timed(page, "make", "export", {settings: {opset: 18}}, false))}, heap ${await heap(page)} MB`;
    else told += `; simplified in ${seconds(await timed(page, "make", "simplify", {}, false))}, heap ${await heap(page)} MB`;
    console.log(told);
    if (!archive) await saveLarge(page, {}); // its weights stay in large.data
    await saveLarge(page, {weights: "external"});
    await b.close();
    rmSync(profile, {recursive: true, force: true});
  }
  web.stop();
}

// Type and sizes of the input, and how often it runs in a row.
const networks = {resnet18: ["float32", [1, 3, 224, 224], 10], mobilenet_v3_large: ["float32", [1, 3, 224, 224], 40], bert_tiny: ["int64", [1, 128], 200]};

// onnxruntime-web, on a page of its own from a server of this program.
async function referee(b) {
  const dist = join(here, "web", "node_modules", "onnxruntime-web", "dist");
  const kinds = {".mjs": "text/javascript", ".wasm": "application/wasm", ".onnx": "application/octet-stream"};
  const server = createServer((request, response) => {
    const name = basename(request.url ?? "");
    const path = name.endsWith(".onnx") ? join(models, name) : join(dist, name);
    if (!name || !existsSync(path)) return void response.writeHead(name ? 404 : 200, {"content-type": "text/html"}).end("<!doctype html>");
    response.writeHead(200, {"content-type": kinds[name.slice(name.lastIndexOf("."))] ?? "text/plain"});
    createReadStream(path).pipe(response);
  });
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  const page = await (await b.newContext()).newPage();
  await page.goto(`http://127.0.0.1:${server.address().port}/`);
  await page.evaluate(async () => {
    window.ort = await import("/ort.wasm.min.mjs");
    window.ort.env.wasm.numThreads = 1;
    window.ort.env.wasm.wasmPaths = "/";
  });
  return {page, server};
}

async function engine(b) {
  const {page: theirs, server} = await referee(b);
  for (const [name, [type, shape, repeats]] of Object.entries(networks)) {
    await theirs.evaluate(async ([file, kind, sizes]) => {
      window.session = await window.ort.InferenceSession.create(`/${file}.onnx`, {executionProviders: ["wasm"], graphOptimizationLevel: "all"});
      const count = sizes.reduce((a, c) => a * c, 1);
      const data = kind === "int64" ? BigInt64Array.from({length: count}, (_, i) => BigInt((i * 7919) % 30000)) : Float32Array.from({length: count}, (_, i) => Math.sin(i * 0.37));
      window.feeds = {[window.session.inputNames[0]]: new window.ort.Tensor(kind, data, sizes)};
      await window.session.run(window.feeds);
    }, [name, type, shape]);
    const ours = await openTab(b, []);
    await chosen(ours, `${name}.onnx`);
    const mine = [], other = [];
    const run = () => ours.evaluate(async () => (await window.cameo.engine.call("run", {model: window.cameo.state.current.model, seed: 0, repeat: window.repeats})).result);
    const theirRun = () => theirs.evaluate(async () => {
      const start = performance.now();
      for (let i = 0; i < window.repeats; ++i) await window.session.run(window.feeds);
      return (performance.now() - start) / window.repeats;
    });
    for (const page of [ours, theirs]) await page.evaluate((n) => (window.repeats = n), repeats);
    const spent = [0, 0];
    for (let round = 0; round < 7; ++round) {
      const start = await processor(b);
      mine.push((await run()).milliseconds);
      const middle = await processor(b);
      other.push(await theirRun());
      if (round < 2) continue; // the browser's compilers are at work
      spent[0] += middle - start;
      spent[1] += await processor(b) - middle;
    }
    const least = (all) => Math.min(...all);
    console.log(`${name}: Cameo ${least(mine).toFixed(1)} ms, onnxruntime-web ${least(other).toFixed(1)} ms, ratio ${(least(other) / least(mine)).toFixed(2)}; ` +
      `processor time ${spent.map((s) => (s * 1000 / 5 / repeats).toFixed(1)).join(" and ")} ms a run, ratio ${(spent[1] / spent[0]).toFixed(2)}`);
    await ours.context().close();
  }
  server.close();
}

// The page for web sites: the module with threads where the site isolates it, and the one without.
async function threads(b) {
  for (const isolated of [false, true]) {
    const web = await hosted(isolated), page = await open(b, web.address);
    const ready = await page.evaluate(async () => {
      const start = performance.now();
      await window.cameo.call("models");
      return performance.now() - start;
    });
    await chosen(page, "resnet50.pt");
    await timed(page, "make", "export", {settings: {simplify: false, opset: 18}}, false);
    const first = await page.evaluate(() => window.cameo.state.current.model);
    await timed(page, "make", "simplify", {}, false);
    const verified = await timed(page, "verify", first, 0);
    const run = await page.evaluate(async () => (await window.cameo.engine.call("run", {model: window.cameo.state.current.model, seed: 0, repeat: 10})).result);
    console.log(`resnet50 on a site, ${run.threads} thread${run.threads === 1 ? "" : "s"}: engine ready after ${seconds(ready)}, verified ${seconds(verified)}, a run ${run.milliseconds.toFixed(0)} ms, heap ${await heap(page)} MB`);
    await page.context().close();
    web.stop();
  }
}

const b = await browser();
try {
  if (wanted("sizes")) sizes();
  if (wanted("resnet50")) await resnet50(b);
  if (wanted("threads")) await threads(b);
  if (wanted("large")) await large();
  if (wanted("engine")) await engine(b);
} finally {
  await b.close();
}
