// What strangers drop on the page, with `cameo view` behind it and with the engine in the tab: it either opens or says what is
// wrong, and the page goes on working.
import assert from "node:assert/strict";
import {execFileSync} from "node:child_process";
import {Buffer} from "node:buffer";
import {existsSync, readdirSync, writeFileSync} from "node:fs";
import {dirname, join} from "node:path";
import test, {after, before} from "node:test";
import {fileURLToPath} from "node:url";
import {browser, drawn, file, folder, open, openTab, serve, shot, tab, test_ as at} from "./harness.mjs";
import {network, strange} from "./models.mjs";

let b, server, path;
before(async () => {
  b = await browser();
  path = file("net.onnxtxt", network());
  server = await serve(path);
});
after(async () => {
  await b?.close();
  server?.stop();
});

const state = (page, key) => page.evaluate((k) => window.cameo.state[k], key);
const idle = async (page) => {
  await page.waitForTimeout(50);
  await page.waitForFunction(() => !window.cameo.state.busy && !window.cameo.running.length);
};
async function done(page) {
  assert.deepEqual(page.troubles, []);
  await page.context().close();
}

// Files that are no models: name, contents, what the page says.
function noModels() {
  const where = folder();
  const zipped = (name, entries) => execFileSync("python3", ["-c",
    "import sys, zipfile\nwith zipfile.ZipFile(sys.argv[1], 'w') as z:\n  for name, data in eval(sys.argv[2]).items(): z.writestr(name, data)", `${where}/${name}`, entries]);
  zipped("weights.pt", `{"archive/data.pkl": __import__("pickle").dumps({"fc.weight": [1.0]}, 2), "archive/version": b"3\\n"}`);
  zipped("other.zip", `{"readme.txt": b"hello"}`);
  writeFileSync(`${where}/broken.pt`, Buffer.concat([Buffer.from("PK\u0003\u0004"), Buffer.alloc(200, 7)]));
  writeFileSync(`${where}/letter.onnx`, "Dear reader,\nthis is no model.\n".repeat(50));
  writeFileSync(`${where}/empty.onnx`, "");
  writeFileSync(`${where}/page.onnx`, "<!doctype html><title>404</title>");
  writeFileSync(`${where}/pointer.onnx`, "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 1234\n");
  writeFileSync(`${where}/random.bin`, Buffer.from(Array.from({length: 4096}, (_, i) => (i * 7919) % 251)));
  return ["weights.pt", "other.zip", "broken.pt", "letter.onnx", "empty.onnx", "page.onnx", "pointer.onnx", "random.bin"].map((n) => `${where}/${n}`);
}

// Files that once broke something: what the attack campaign has kept, and CAMEO_ATTACKS, a folder of more.
function attacks() {
  const kept = join(dirname(fileURLToPath(import.meta.url)), "..", "..", "tests", "attack", "regressions"), more = process.env["CAMEO_ATTACKS"] ?? "";
  return [kept, more].filter(existsSync).flatMap((folder) => readdirSync(folder, {recursive: true}).filter((n) => /\.(onnx|onnxtxt|pt|pt2)$/.test(n)).map((n) => join(folder, n))).sort();
}

// What a visitor does with a model, each for three seconds at most; the codes of what went wrong.
async function everything() {
  const {store, made} = {store: window.cameo, made: window.cameo.state.current};
  const settings = {inputs: ["x=f32[2,3]"]};
  const calls = made.kind === "onnx" ? [["graph", {all: true}], ["simplify", {preview: true}], ["infer", {preview: true}], ["convert", {preview: true, settings: {opset: 7}}],
    ["convert", {preview: true, settings: {float_type: "f16"}}], ["check", {strict: true}], ["lint", {settings: {targets: ["all"]}}], ["run", {seed: 0, keep: ["*"]}],
    ["verify", {reference: made.model, settings: {}}], ["diff", {second: made.model}], ["text", {}]] : [["export", {preview: true}], ["export", {preview: true, settings}]];
  const codes = [];
  for (const [method, params] of calls)
    await store.engine.call(method, {model: made.model, ...params}, {signal: AbortSignal.timeout(3000)}).catch((e) => codes.push([method, e.findings?.[0]?.code ?? String(e)]));
  await store.engine.call("close", {model: made.model}).catch((e) => codes.push(["close", String(e)]));
  return codes;
}

