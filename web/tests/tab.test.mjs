// What only the engine in the tab does: archives, samples, files that belong together, files on disk by slices.
import assert from "node:assert/strict";
import {execFileSync} from "node:child_process";
import {readdirSync, readFileSync} from "node:fs";
import {createRequire} from "node:module";
import test, {after, before} from "node:test";
import {browser, cameo, cancelled, drawn, file, folder, hosted, open, openTab, shot, site, tab, test_ as at, withPickers} from "./harness.mjs";
import {deep, heavy, network} from "./models.mjs";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const skip = tab ? false : "make wasm, then make page, builds the page that carries the engine";
const digits = (name) => new URL(`../../examples/digits/${name}`, import.meta.url).pathname;
let b;
before(async () => {
  if (tab) b = await browser();
});
after(async () => {
  await b?.close();
});

const state = (page, key) => page.evaluate((k) => window.cameo.state[k], key);
const until = (page, verb) => page.waitForFunction((v) => window.cameo.state.current?.verb === v && !window.cameo.state.busy && window.cameo.state.verb === null, verb, {timeout: 60_000});
const verb = async (page, name) => {
  if ((await at(page, `verb-${name}`).getAttribute("aria-expanded")) !== "true") await at(page, `verb-${name}`).click();
};
async function done(page) {
  assert.deepEqual(page.troubles, []);
  await page.context().close();
}
const command = (...args) => execFileSync(cameo, args, {stdio: ["ignore", "pipe", "inherit"]});
async function saved(page, settings = {}) {
  const downloads = [];
  page.on("download", (d) => downloads.push(d));
  await page.evaluate((s) => window.cameo.saveAs(s), settings);
  for (let i = 0; i < 50 && !downloads.length; ++i) await page.waitForTimeout(100);
  return Promise.all(downloads.map(async (d) => ({name: d.suggestedFilename(), bytes: readFileSync(await d.path())})));
}

