// Every verb of the page by clicking, in both languages, with `cameo view` behind it and with the engine in the tab; and the command
// that the page shows for it, run in a shell, which writes the same bytes as the page saves, or finds the same.
import assert from "node:assert/strict";
import {execFileSync, spawnSync} from "node:child_process";
import {copyFileSync, existsSync, readFileSync, writeFileSync} from "node:fs";
import {basename, dirname, join} from "node:path";
import test, {after, before} from "node:test";
import {browser, cameo, drawn, folder, open, openTab, serve, tab, test_ as at} from "./harness.mjs";
import {network} from "./models.mjs";

const digits = (name) => new URL(`../../examples/digits/${name}`, import.meta.url).pathname;
const engines = ["server", ...(tab ? ["tab"] : [])].flatMap((e) => [[e, "en"], [e, "zh"]]);
let b, where;
before(async () => {
  b = await browser();
  where = folder();
  writeFileSync(join(where, "net.onnxtxt"), network());
  writeFileSync(join(where, "second.onnxtxt"), `<ir_version: 8, opset_import: ["" : 18]>\nsecond (float[batch,8] u) => (float[batch,8] v) { v = Neg(u) }`);
  writeFileSync(join(where, "-dash it's.onnxtxt"), network());
  copyFileSync(digits("digits.pt"), join(where, "digits.pt"));
  copyFileSync(digits("samples.npz"), join(where, "some samples.npz"));
  execFileSync(cameo, ["export", digits("digits.pt"), "-o", join(where, "digits.onnx"), "-q"]);
});
after(async () => b?.close());

const state = (page, key) => page.evaluate((k) => window.cameo.state[k], key);
const idle = async (page) => {
  await page.waitForTimeout(250);
  await page.waitForFunction(() => !window.cameo.state.busy && !window.cameo.running.length, undefined, {timeout: 60_000});
};
const verb = async (page, name) => {
  if ((await at(page, `verb-${name}`).getAttribute("aria-expanded")) !== "true") await at(page, `verb-${name}`).click();
};
const command = async (page) => (await at(page, "command").innerText()).trim();

// The page with these files of `where` open, the first one shown; how to end it.
async function ready(engine, language, ...names) {
  const options = {locale: language === "zh" ? "zh-CN" : "en-US"}, paths = names.map((n) => join(where, n));
  const server = engine === "server" ? await serve(...paths.map((p) => basename(p).startsWith("-") ? join(where, `./${basename(p)}`) : p)) : null;
  const page = server ? await open(b, server.address, options) : await openTab(b, paths, options);
  await page.waitForFunction((n) => window.cameo?.state.models.length === n, names.length);
  await idle(page);
  await page.evaluate(() => window.cameo.show(window.cameo.state.models[0]));
  await idle(page);
  return {page, done: async () => {
    assert.deepEqual(page.troubles, []);
    await page.context().close();
    server?.stop();
  }};
}

function shell(line, ...more) {
  const done = spawnSync("bash", ["-c", [line, ...more].join(" ")], {cwd: where, encoding: "utf8", env: {...process.env, PATH: `${dirname(cameo)}:${process.env["PATH"]}`}});
  assert.ok(done.status === 0 || done.status === 1, `${line}: ${done.status} ${done.stderr}`);
  return done;
}

// What the save button gives, and what the command that is shown writes.
async function equal(page, what) {
  const line = await command(page);
  const [download] = await Promise.all([page.waitForEvent("download"), at(page, "save").click()]);
  const name = download.suggestedFilename();
  shell(line, "-q");
  const written = existsSync(join(where, name)) ? join(where, name) : assert.fail(`${what}: ${line} wrote no ${name}`);
  assert.ok(readFileSync(await download.path()).equals(readFileSync(written)), `${what}: ${line}`);
  await page.keyboard.press("Escape");
}

async function apply(page, method) {
  const before = (await state(page, "models")).length;
  await at(page, `apply-${method}`).click();
  await page.waitForFunction((n) => window.cameo.state.models.length > n || window.cameo.state.errors.length, before, {timeout: 60_000});
  assert.deepEqual(await state(page, "errors"), [], method);
  await idle(page);
}
const back = async (page) => {
  await page.evaluate(() => window.cameo.show(window.cameo.state.models[0]));
  await idle(page);
};

const changes = [
  ["rename", "scores", "logits"], ["add_output", "flat"], ["remove_node", "stem/Relu_1"], ["set_operator", "stem/Relu_1", "Tanh"],
  ["insert_node", "y2 = Relu(flat)"], ["set_metadata", "author", "it's me"], ["strip"],
];

