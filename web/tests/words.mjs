// The page's two tables of texts, for tests.
import {dirname, join} from "node:path";
import {fileURLToPath} from "node:url";
import {build} from "esbuild";

export const source = join(dirname(fileURLToPath(import.meta.url)), "..", "src");
const bundled = await build({entryPoints: [join(source, "words.ts")], bundle: true, write: false, format: "esm"});
export const {english, chinese} = await import(`data:text/javascript,${encodeURIComponent(bundled.outputFiles[0].text)}`);