for (const [language, locale] of [["en", "en-US"], ["zh", "zh-CN"]]) {
  test(`${language}: an empty page says what it is`, {skip}, async () => {
    const page = await openTab(b, [], {locale});
    assert.equal(await page.evaluate(() => window.cameo.engine.kind), "tab");
    assert.ok((await at(page, "engine").innerText()).length > 10);
    await page.waitForTimeout(400);
    await page.waitForFunction(() => !window.cameo.state.busy);
    await shot(page, `20-empty-${language}`);
    await at(page, "example").click();
    await page.waitForFunction(() => window.cameo.state.current);
    await drawn(page);
    assert.ok((await state(page, "scene")).boxes.some((x) => x.title.includes("×4")));
    await shot(page, `25-example-${language}`);
    await done(page);
  });

  test(`${language}: a TorchScript archive is exported, verified against itself and saved as the command would`, {skip}, async () => {
    const page = await openTab(b, [digits("digits.pt")], {locale});
    await page.waitForSelector('[data-test="apply-export"]');
    await shot(page, `21-archive-${language}`);
    await at(page, "apply-export").click();
    await until(page, "export");
    await drawn(page);
    const where = folder();
    command("export", digits("digits.pt"), "-o", `${where}/digits.onnx`, "--no-provenance", "-q");
    const [got] = await saved(page);
    assert.equal(got.name, "digits.onnx");
    assert.ok(got.bytes.equals(readFileSync(`${where}/digits.onnx`)));
    await verb(page, "simplify");
    await at(page, "apply-simplify").click();
    await until(page, "simplify");
    await verb(page, "verify");
    await at(page, "apply-verify").click();
    await page.waitForSelector('[data-test="verified"].good');
    await shot(page, `22-verified-${language}`);
    await done(page);
  });

  test(`${language}: samples are dropped, the model becomes 8-bit`, {skip}, async () => {
    const where = folder();
    command("export", digits("digits.pt"), "-o", `${where}/digits.onnx`, "-q");
    const page = await openTab(b, [`${where}/digits.onnx`], {locale});
    await verb(page, "quantize");
    await at(page, "inputs").setInputFiles(digits("samples.npz"));
    await page.waitForSelector('[data-test="apply-quantize"]:not([disabled])');
    await at(page, "apply-quantize").click();
    await until(page, "quantize");
    await verb(page, "quantize");
    await page.waitForSelector('[data-test="quantized"]');
    assert.ok((await state(page, "current")).stats.operators.QuantizeLinear > 0);
    await shot(page, `23-quantized-${language}`);
    await done(page);
  });

  test(`${language}: lint's findings lead to their nodes`, {skip}, async () => {
    const text = `<ir_version: 8, opset_import: ["" : 18]>
g (float[1,3,8,8] x) => (float[1,3,16,16] y) <float[4] s = {1, 1, 2, 2}, float[0] r = {}> {
  ["up"] y = Resize<mode="cubic", coordinate_transformation_mode="tf_crop_and_resize", extrapolation_value=1.0>(x, , s)
}`;
    const page = await openTab(b, [file("up.onnxtxt", text)], {locale});
    await verb(page, "lint");
    await at(page, "lint-target").selectOption("all");
    await at(page, "apply-lint").click();
    await page.waitForFunction(() => window.cameo.state.findings?.some((f) => f.item !== undefined));
    await shot(page, `24-lint-${language}`);
    await page.locator(".rows button.link").first().click();
    await page.waitForFunction(() => window.cameo.state.item?.op === "Resize");
    await done(page);
  });

  test(`${language}: two models become one`, {skip}, async () => {
    const one = file("one.onnxtxt", `<ir_version: 8, opset_import: ["" : 18]>\na (float[2] x) => (float[2] y) { y = Relu(x) }`);
    const two = file("two.onnxtxt", `<ir_version: 8, opset_import: ["" : 18]>\nb (float[2] u) => (float[2] v) { v = Neg(u) }`);
    const page = await openTab(b, [one, two], {locale});
    await page.waitForFunction(() => window.cameo.state.models.length === 2 && !window.cameo.state.busy);
    await page.evaluate(() => window.cameo.show(window.cameo.state.models[0]));
    await verb(page, "merge");
    await at(page, "merge-connect").fill("y=u");
    await at(page, "apply-merge").click();
    await until(page, "merge");
    assert.equal((await state(page, "current")).stats.nodes, 2);
    await done(page);
  });
}

test("weights in a file of their own: dropped together, saved as two files; a missing one is named", {skip}, async () => {
  const where = folder();
  command("export", digits("digits.pt"), "-o", `${where}/digits.onnx`, "--weights", "external", "-q");
  const both = readdirSync(where).map((n) => `${where}/${n}`);
  assert.equal(both.length, 2);
  const page = await openTab(b, both);
  await page.evaluate(() => window.cameo.goTo(window.cameo.state.scene.boxes.find((x) => x.kind === "node" && x.lines?.length).id));
  await page.waitForSelector(".histogram");
  const got = await saved(page, {weights: "external"});
  assert.equal(got.length, 2);
  await done(page);
  const lone = await openTab(b, [], {});
  await at(lone, "file").setInputFiles(both.filter((n) => n.endsWith(".onnx")));
  await lone.waitForSelector('[data-test="errors"]');
  assert.match(await at(lone, "errors").innerText(), /missing/);
  await at(lone, "file").setInputFiles(both.filter((n) => !n.endsWith(".onnx"))); // the data comes later
  await lone.waitForFunction(() => window.cameo.state.current);
  await drawn(lone);
  assert.deepEqual(await state(lone, "errors"), []);
  await done(lone);
});