for (const [engine, language] of engines) {
  const name = `${engine}, ${language}`;

  test(`${name}: the commands of simplify, and of each of its settings and undos`, async () => {
    const {page, done} = await ready(engine, language, "net.onnxtxt");
    await verb(page, "simplify");
    await apply(page, "simplify");
    await equal(page, "simplify");
    await at(page, "undo-rewrite").first().click();
    await page.waitForFunction(() => window.cameo.state.models.length === 3);
    await idle(page);
    await equal(page, "one rewrite undone");
    for (let i = 0; i < 4; ++i) {
      await back(page);
      await verb(page, "simplify");
      await page.locator(".verb.open .tick input").nth(i).click();
      await apply(page, "simplify");
      await equal(page, `tick ${i}`);
    }
    await done();
  });

  test(`${name}: the commands of convert, half precision, infer, extract, merge`, async () => {
    const {page, done} = await ready(engine, language, "net.onnxtxt", "second.onnxtxt");
    await verb(page, "convert");
    await at(page, "opset").selectOption("13");
    await apply(page, "convert");
    await equal(page, "convert");
    for (const [type, keep] of [["f16", false], ["bf16", true]]) {
      await back(page);
      await verb(page, "half");
      await page.locator(".verb.open select").selectOption(type);
      if (keep) await page.locator(".verb.open .tick input").click();
      await apply(page, "convert");
      await equal(page, type);
    }
    await back(page);
    await verb(page, "infer");
    await apply(page, "infer");
    await equal(page, "infer");
    await back(page);
    await verb(page, "extract");
    await at(page, "extract-from").fill("c");
    await at(page, "extract-to").fill("flat, a2");
    await apply(page, "extract");
    await equal(page, "extract");
    await back(page);
    await verb(page, "merge");
    await at(page, "merge-connect").fill("scores = u");
    await apply(page, "merge");
    await equal(page, "merge");
    await done();
  });

  test(`${name}: the commands of edit`, async () => {
    const {page, done} = await ready(engine, language, "net.onnxtxt");
    for (const [change, first, second] of changes) {
      await back(page);
      await verb(page, "edit");
      await at(page, "edit-change").selectOption(change);
      if (first) await at(page, "edit-name").fill(first);
      if (second) await at(page, "edit-to").fill(second);
      await apply(page, "edit");
      await equal(page, change);
    }
    await done();
  });

  test(`${name}: the command of export`, async () => {
    const {page, done} = await ready(engine, language, "digits.pt");
    await at(page, "export-inputs").fill("images=f32[batch,1,8,8]");
    await apply(page, "export");
    await equal(page, "export");
    await done();
  });

  // Of a file: what was exported in the page and not saved has its weights in another order, and so has its quantized form.
  test(`${name}: the commands of quantize`, async () => {
    const {page, done} = await ready(engine, language, "digits.onnx");
    await verb(page, "quantize");
    await at(page, "inputs").setInputFiles(join(where, "some samples.npz"));
    await apply(page, "quantize");
    if (engine === "server") await equal(page, "quantize"); // scales come from numbers that a tab rounds otherwise
    else shell(await command(page), "-q");
    for (const [kind, method] of [["dynamic", "quantize_dynamic"], ["8", "quantize_weights"], ["4", "quantize_weights"]]) {
      await page.evaluate(() => window.cameo.show(window.cameo.state.models[0]));
      await idle(page);
      await verb(page, "quantize");
      await at(page, "quantize-kind").selectOption(kind);
      await apply(page, method);
      await equal(page, `${method}, ${kind}`);
    }
    await done();
  });

  test(`${name}: the commands of run, verify, diff, check, lint`, async () => {
    const {page, done} = await ready(engine, language, "net.onnxtxt", "second.onnxtxt");
    await verb(page, "run");
    await page.locator(".verb.open .text input").nth(1).fill("batch=2");
    await at(page, "apply-run").click();
    await page.waitForSelector('[data-test="run-time"]');
    for (const of of ["inputs", "outputs"]) {
      const [download] = await Promise.all([page.waitForEvent("download"), at(page, `save-${of}`).click()]);
      copyFileSync(await download.path(), join(where, `page-${of}.npz`));
    }
    await idle(page);
    const line = await command(page);
    assert.match(line, /--dim batch=2 .*-o outputs\.npz$/);
    shell(line, "-q");
    // A processor rounds as another one: the file is the same byte for byte where the same engine ran.
    if (engine === "server") assert.ok(readFileSync(join(where, "page-outputs.npz")).equals(readFileSync(join(where, "outputs.npz"))));
    else assert.equal(readFileSync(join(where, "page-outputs.npz")).length, readFileSync(join(where, "outputs.npz")).length);
    shell("cameo run net.onnxtxt --inputs page-inputs.npz -q");
    await at(page, "inputs").setInputFiles(join(where, "page-inputs.npz"));
    await page.waitForSelector(".dropinputs .soft");
    await at(page, "apply-run").click();
    await page.waitForFunction(() => window.cameo.state.command.includes("--inputs page-inputs.npz"));
    shell(await command(page), "-q");
    await verb(page, "simplify");
    await apply(page, "simplify");
    await equal(page, "simplify");
    await verb(page, "verify");
    await at(page, "apply-verify").click();
    await page.waitForSelector('[data-test="verified"].good');
    assert.match(shell(await command(page)).stdout, /agree/);
    await verb(page, "diff");
    await at(page, "apply-diff").click();
    await page.waitForSelector('[data-test="differences"]');
    const found = JSON.parse(shell(await command(page), "--json").stdout);
    assert.equal(found.differences.length, (await state(page, "differences")).length);
    await verb(page, "check");
    await page.locator(".verb.open .tick input").click();
    await at(page, "apply-check").click();
    await page.waitForFunction(() => window.cameo.state.findings);
    assert.match(await command(page), / --strict$/);
    shell(await command(page), "-q");
    await verb(page, "lint");
    await at(page, "lint-target").selectOption("all");
    await at(page, "apply-lint").click();
    await page.waitForFunction(() => window.cameo.state.command.startsWith("cameo lint"));
    const linted = shell(await command(page), "--json").stdout;
    assert.ok(JSON.parse(linted).findings.length && (await state(page, "findings")).length); // the command leaves out notes
    await done();
  });

  test(`${name}: a name that begins with a dash, and has a quote and a space`, async () => {
    const {page, done} = await ready(engine, language, "-dash it's.onnxtxt");
    await verb(page, "simplify");
    await apply(page, "simplify");
    await equal(page, "simplify");
    await done();
  });
}