for (const engine of ["server", ...(tab ? ["tab"] : [])]) {
  const ready = async () => {
    if (engine === "tab") return openTab(b, [path]);
    if (server.process.exitCode !== null) server = await serve(path);
    const page = await open(b, server.address);
    await drawn(page);
    return page;
  };

  test(`${engine}: files that are no models are told as such, and the page goes on`, async () => {
    const page = await ready();
    for (const one of noModels()) {
      await at(page, "file").setInputFiles(one);
      await page.waitForSelector('[data-test="errors"]');
      const [error] = await state(page, "errors");
      assert.ok(/^(file|use|archive|read|zip|onnx|export|page)\./.test(error.code) && error.what.length > 10, JSON.stringify(error));
      assert.ok(!/page\.(engine|error)/.test(error.code), JSON.stringify(error));
      await page.keyboard.press("Escape");
      await page.waitForSelector('[data-test="errors"]', {state: "detached"});
    }
    assert.equal((await state(page, "models")).length, 1);
    await page.evaluate(() => window.cameo.search("conv"));
    assert.ok((await state(page, "hits")).count > 0);
    await done(page);
  });

  test(`${engine}: files that once broke something are a message or a model, and the page lives`, async () => {
    const page = await ready();
    const wrong = [];
    for (const path of attacks()) {
      const name = path.split("/").slice(-3).join("/"), before = (await state(page, "models")).length;
      await at(page, "file").setInputFiles(path);
      await page.waitForFunction((n) => !window.cameo.running.length && (window.cameo.state.models.length > n || window.cameo.state.errors.length), before, {timeout: 20_000})
        .catch(() => wrong.push([name, "open", "takes longer than 20 s"]));
      for (const e of await state(page, "errors")) wrong.push([name, "open", e.code]);
      await page.keyboard.press("Escape");
      if ((await state(page, "models")).length > before) for (const one of await page.evaluate(everything)) wrong.push([name, ...one]);
    }
    const dead = wrong.filter(([, , code]) => !/^[a-z]+[.-][a-z0-9.-]+$/.test(code) || /^(page|bug)\b/.test(code));
    assert.deepEqual(dead, []);
    await page.evaluate(() => window.cameo.show(window.cameo.state.models[0]));
    await drawn(page);
    await page.evaluate(() => window.cameo.search("conv"));
    assert.ok((await state(page, "hits")).count > 0);
    page.troubles.length = 0; // a model that was closed is asked for no more
    await done(page);
  });

  for (const [name, text] of Object.entries(strange()))
    test(`${engine}: ${name}`, async () => {
      const page = await ready();
      await at(page, "file").setInputFiles(file(`${name.replaceAll(" ", "_")}.onnxtxt`, text));
      await page.waitForFunction(() => window.cameo.state.models.length === 2);
      await drawn(page);
      await at(page, "openall").click();
      await idle(page);
      for (const box of (await state(page, "scene")).boxes.slice(0, 4)) {
        await page.evaluate((id) => window.cameo.goTo(id), box.id);
        await idle(page);
      }
      await shot(page, `40-${name.replaceAll(" ", "-")}-${engine}`);
      const beyond = await page.evaluate(() => [...document.querySelectorAll(".top > *, .panel > *, .status > *")].filter((e) => e.getBoundingClientRect().right > innerWidth + 1).map((e) => e.outerHTML.slice(0, 80)));
      assert.deepEqual(beyond, []);
      for (const verb of ["simplify", "infer"]) {
        await page.evaluate((v) => window.cameo.make(v, {}, true), verb);
        assert.deepEqual(await state(page, "errors"), [], verb);
      }
      await page.evaluate(() => window.cameo.check(false));
      await page.evaluate(() => window.cameo.loadText());
      assert.ok((await state(page, "text")).length > 10);
      assert.deepEqual(await state(page, "errors"), []);
      await done(page);
    });

  test(`${engine}: an answer that comes after another model was chosen is dropped`, async () => {
    const page = await ready();
    await at(page, "file").setInputFiles(file("second.onnxtxt", network().replace("Softmax<axis=-1>", "LogSoftmax<axis=-1>")));
    await page.waitForFunction(() => window.cameo.state.models.length === 2 && !window.cameo.state.busy);
    await drawn(page);
    await page.evaluate(async () => {
      const running = window.cameo.run({seed: 0, keep: ["*"]}, []);
      await window.cameo.show(window.cameo.state.models[0]);
      await running;
    });
    await idle(page);
    assert.equal(await state(page, "ran"), null);
    assert.equal(await page.evaluate(() => window.cameo.view.marks.colours.size), 0);
    await done(page);
  });
}