test("weights that did not change stay in their data file, as with the command in that folder", {skip}, async () => {
  const where = folder();
  command("convert", file("heavy.onnx", heavy()), `${where}/two.onnx`, "--weights", "external", "-q");
  const page = await openTab(b, readdirSync(where).map((n) => `${where}/${n}`));
  assert.equal((await state(page, "current")).summary.data_files.length, 1);
  await verb(page, "simplify");
  await at(page, "apply-simplify").click();
  await until(page, "simplify");
  const [got, ...more] = await saved(page);
  assert.equal(more.length, 0);
  assert.match(await at(page, "said").innerText(), /\.data/);
  command("simplify", `${where}/two.onnx`, `${where}/smaller.onnx`, "--no-provenance", "-q");
  assert.ok(got.bytes.equals(readFileSync(`${where}/smaller.onnx`)));
  await done(page);
});

test("saved under another name, as text, with weights in a second file", {skip}, async () => {
  const where = folder();
  command("export", digits("digits.pt"), "-o", `${where}/digits.onnx`, "-q");
  const page = await openTab(b, [`${where}/digits.onnx`]);
  await verb(page, "save");
  await at(page, "save-name").fill("other.onnxtxt");
  const [text] = await Promise.all([page.waitForEvent("download"), at(page, "apply-save").click()]);
  assert.equal(text.suggestedFilename(), "other.onnxtxt");
  assert.match(readFileSync(await text.path(), "utf8"), /MaxPool|Conv/);
  await page.waitForSelector('[data-test="said"]');
  await at(page, "save-name").fill("two");
  await at(page, "save-weights").selectOption("external");
  const names = [];
  page.on("download", (d) => names.push(d.suggestedFilename()));
  await at(page, "apply-save").click();
  for (let i = 0; i < 50 && names.length < 2; ++i) await page.waitForTimeout(100);
  assert.deepEqual(names.sort(), ["two.data", "two.onnx"]);
  await at(page, "save-name").fill("../up.onnx");
  await at(page, "apply-save").click();
  await page.waitForSelector('[data-test="errors"]');
  await done(page);
});

test("large models go straight to where the user wants them, by way of the browser's private files", {skip}, async () => {
  const web = await site();
  const page = await open(b, web.address);
  await at(page, "file").setInputFiles(file("heavy.onnx", heavy()));
  await drawn(page);
  await withPickers(page);
  await page.evaluate(() => (window.cameo.large = 1 << 20));
  await page.evaluate(() => window.cameo.saveAs({}));
  const whole = await page.evaluate(() => window.picked());
  assert.deepEqual(Object.keys(whole), ["heavy.onnx"]);
  for (let i = 0; i < 2; ++i) await page.evaluate(() => window.cameo.saveAs({weights: "external"})); // what is there stays there
  const all = await page.evaluate(() => window.picked());
  assert.deepEqual(Object.keys(all).sort(), ["heavy-2.data", "heavy-2.onnx", "heavy-3.data", "heavy-3.onnx", "heavy.onnx"]);
  assert.ok(all["heavy-2.onnx"] < 10_000 && all["heavy.onnx"] > 20e6);
  await page.evaluate(() => window.cameo.make("convert", {settings: {float_type: "f16"}}, false)); // weights that are new
  await page.evaluate(() => window.cameo.saveAs({}, "half.onnx"));
  const half = (await page.evaluate(() => window.picked()))["half.onnx"];
  assert.ok(half > 10e6 && half < 14e6, `${half}`);
  assert.deepEqual(await page.evaluate(() => window.asked), ["file", "folder", "folder", "file"]);
  assert.ok(await page.evaluate(() => window.cameo.engine.heap) < 100e6);
  await done(page);
  web.stop();
});

