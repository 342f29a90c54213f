// The states of the page that people see most: which files are open, and what is clicked then; and what must not be seen in any.
import {execFileSync} from "node:child_process";
import {cameo, file, folder, test_ as at} from "./harness.mjs";
import {deep, network} from "./models.mjs";

const digits = (name) => new URL(`../../examples/digits/${name}`, import.meta.url).pathname;
const net = file("net.onnxtxt", network());
const digitsOnnx = `${folder()}/digits.onnx`;
const exported = () => {
  execFileSync(cameo, ["export", digits("digits.pt"), "-o", digitsOnnx, "-q"]);
  return digitsOnnx;
};

const resize = `<ir_version: 8, opset_import: ["" : 18]>
g (float[1,3,8,8] x) => (float[1,3,16,16] y) <float[4] s = {1, 1, 2, 2}, float[0] r = {}> {
  ["neck.up/Resize"] y = Resize<mode="cubic", coordinate_transformation_mode="tf_crop_and_resize", extrapolation_value=1.0>(x, , s)
}`;
export const settled = async (page) => {
  await page.waitForTimeout(350);
  await page.waitForFunction(() => !window.cameo.state.busy && !window.cameo.running.length, undefined, {timeout: 60_000});
};
const verb = async (page, name) => {
  if ((await at(page, `verb-${name}`).getAttribute("aria-expanded")) !== "true") await at(page, `verb-${name}`).click();
};
const made = (page, name) => page.waitForFunction((v) => window.cameo.state.current?.verb === v && window.cameo.state.verb === null, name, {timeout: 60_000});
async function simplified(page) {
  await verb(page, "simplify");
  await page.waitForSelector('[data-test="change"] .differs');
  await at(page, "apply-simplify").click();
  await made(page, "simplify");
}

// By name: the files to open, and what is done then.
export const states = {
  empty: [() => [], async () => {}],
  graph: [() => [net], async () => {}],
  "big-collapsed": [() => [file("big.onnxtxt", deep(3000))], async () => {}],
  "big-opened": [() => [file("big.onnxtxt", deep(3000))], async (page) => at(page, "openall").click()],
  node: [() => [net], async (page) => {
    await page.evaluate(() => window.cameo.search("stem/Conv"));
    await page.evaluate(() => window.cameo.goTo(window.cameo.state.hits.hits[0].item));
    await page.evaluate(() => window.cameo.search(""));
    await page.waitForSelector("canvas.kernels");
  }],
  search: [() => [net], async (page) => {
    await at(page, "search").fill("relu");
    await page.waitForSelector("#hits li");
  }],
  preview: [() => [net], async (page) => {
    await verb(page, "simplify");
    await page.waitForSelector('[data-test="change"] .differs');
  }],
  ledger: [() => [net], simplified],
  run: [() => [net], async (page) => {
    await verb(page, "run");
    await at(page, "apply-run").click();
    await page.waitForSelector('[data-test="run-time"]');
  }],
  compare: [() => [net], async (page) => {
    await simplified(page);
    await verb(page, "diff");
    await at(page, "apply-diff").click();
    await page.waitForSelector('[data-test="differences"]');
  }],
  archive: [() => [digits("digits.pt")], async () => {}],
  refusal: [() => [digits("digits.pt")], async (page) => {
    await at(page, "export-inputs").fill("images=f32[batch,3,8,8]");
    await at(page, "apply-export").click();
    await page.waitForSelector('[data-test="errors"]');
  }],
  lint: [() => [file("up.onnxtxt", resize)], async (page) => {
    await verb(page, "lint");
    await at(page, "lint-target").selectOption("all");
    await at(page, "apply-lint").click();
    await page.waitForFunction(() => window.cameo.state.findings?.length);
  }],
  quantize: [() => [exported()], async (page) => {
    await verb(page, "quantize");
    await at(page, "inputs").setInputFiles(digits("samples.npz"));
    await page.waitForSelector('[data-test="apply-quantize"]:not([disabled])');
    await at(page, "apply-quantize").click();
    await made(page, "quantize");
    await verb(page, "quantize");
    await page.waitForSelector('[data-test="quantized"]');
  }],
  verify: [() => [net], async (page) => {
    await simplified(page);
    await verb(page, "verify");
    await at(page, "apply-verify").click();
    await page.waitForSelector('[data-test="verified"].good');
  }],
  save: [() => [net], async (page) => verb(page, "save")],
  edit: [() => [net], async (page) => verb(page, "edit")],
  keys: [() => [net], async (page) => page.evaluate(() => window.cameo.set({keys: true}))],
  progress: [() => [net], async (page) => page.evaluate(() => window.cameo.set({busy: {what: window.cameo.state.language === "zh" ? "化简中" : "simplifying", done: 3, all: 8, cancel: () => {}}}))],
};

// Elements that reach beyond the window, and texts that are cut off without a place to scroll.
export const cutOff = () => {
  const out = [];
  const name = (e) => `${e.tagName}.${e.className} "${(e.textContent ?? "").slice(0, 40)}"`;
  for (const e of document.querySelectorAll(".app *, .busy, .errors, .keylist")) {
    if (!e.checkVisibility({opacityProperty: true, visibilityProperty: true}) || e.closest(".unseen, svg, .hits")) continue;
    const r = e.getBoundingClientRect(), style = getComputedStyle(e);
    const scrolled = e.parentElement?.closest(".verbs, .panel, .contents, .tools, .two table, pre, .errors, .work, .tabs");
    if (!scrolled && r.width && r.right > innerWidth + 1) out.push(`beyond: ${name(e)}`);
    if (style.overflowX === "hidden" && style.textOverflow !== "ellipsis" && e.scrollWidth > e.clientWidth + 1 && e.clientWidth && e.tagName !== "DETAILS") out.push(`cut off: ${name(e)}`);
    if (e.tagName === "BUTTON" && e.scrollWidth > e.clientWidth + 2) out.push(`button: ${name(e)}`);
  }
  const over = document.documentElement.scrollWidth - innerWidth;
  return [...new Set(out)].concat(over > 1 ? [`the page is ${over} pixels too wide`] : []);
};

// In the Chinese page: the page's own texts in English. Names, and what engines say about a model, are as they are.
export const leftInEnglish = (english) => [...document.querySelectorAll("button, h2, th, dt, label, .tag, summary, option, p, li, caption, strong")]
  .filter((e) => e.checkVisibility() && !e.closest("code, .unseen, .panel .fields, .models, .link") && !e.matches("[lang], .brand"))
  .map((e) => [...e.childNodes].filter((n) => n.nodeType === 3).map((n) => n.textContent.trim()).join(" "))
  .filter((text) => english.includes(text));
