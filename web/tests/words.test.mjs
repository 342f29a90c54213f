// Both tables have every text, and texts with the same places to fill in.
import assert from "node:assert/strict";
import {readFileSync} from "node:fs";
import {dirname, join} from "node:path";
import test from "node:test";
import {fileURLToPath} from "node:url";
import {build} from "esbuild";

const source = join(dirname(fileURLToPath(import.meta.url)), "..", "src");
const bundled = await build({entryPoints: [join(source, "words.ts")], bundle: true, write: false, format: "esm"});
const {english, chinese} = await import(`data:text/javascript,${encodeURIComponent(bundled.outputFiles[0].text)}`);

test("English and Chinese have the same keys", () => {
  assert.deepEqual(Object.keys(chinese).sort(), Object.keys(english).sort());
});

test("the same parts are filled in", () => {
  for (const key of Object.keys(english)) {
    const parts = (text) => [...text.matchAll(/\{\d\}/g)].map((m) => m[0]).sort();
    assert.deepEqual(parts(chinese[key]), parts(english[key]), key);
    assert.ok(english[key].trim() && chinese[key].trim(), key);
  }
});

test("Chinese texts are Chinese", () => {
  const same = Object.keys(english).filter((k) => english[k] === chinese[k]);
  assert.deepEqual(same, ["bar.svg", "bar.png"]);
});

test("no text stands outside the tables", () => {
  for (const name of ["app", "topbar", "panel", "verbs", "drawer", "overlays"]) {
    const text = readFileSync(join(source, `${name}.tsx`), "utf8");
    const outside = [...text.matchAll(/>\s*([A-Z][a-z]+(?: [a-z]+)+)\s*</g)].map((m) => m[1]);
    assert.deepEqual(outside, [], name);
  }
});