test("a folder is dropped: models in it find their data", {skip}, async () => {
  const where = folder();
  command("export", digits("digits.pt"), "-o", `${where}/digits.onnx`, "--weights", "external", "-q");
  const page = await openTab(b, []);
  const protocol = await page.context().newCDPSession(page);
  const data = {items: [], files: [where], dragOperationsMask: 1};
  for (const type of ["dragEnter", "dragOver", "drop"]) await protocol.send("Input.dispatchDragEvent", {type, x: 600, y: 400, data});
  await page.waitForFunction(() => window.cameo.state.current);
  await drawn(page);
  assert.equal((await state(page, "current")).name, "digits.onnx");
  await done(page);
});

for (const colorScheme of ["light", "dark"])
  test(`axe finds nothing in an empty page, an archive, a run, a list of findings, an error, ${colorScheme}`, {skip}, async () => {
    const page = await openTab(b, [], {colorScheme, locale: "zh-CN", bypassCSP: true});
    await page.evaluate(axe);
    const look = async (what) => {
      const found = await page.evaluate(async () => (await window.axe.run()).violations.map((v) => `${v.id}: ${v.nodes.map((n) => n.html).join(" | ")}`));
      assert.deepEqual(found, [], what);
    };
    await look("empty");
    await at(page, "file").setInputFiles(digits("digits.pt"));
    await page.waitForSelector('[data-test="apply-export"]');
    await look("archive");
    await at(page, "export-now").click();
    await until(page, "export");
    await verb(page, "run");
    await at(page, "apply-run").click();
    await page.waitForSelector('[data-test="run-time"]');
    await look("run");
    await page.evaluate(() => window.cameo.lint(["all"]));
    await verb(page, "save");
    await look("findings");
    await shot(page, `27-findings-${colorScheme}`);
    await page.evaluate(() => window.cameo.make("extract", {inputs: [], outputs: ["nothing"]}, false));
    await page.waitForSelector('[data-test="errors"]');
    await look("error");
    await page.context().close();
  });

test("the browser asks before it leaves what is not saved", {skip}, async () => {
  const page = await openTab(b, [digits("digits.pt")]);
  let asked = 0;
  page.on("dialog", (d) => (++asked, d.accept()));
  await at(page, "export-now").click();
  await until(page, "export");
  await page.reload();
  assert.equal(asked, 1);
  await page.waitForSelector('[data-test="example"]');
  await at(page, "example").click();
  await page.waitForFunction(() => window.cameo.state.current);
  await page.reload(); // nothing was made
  assert.equal(asked, 1);
  await done(page);
});

test("keys on an empty page do nothing; inputs without a model are refused in plain words", {skip}, async () => {
  const page = await openTab(b, []);
  for (const key of ["c", "s", "r", "S", "f", "Enter", "ArrowDown"]) await page.keyboard.press(key);
  await page.waitForTimeout(300);
  assert.deepEqual(await state(page, "errors"), []);
  await at(page, "file").setInputFiles(digits("samples.npz"));
  await page.waitForSelector('[data-test="errors"]');
  assert.equal((await state(page, "errors"))[0].code, "page.files");
  await done(page);
});

test("what is saved equals the command's file, byte for byte", {skip}, async () => {
  const path = file("net.onnxtxt", network());
  const page = await openTab(b, [path]);
  await verb(page, "simplify");
  await at(page, "apply-simplify").click();
  await until(page, "simplify");
  const where = folder();
  command("simplify", path, `${where}/net.onnx`, "--no-provenance", "-q");
  const [got] = await saved(page);
  assert.ok(got.bytes.equals(readFileSync(`${where}/net.onnx`)));
  await done(page);
});

test("an archive is exported by one click in the middle", {skip}, async () => {
  const page = await openTab(b, [digits("digits.pt")]);
  await at(page, "export-now").click();
  await until(page, "export");
  await done(page);
});

