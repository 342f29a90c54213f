// What strangers drop on the page, with `cameo view` behind it and with the engine in the tab: it either opens or says what is
// wrong, and the page goes on working.
import assert from "node:assert/strict";
import {execFileSync} from "node:child_process";
import {Buffer} from "node:buffer";
import {writeFileSync} from "node:fs";
import test, {after, before} from "node:test";
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
