// The states that people see most, in both languages, both themes, wide and narrow: nothing reaches beyond the window or is cut
// off, axe finds nothing, no text of the other language is left. Screenshots: build/page/screenshots/state-*.png.
// CAMEO_STATES=all takes every combination, CAMEO_STATES=NAME one state.
import assert from "node:assert/strict";
import {readFileSync} from "node:fs";
import {createRequire} from "node:module";
import test, {after, before} from "node:test";
import {browser, openTab, shot, tab} from "./harness.mjs";
import {cutOff, leftInEnglish, settled, states} from "./states.mjs";
import {chinese, english} from "./words.mjs";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const skip = tab ? false : "make wasm, then make page, builds the page that carries the engine";
const wanted = process.env["CAMEO_STATES"] ?? "";
let b;
before(async () => {
  if (tab) b = await browser();
});
after(async () => b?.close());

const ownEnglish = Object.keys(english).filter((k) => english[k] !== chinese[k] && /[a-z]{3}/i.test(english[k])).map((k) => english[k]);
const views = [["en", "light", 1440], ["zh", "dark", 1440], ["zh", "light", 820], ["en", "dark", 400]];
const every = ["en", "zh"].flatMap((l) => ["light", "dark"].flatMap((c) => [1440, 820, 400].map((w) => [l, c, w])));

for (const [language, theme, width] of wanted === "all" ? every : views)
  test(`states: ${language}, ${theme}, ${width} pixels`, {skip}, async () => {
    const wrong = [];
    for (const [name, [files, act]] of Object.entries(states)) {
      if (wanted && wanted !== "all" && wanted !== name) continue;
      const options = {locale: language === "zh" ? "zh-CN" : "en-US", colorScheme: theme, viewport: {width, height: width === 1440 ? 900 : 1100}, bypassCSP: true};
      const page = await openTab(b, files(), options);
      await act(page);
      if (name !== "progress") await settled(page);
      await shot(page, `state-${name}-${language}-${theme}-${width}`);
      wrong.push(...(await page.evaluate(cutOff)).map((w) => `${name}: ${w}`));
      await page.evaluate(axe);
      wrong.push(...(await page.evaluate(async () => (await window.axe.run()).violations.map((v) => `${v.id}: ${v.nodes.map((n) => n.html).join(" | ")}`))).map((w) => `${name}: ${w}`));
      if (language === "zh") wrong.push(...(await page.evaluate(leftInEnglish, ownEnglish)).map((w) => `${name}: in English: ${w}`));
      assert.deepEqual(page.troubles, [], name);
      await page.context().close();
    }
    assert.deepEqual(wrong, []);
  });