test("narrow windows show all: nothing reaches beyond the edge", {skip}, async () => {
  for (const viewport of [{width: 820, height: 900}, {width: 400, height: 800}]) {
    const page = await openTab(b, [file("net.onnxtxt", network())], {viewport});
    const beyond = await page.evaluate(() => [...document.querySelectorAll(".top > *, .panel, .stage, .drawer")].filter((e) => e.getBoundingClientRect().right > innerWidth + 1).map((e) => e.className));
    assert.deepEqual(beyond, []);
    await at(page, "language").click();
    await verb(page, "simplify");
    await page.waitForSelector('[data-test="apply-simplify"]');
    await shot(page, `26-narrow-${viewport.width}`);
    await done(page);
  }
});

test("weights inside a large .onnx stay in the file: opened, looked at, simplified and saved without them in memory", {skip}, async () => {
  const path = file("heavy.onnx", heavy());
  const page = await openTab(b, [path]);
  const heap = () => page.evaluate(() => window.cameo.engine.heap);
  const opened = await heap();
  assert.ok(opened < 40e6, `${opened}`);
  await verb(page, "simplify");
  await at(page, "apply-simplify").click();
  await until(page, "simplify");
  const where = folder();
  command("simplify", path, `${where}/heavy.onnx`, "--no-provenance", "-q");
  const [got] = await saved(page);
  assert.ok(got.bytes.equals(readFileSync(`${where}/heavy.onnx`)));
  assert.equal(await heap(), opened);
  await page.evaluate(() => window.cameo.goTo(window.cameo.state.scene.boxes.find((x) => x.kind === "node").id));
  await page.waitForSelector(".histogram");
  await verb(page, "run");
  await at(page, "apply-run").click();
  await page.waitForSelector('[data-test="run-time"]');
  await done(page);
});

test("a long call shows its progress and can be cancelled", {skip}, async () => {
  const page = await openTab(b, [file("long.onnxtxt", deep(30_000))]);
  assert.equal(await cancelled(page), null);
  assert.equal((await state(page, "errors"))[0].code, "budget.interrupted");
  await page.keyboard.press("Escape");
  await page.evaluate(() => window.cameo.search("relu"));
  assert.ok((await state(page, "hits")).count > 1000);
  await done(page);
});

test("an .npz dropped on an open model becomes its inputs", {skip}, async () => {
  const where = folder();
  command("export", digits("digits.pt"), "-o", `${where}/digits.onnx`, "--input", "images=f32[batch,1,8,8]", "-q");
  const page = await openTab(b, [`${where}/digits.onnx`]);
  await at(page, "file").setInputFiles(digits("samples.npz"));
  await page.waitForSelector(".dropinputs .soft");
  await at(page, "apply-run").click();
  await page.waitForSelector('[data-test="run-time"]');
  await done(page);
});

for (const isolated of [true, false])
  test(`a web site ${isolated ? "that isolates the page gives it threads" : "without isolation has one thread"}`, {skip}, async () => {
    const web = await hosted(isolated);
    const page = await open(b, web.address);
    await at(page, "file").setInputFiles(file("heavy.onnx", heavy()));
    await drawn(page);
    assert.equal(await page.evaluate(() => crossOriginIsolated), isolated);
    assert.equal(web.asked.length, 3, web.asked.join()); // the page, one module, its script
    const threads = isolated ? await page.evaluate(() => Math.min(16, navigator.hardwareConcurrency)) : 1;
    await verb(page, "run");
    await at(page, "apply-run").click();
    await page.waitForSelector('[data-test="run-time"]');
    assert.equal((await state(page, "ran")).threads, threads);
    await verb(page, "simplify");
    await at(page, "apply-simplify").click();
    await until(page, "simplify");
    await verb(page, "verify");
    await at(page, "apply-verify").click();
    await page.waitForSelector('[data-test="verified"].good');
    const where = folder();
    command("simplify", file("heavy.onnx", heavy()), `${where}/heavy.onnx`, "--no-provenance", "-q");
    const [got] = await saved(page);
    assert.ok(got.bytes.equals(readFileSync(`${where}/heavy.onnx`)));
    await page.evaluate(() => window.cameo.search("matmul"));
    assert.ok((await state(page, "hits")).count > 0);
    await done(page);
    web.stop();
  });

