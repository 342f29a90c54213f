// `cameo view` and Chromium for a test.
import {spawn} from "node:child_process";
import {existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync} from "node:fs";
import {createServer} from "node:http";
import {tmpdir} from "node:os";
import {dirname, join} from "node:path";
import {fileURLToPath} from "node:url";
import {chromium} from "playwright-core";

const root = join(dirname(fileURLToPath(import.meta.url)), "..", "..");
export const cameo = process.env["CAMEO"] ?? join(root, "build", "release", "cameo");
export const shots = join(root, "build", "page", "screenshots");
mkdirSync(shots, {recursive: true});

// The page that carries the engine, with its address; null where `make wasm` and `make page` have not built it.
const standing = join(root, "build", "page", "cameo.html");
export const tab = existsSync(standing) ? `file://${standing}` : null;

export function folder() {
  return mkdtempSync(join(tmpdir(), "cameo-page-"));
}

export function file(name, contents, where = folder()) {
  const path = join(where, name);
  writeFileSync(path, contents);
  return path;
}

// The command, once it has printed its address.
export async function serve(...args) {
  const process_ = spawn(cameo, ["view", "--no-open", ...args], {stdio: ["ignore", "pipe", "inherit"]});
  const address = await new Promise((done, fail) => {
    let text = "";
    process_.stdout.on("data", (d) => {
      text += d;
      if (text.includes("\n")) done(text.split("\n")[0]);
    });
    process_.on("exit", (code) => fail(new Error(`cameo view ended with ${code}`)));
  });
  return {address, process: process_, stop: () => process_.kill("SIGKILL")};
}

// A browser with a profile in that folder: only these have the origin's private files on the disk.
export async function lasting(profile) {
  return await chromium.launchPersistentContext(profile, how());
}

export async function browser() {
  return await chromium.launch(how());
}

function how() {
  const executablePath = process.env["CHROMIUM"] ?? ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find(existsSync);
  return {
    executablePath, headless: true,
    args: ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
      "--disable-component-update", "--disable-sync"],
  };
}

// A page that fails the test when it logs an error or asks for anything but its own address.
export async function open(b, address, options = {}) {
  const context = await b.newContext({viewport: {width: 1440, height: 900}, locale: "en-US", colorScheme: "light", acceptDownloads: true, ...options});
  const page = await context.newPage();
  page.troubles = [];
  page.on("console", (m) => m.type() === "error" && page.troubles.push(m.text()));
  page.on("pageerror", (e) => page.troubles.push(String(e)));
  page.on("request", (r) => {
    const allowed = address.startsWith("file:") ? r.url() === address || r.url().startsWith("blob:") || r.url().startsWith("data:")
      : r.url().startsWith(address) || r.url().startsWith("blob:") || r.url().startsWith("data:");
    if (!allowed) page.troubles.push(`asked for ${r.url()}`);
  });
  await page.goto(address);
  return page;
}

export async function drawn(page) {
  await page.waitForFunction(() => window.cameo?.state.scene && !window.cameo.state.busy);
  await page.waitForTimeout(150);
}

export async function shot(page, name) {
  await page.screenshot({path: join(shots, `${name}.png`)});
}

export const test_ = (page, name) => page.locator(`[data-test="${name}"]`);

// The page from disk, with the network blocked, and files given to it as if they were dropped.
export async function openTab(b, files, options = {}) {
  const page = await open(b, tab, {offline: true, ...options});
  if (files.length) {
    await test_(page, "file").setInputFiles(files);
    await page.waitForFunction(() => window.cameo.state.current);
    if (await page.evaluate(() => window.cameo.state.current.kind === "onnx")) await drawn(page);
  }
  return page;
}

// The page with the engine as a web site would serve it, which gives it the browser's private files; its address, and how to end it.
export async function site() {
  const html = readFileSync(new URL(tab));
  const server = createServer((_, response) => response.writeHead(200, {"content-type": "text/html"}).end(html));
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  return {address: `http://127.0.0.1:${server.address().port}/`, stop: () => server.close()};
}

// The page for web sites, build/page/site, with the headers that isolate it or without; its address, and what was asked for.
export async function hosted(isolated) {
  const folder = join(root, "build", "page", "site"), asked = [];
  const kinds = {html: "text/html", js: "text/javascript", gz: "application/gzip"};
  const headers = isolated ? {"cross-origin-opener-policy": "same-origin", "cross-origin-embedder-policy": "require-corp"} : {};
  const server = createServer((request, response) => {
    const name = (request.url ?? "/").slice(1) || "index.html";
    if (!existsSync(join(folder, name))) return void response.writeHead(404).end();
    asked.push(name);
    response.writeHead(200, {"content-type": kinds[name.split(".").at(-1)] ?? "text/plain", ...headers}).end(readFileSync(join(folder, name)));
  });
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  return {address: `http://127.0.0.1:${server.address().port}/`, asked, stop: () => server.close()};
}

// Dialogs for files and folders that answer with the browser's private files, in a folder "picked".
export async function withPickers(page) {
  await page.evaluate(async () => {
    const root = await navigator.storage.getDirectory();
    const folder = await root.getDirectoryHandle("picked", {create: true});
    window.asked = [];
    window.showDirectoryPicker = async () => (window.asked.push("folder"), folder);
    window.showSaveFilePicker = async ({suggestedName}) => (window.asked.push("file"), folder.getFileHandle(suggestedName, {create: true}));
    window.picked = async () => {
      const out = {};
      for await (const [name, handle] of folder.entries()) out[name] = (await handle.getFile()).size;
      return out;
    };
  });
}

// What simplifying, with a check that takes seconds, gives when it is cancelled: by the page itself, as soon as the button is there, since a quiet machine is
// done before a click from outside.
export async function cancelled(page) {
  return await page.evaluate(async () => {
    const result = window.cameo.make("simplify", {settings: {check: 50}}, false);
    const button = () => document.querySelector('[data-test="cancel"]');
    for (const start = performance.now(); !button() && performance.now() - start < 30_000;) await new Promise(requestAnimationFrame);
    button().click();
    return result;
  });
}
