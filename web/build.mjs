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

const common = {bundle: true, minify: true, write: false, outdir: target, format: "iife", target: "es2022", charset: "utf8", legalComments: "none"};
const result = await build({
  ...common, entryPoints: [join(here, "src", "main.tsx"), join(here, "src", "style.css")], jsx: "automatic", jsxImportSource: "preact",
});
const text = (ending) => result.outputFiles.find((f) => f.path.endsWith(ending)).text.trim();
const script = text(".js").replaceAll("</script", "<\\/script");
const style = text(".css");
const hash = (s) => `'sha256-${createHash("sha256").update(s).digest("base64")}'`;
const policy = [
  "default-src 'none'", `script-src ${hash(script)} 'wasm-unsafe-eval'`, `style-src ${hash(style)}`,
  "img-src data: blob:", "connect-src 'self' blob:", "worker-src blob:", "base-uri 'none'", "form-action 'none'",
].join("; ");
const page = (module, worker) => readFileSync(join(here, "src", "page.html"), "utf8")
  .replace("POLICY", () => policy).replace("STYLE", () => style).replace("MODULE", () => module).replace("WORKER", () => worker)
  .replace("SCRIPT", () => script);

// A page that is there already stays as it is, so that nothing is linked anew.
function write(name, html) {
  const file = join(target, name);
  if (!existsSync(file) || readFileSync(file, "utf8") !== html) writeFileSync(file, html);
  console.log(`build/page/${name}: ${html.length} bytes, ${gzipSync(html, {level: 9}).length} gzipped`);
}
write("page.html", page("", ""));

const made = join(here, "..", "build", "wasm", "wasm");
if (existsSync(join(made, "cameo.wasm"))) {
  const worker = await build({...common, entryPoints: [join(here, "src", "tab", "worker.ts")], alias: {"cameo-module": join(made, "cameo.mjs")}});
  const text = worker.outputFiles[0].text.trim().replaceAll("</script", "<\\/script").replaceAll("<!--", "<\\!--");
  write("cameo.html", page(gzipSync(readFileSync(join(made, "cameo.wasm")), {level: 9}).toString("base64"), text));
} else rmSync(join(target, "cameo.html"), {force: true});