test("a worker that breaks off says so, and the models are there again", {skip}, async () => {
  for (const how of ["memory", "engine"]) {
    const page = await openTab(b, [file("net.onnxtxt", network())]);
    await verb(page, "simplify");
    await at(page, "apply-simplify").click();
    await until(page, "simplify");
    const broken = await page.evaluate(async (memory) => {
      const engine = window.cameo.engine, worker = await engine.worker;
      const call = engine.call("simplify", {model: 1, settings: {check: 50}, preview: true});
      await new Promise((done) => setTimeout(done, 20));
      worker.onmessage({data: {id: 1, broken: "made up", memory}}); // as the worker would tell it
      return call.then(() => null, (e) => e.findings[0]);
    }, how === "memory");
    assert.equal(broken?.code, "page.engine");
    assert.match(broken.what, how === "memory" ? /memory/ : /made up/);
    await page.evaluate(() => window.cameo.search("conv"));
    assert.ok((await state(page, "hits")).count > 0);
    await page.evaluate(() => window.cameo.undoRewrite(0));
    await page.waitForFunction(() => window.cameo.state.models.length === 3);
    await done(page);
  }
});

test("cancel in the middle of each long action: said, and the page goes on", {skip}, async () => {
  const page = await openTab(b, [file("long.onnxtxt", deep(20_000))]);
  const calls = [["simplify", {settings: {check: 50}}], ["infer", {}], ["convert", {settings: {float_type: "f16"}}], ["run", {seed: 0, keep: ["*"], repeat: 1000}],
    ["verify", {reference: 1, settings: {}}], ["lint", {settings: {targets: ["all"]}}], ["graph", {all: true}], ["text", {}], ["save", {settings: {}, name: "long.onnx"}]];
  for (const [method, params] of calls) {
    const ended = await page.evaluate(async ([name, given]) => {
      const stop = new AbortController();
      setTimeout(() => stop.abort(), 60);
      return window.cameo.engine.call(name, {model: 1, ...given}, {signal: stop.signal}).then(() => "done", (e) => e.findings?.[0]?.code ?? String(e));
    }, [method, params]);
    assert.ok(ended === "done" || ended === "budget.interrupted", `${method}: ${ended}`);
  }
  await page.evaluate(() => window.cameo.search("relu"));
  assert.ok((await state(page, "hits")).count > 1000);
  assert.deepEqual(await state(page, "errors"), []);
  await done(page);
});

test("the whole way by keys alone: open, simplify, look, undo, save", {skip}, async () => {
  const page = await openTab(b, [file("net.onnxtxt", network())]);
  const focused = () => page.evaluate(() => document.activeElement?.getAttribute("data-test") ?? document.activeElement?.tagName);
  const tabTo = async (name) => {
    for (let i = 0; i < 120 && (await focused()) !== name; ++i) await page.keyboard.press("Tab");
    assert.equal(await focused(), name);
  };
  await tabTo("verb-simplify");
  await page.keyboard.press("Enter");
  await tabTo("apply-simplify");
  await page.keyboard.press("Enter");
  await until(page, "simplify");
  await tabTo("undo-rewrite");
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => window.cameo.state.models.length === 3);
  await drawn(page);
  await page.keyboard.press("/");
  await page.keyboard.type("conv");
  await page.waitForSelector("#hits li");
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => window.cameo.state.item?.op === "Conv");
  await tabTo("save");
  const [download] = await Promise.all([page.waitForEvent("download"), page.keyboard.press("Enter")]);
  assert.equal(download.suggestedFilename(), "net.simplified.onnx");
  await page.keyboard.press("Escape");
  await tabTo("tab-ledger");
  await page.keyboard.press("ArrowRight");
  assert.equal(await state(page, "tab"), "run");
  await done(page);
});
