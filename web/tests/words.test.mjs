// Both tables have every text, and texts with the same places to fill in.
import assert from "node:assert/strict";
import {readdirSync, readFileSync} from "node:fs";
import {join} from "node:path";
import test from "node:test";
import {chinese, english, source} from "./words.mjs";

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

test("every text of the page is used, and every text that the page asks for is there", () => {
  const code = readdirSync(source, {recursive: true}).filter((n) => /\.tsx?$/.test(n) && n !== "words.ts").map((n) => readFileSync(join(source, n), "utf8")).join("\n");
  const made = /^(verb|tab|weights|step|kind|class|diff|change)\.|\.more$/; // put together of parts
  for (const key of Object.keys(english)) assert.ok(made.test(key) || code.includes(`"${key}"`), key);
});

// Other words would stay English in the Chinese page.
test("every step that the engine tells, kind of hit and class of rule has its word", () => {
  const folder = join(source, "..", "..", "src");
  const code = readdirSync(folder, {recursive: true}).filter((n) => n.endsWith(".cpp")).map((n) => readFileSync(join(folder, n), "utf8")).join("\n");
  const steps = [...code.matchAll(/\b(?:tell_)?progress\("([^"]+)"/g)].map((m) => m[1]);
  assert.ok(steps.length > 10);
  for (const step of steps) assert.ok(english[`step.${step}`], `step.${step}`);
  const found = readFileSync(join(folder, "api", "page", "found.cpp"), "utf8");
  for (const [, kind] of found.matchAll(/push_back\(\{(?:i|w\.from), "([^"]+)"/g)) assert.ok(english[`kind.${kind}`], kind);
});
