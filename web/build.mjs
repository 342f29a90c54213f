// Bundles the page into one HTML file, build/page/page.html, that needs nothing else. Its content security policy names
// the hashes of its only script and its only style. `cameo view` fills in the data of a model. Where `make wasm` has
// built the module, build/page/cameo.html carries it, and needs no server either.
import {build} from "esbuild";
import {createHash} from "node:crypto";
import {existsSync, mkdirSync, readFileSync, rmSync, writeFileSync} from "node:fs";
import {dirname, join} from "node:path";
import {fileURLToPath} from "node:url";
import {gzipSync} from "node:zlib";

const here = dirname(fileURLToPath(import.meta.url));
const target = join(here, "..", "build", "page");
mkdirSync(target, {recursive: true});

// By code: cause and cure in Chinese, of docs/site/errors.txt, whose head explains its form.
function explanations() {
  const rows = readFileSync(join(here, "..", "docs", "site", "errors.txt"), "utf8").split("\n").filter((l) => l && !l.startsWith("#"))
    .map((l) => l.split("|").map((part) => part.trim()));
  const usual = new Map(rows.filter(([code]) => code.startsWith("@")).map(([name, , chinese]) => [name, chinese]));
  const plain = (text) => (usual.get(text) ?? text).replaceAll("`", "");
  return Object.fromEntries(rows.filter(([code]) => !code.startsWith("@")).map(([code, , , cause, cure]) => [code, [plain(cause), plain(cure)]]));
}

const common = {bundle: true, minify: true, write: false, outdir: target, format: "iife", target: "es2022", charset: "utf8", legalComments: "none"};
const errors = {name: "cameo-errors", setup: (b) => {
  b.onResolve({filter: /^cameo-errors$/}, () => ({path: "cameo-errors", namespace: "errors"}));
  b.onLoad({filter: /.*/, namespace: "errors"}, () => ({contents: JSON.stringify(explanations()), loader: "json"}));
}};
const result = await build({
  ...common, entryPoints: [join(here, "src", "main.tsx"), join(here, "src", "style.css")], jsx: "automatic", jsxImportSource: "preact", plugins: [errors],
});
const text = (ending) => result.outputFiles.find((f) => f.path.endsWith(ending)).text.trim();
const script = text(".js").replaceAll("</script", "<\\/script");
const style = text(".css");
const hash = (s) => `'sha256-${createHash("sha256").update(s).digest("base64")}'`;
const policy = [
  "default-src 'none'", `script-src ${hash(script)} 'wasm-unsafe-eval'`, `style-src ${hash(style)}`,
  "img-src data: blob:", "connect-src 'self' blob:", "worker-src blob:", "base-uri 'none'", "form-action 'none'",
].join("; ");
const page = ({module = "", worker = "", site = "null"}) => readFileSync(join(here, "src", "page.html"), "utf8")
  .replace("POLICY", () => policy).replace("STYLE", () => style).replace("SITE", () => site).replace("MODULE", () => module)
  .replace("WORKER", () => worker).replace("SCRIPT", () => script);
const packed = (contents) => gzipSync(contents, {level: 9});

// A page that is there already stays as it is, so that nothing is linked anew.
function write(name, html) {
  const file = join(target, name);
  if (!existsSync(file) || readFileSync(file, "utf8") !== html) writeFileSync(file, html);
  console.log(`build/page/${name}: ${html.length} bytes, ${packed(html).length} gzipped`);
}
write("page.html", page({}));

const made = join(here, "..", "build", "wasm", "wasm");

// The script of a module's worker. Emscripten's script for threads would load the module's own script, which no page without a
// server can; here both are one.
async function worker(name, entry) {
  const inThreads = {name: "cameo-thread", setup: (b) => {
    b.onResolve({filter: /^cameo-thread$/}, () => ({path: "cameo-thread", namespace: "made"}));
    b.onLoad({filter: /.*/, namespace: "made"}, () => {
      const text = readFileSync(join(made, `${name}.worker.js`), "utf8");
      const own = text.replace(/\(e\.data\.urlOrBlob\?import\(e\.data\.urlOrBlob\):import\("[^"]*"\)\)/, "Promise.resolve({default: makeCameo})");
      if (own === text) throw new Error(`${name}.worker.js loads its module in another way than Emscripten 3.1.6's`);
      return {contents: `import makeCameo from "cameo-module";\nexport function serveThread() {\n${own}\n}`, resolveDir: made};
    });
  }};
  const result = await build({...common, entryPoints: [join(here, "src", "tab", entry)], alias: {"cameo-module": join(made, `${name}.mjs`)}, plugins: [inThreads]});
  return result.outputFiles[0].text.trim();
}

// The page for a web site, which loads one of two modules: build/page/site.
async function site() {
  const folder = join(target, "site");
  rmSync(folder, {recursive: true, force: true});
  mkdirSync(folder, {recursive: true});
  const names = {};
  for (const [kind, name, entry] of [["one", "cameo", "one.ts"], ["threads", "cameo_threads", "threads.ts"]]) {
    const module = packed(readFileSync(join(made, `${name}.wasm`))), script = await worker(name, entry);
    names[kind] = `${name}-${createHash("sha256").update(module).update(script).digest("hex").slice(0, 12)}`;
    writeFileSync(join(folder, `${names[kind]}.wasm.gz`), module);
    writeFileSync(join(folder, `${names[kind]}.js`), script);
    console.log(`build/page/site: ${kind === "one" ? "one thread" : "threads"}, ${module.length + packed(script).length} bytes gzipped beside the page`);
  }
  writeFileSync(join(folder, "index.html"), page({site: JSON.stringify(names)}));
  // What a site has to send for threads, as several hosts read it.
  writeFileSync(join(folder, "_headers"), "/*\n  Cross-Origin-Opener-Policy: same-origin\n  Cross-Origin-Embedder-Policy: require-corp\n");
}

if (existsSync(join(made, "cameo.wasm"))) {
  const text = (await worker("cameo", "one.ts")).replaceAll("</script", "<\\/script").replaceAll("<!--", "<\\!--");
  write("cameo.html", page({module: packed(readFileSync(join(made, "cameo.wasm"))).toString("base64"), worker: text}));
  await site();
} else for (const old of ["cameo.html", "site"]) rmSync(join(target, old), {recursive: true, force: true});
