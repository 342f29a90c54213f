// Bundles the page into one HTML file, build/page/page.html, that needs nothing else. Its content security policy names
// the hashes of its only script and its only style. `cameo view` fills in the data of a model.
import {build} from "esbuild";
import {createHash} from "node:crypto";
import {mkdirSync, readFileSync, writeFileSync} from "node:fs";
import {dirname, join} from "node:path";
import {fileURLToPath} from "node:url";
import {gzipSync} from "node:zlib";

const here = dirname(fileURLToPath(import.meta.url));
const target = join(here, "..", "build", "page");
mkdirSync(target, {recursive: true});

const result = await build({
  entryPoints: [join(here, "src", "main.tsx"), join(here, "src", "style.css")],
  bundle: true, minify: true, write: false, outdir: target, format: "iife", target: "es2022", charset: "utf8",
  jsx: "automatic", jsxImportSource: "preact", legalComments: "none",
});
const text = (ending) => result.outputFiles.find((f) => f.path.endsWith(ending)).text.trim();
const script = text(".js").replaceAll("</script", "<\\/script");
const style = text(".css");
const hash = (s) => `'sha256-${createHash("sha256").update(s).digest("base64")}'`;
const policy = [
  "default-src 'none'", `script-src ${hash(script)} 'wasm-unsafe-eval'`, `style-src ${hash(style)}`,
  "img-src data: blob:", "connect-src 'self'", "worker-src blob:", "base-uri 'none'", "form-action 'none'",
].join("; ");
const html = readFileSync(join(here, "src", "page.html"), "utf8")
  .replace("POLICY", () => policy).replace("STYLE", () => style).replace("SCRIPT", () => script);
writeFileSync(join(target, "page.html"), html);
console.log(`build/page/page.html: ${html.length} bytes, ${gzipSync(html).length} gzipped`);
