// The page's state, and everything it does with the desk.
import {CallError, type CallOptions, type Engine, finding, type NamedBlob, type Reply} from "./engine";
import type {GraphView} from "./canvas";
import {difference, heat} from "./colours";
import {pickTarget, saveBytes, type Target} from "./saving";
import type {Difference, Finding, Hit, Item, Opened, Ran, Scene, Verified} from "./types";
import {bytes as bytesText, isWord, known, type Language, setLanguage, t} from "./words";

export type Tab = "findings" | "ledger" | "run" | "diff" | "text";
export type Verb = "export" | "simplify" | "convert" | "half" | "infer" | "extract" | "edit" | "run" | "verify" | "diff" | "check" | "quantize" | "merge" | "lint" | "save";

export interface Busy {
  what: string;
  done: number;
  all: number;
  cancel: () => void;
}

export interface CheckFinding {
  finding: Finding;
  item?: number;
}

export interface State {
  language: Language;
  dark: boolean;
  models: Opened[];
  current: Opened | null;
  scene: Scene | null;
  selected: number | null;
  item: Item | null;
  tab: Tab;
  drawer: boolean;
  verb: Verb | null;
  preview: Opened | null;
  findings: CheckFinding[] | null;
  ran: Ran | null;
  differences: Difference[] | null;
  verified: Verified | null;
  text: string;
  hits: {count: number; hits: Hit[]} | null;
  busy: Busy | null;
  errors: Finding[];
  said: string; // what went well, where nothing else shows it
  command: string;
  keys: boolean;
  dropped: File[]; // inputs that came by another way than the form
}

const isModel = /\.(onnx|onnxtxt|pb|pt|pth|pt2|ts|jit|zip)$/i;
const isInput = /\.(npz|npy|png|jpe?g|webp|gif|bmp)$/i;

const oneFile = 1900 * 1024 * 1024; // what the library puts into one file

function remembered(key: string): string | null {
  try {
    return localStorage.getItem(`cameo.${key}`);
  } catch {
    return null; // from disk, some browsers keep nothing
  }
}

function remember(key: string, value: string): void {
  try {
    localStorage.setItem(`cameo.${key}`, value);
  } catch {
    return;
  }
}

export class Store {
  state: State;
  view: GraphView | null = null;
  private readonly listeners = new Set<() => void>();

  constructor(readonly engine: Engine) {
    const language = (remembered("language") ?? (navigator.language.startsWith("zh") ? "zh" : "en")) === "zh" ? "zh" : "en";
    const dark = (remembered("theme") ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";
    setLanguage(language);
    document.documentElement.dataset["theme"] = dark ? "dark" : "light";
    this.state = {
      language, dark, models: [], current: null, scene: null, selected: null, item: null, tab: "findings", drawer: false, verb: null,
      preview: null, findings: null, ran: null, differences: null, verified: null, text: "", hits: null, busy: null, errors: [],
      said: "", command: "", keys: false, dropped: [],
    };
  }

  subscribe(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  set(change: Partial<State>): void {
    this.state = {...this.state, ...change};
    for (const l of this.listeners) l();
  }

  // What takes long shows its progress and can be cancelled. Of several at a time the first one is shown.
  async watched<T>(what: string, work: (signal: AbortSignal, progress: (what: string, done: number, all: number) => void) => Promise<T>): Promise<T> {
    const stop = new AbortController();
    const mine: Busy = {what, done: 0, all: 0, cancel: () => stop.abort()};
    this.running.push(mine);
    let late = false;
    const shown = setTimeout(() => {
      late = true;
      this.set({busy: this.running[0] ?? null});
    }, 300);
    try {
      return await work(stop.signal, (step, done, all) => {
        Object.assign(mine, {what: step ? known("step", step) : what, done, all});
        if (late && this.running[0] === mine) this.set({busy: {...mine}});
      });
    } finally {
      clearTimeout(shown);
      this.running.splice(this.running.indexOf(mine), 1);
      if (this.state.busy) this.set({busy: this.running[0] ?? null});
    }
  }
  private readonly running: Busy[] = [];

  async call<T>(method: string, params: object = {}, options: CallOptions = {}): Promise<Reply<T> | null> {
    const verb = `verb.${method}`;
    const what = method === "models" ? t("app.starting") : method === "open" ? t("busy.open") : isWord(verb) ? t(verb) : t("busy.working");
    try {
      return await this.watched(what, (signal, progress) => this.engine.call<T>(method, params, {...options, signal, progress}));
    } catch (error) {
      this.fail(error);
      return null;
    }
  }

  // The same, about the model that is shown; null too where another one is shown by then.
  private async ask<T>(method: string, params: object = {}, options: CallOptions = {}): Promise<T | null> {
    const model = this.state.current?.model;
    if (!model) return null;
    const got = await this.call<T>(method, {model, ...params}, options);
    return this.state.current?.model === model ? got?.result ?? null : null;
  }

  fail(error: unknown): void {
    const findings = error instanceof CallError ? error.findings : [finding("page.error", String(error))];
    this.set({errors: findings.length ? findings : [finding("page.error", t("page.failed"))]});
  }

  setLanguage(language: Language): void {
    setLanguage(language);
    remember("language", language);
    this.view?.redraw();
    this.set({language});
  }

  setDark(dark: boolean): void {
    remember("theme", dark ? "dark" : "light");
    document.documentElement.dataset["theme"] = dark ? "dark" : "light";
    this.view?.setTheme(dark);
    this.set({dark});
  }

  async start(): Promise<void> {
    const listed = await this.call<{files: string[]}>("models");
    for (const file of listed?.result.files ?? []) {
      const opened = await this.call<Opened>("open", {file});
      if (opened) await this.take(opened.result, this.state.current === null);
    }
  }

  // Files that came together: models, and the files that their weights are in. Inputs of a run go there. A model whose data
  // is missing is opened again once more files have come.
  async openFiles(given: Iterable<File | NamedBlob>): Promise<void> {
    const files = [...given].map((f) => (f instanceof File ? {name: f.name, blob: f} : f));
    if (!files.length) return;
    this.set({errors: [], said: ""});
    if (files.every((f) => isInput.test(f.name))) {
      if (this.state.current?.kind !== "onnx") return this.fail(new CallError([finding("page.files", t("files.inputs"), t("files.inputs.hint"))]));
      return this.set({verb: this.state.verb === "quantize" ? "quantize" : "run", dropped: files.map((f) => (f.blob instanceof File ? f.blob : new File([f.blob], f.name)))});
    }
    await this.engine.offer?.(files);
    const models = files.length > 1 ? files.filter((f) => isModel.test(f.name)) : this.incomplete.size ? files.filter((f) => isModel.test(f.name)) : files;
    const again = [...this.incomplete].filter((name) => !models.some((m) => m.name === name));
    if (!models.length && !again.length) return this.fail(new CallError([finding("page.files", t("files.none"), t("app.drop.kinds"))]));
    for (const {name, blob} of [...again.map((name) => ({name, blob: null})), ...models]) await this.openOne(name, blob);
  }

  private async openOne(name: string, blob: Blob | null): Promise<void> {
    const opened = this.engine.offer || !blob ? await this.call<Opened>("open", {file: name})
      : await this.call<Opened>("open", {file: name, blob: 0}, {blobs: [blob]});
    if (opened) {
      this.incomplete.delete(name);
      await this.take(opened.result, true);
    } else if (this.engine.offer && this.state.errors[0]?.code === "file.missing") {
      this.incomplete.add(name);
      this.set({errors: this.state.errors.map((e) => ({...e, hint: t("files.data")}))});
    }
  }
  private readonly incomplete = new Set<string>(); // models that wait for their data files

  // A model that was opened or made.
  async take(model: Opened, show: boolean): Promise<void> {
    this.set({models: [...this.state.models, model]});
    if (show) await this.show(model);
  }

  async show(model: Opened): Promise<void> {
    this.set({
      said: "", current: model, selected: null, item: null, preview: null, findings: null, ran: null, differences: null, verified: null, text: "",
      hits: null, command: model.command, verb: model.kind === "onnx" ? this.state.verb : "export",
    });
    if (this.view) this.view.marks = {selected: null, hits: new Set(), colours: new Map()};
    document.title = `${model.name} – Cameo`;
    if (model.kind !== "onnx") {
      this.set({scene: null});
      this.view?.show(null);
      return;
    }
    await this.draw({});
  }

  async draw(how: {open?: number[]; all?: boolean; show?: number}, keep: number | null = null): Promise<void> {
    const drawn = await this.ask<Scene>("graph", how);
    if (!drawn) return;
    this.set({scene: drawn});
    this.view?.show(drawn, keep);
  }

  async toggle(id: number): Promise<void> {
    const scene = this.state.scene;
    if (!scene) return;
    const open = new Set(scene.open);
    if (!open.delete(id)) open.add(id);
    await this.draw({open: [...open]}, id);
  }

  async select(id: number | null): Promise<void> {
    this.set({selected: id});
    if (this.view) {
      this.view.marks.selected = id;
      this.view.redraw();
    }
    if (id === null) return this.set({item: null});
    const item = await this.ask<Item>("node", {item: id});
    if (item && this.state.selected === id) this.set({item});
  }

  // Opens the modules around an item and shows it.
  async goTo(id: number): Promise<void> {
    if (!this.view?.box(id)) await this.draw({open: this.state.scene?.open ?? [], show: id});
    this.view?.goTo(id);
    await this.select(id);
  }

  async search(text: string): Promise<void> {
    if (!text.trim()) {
      if (this.view) this.view.marks.hits = new Set();
      this.view?.redraw();
      return this.set({hits: null});
    }
    const found = await this.ask<{count: number; hits: Hit[]}>("search", {text, limit: 60});
    if (!found) return;
    this.set({hits: found});
    if (this.view) {
      this.view.marks.hits = new Set(found.hits.map((h) => h.item));
      this.view.redraw();
    }
  }

  // A verb that makes a model: its preview, or the model itself.
  async make(method: string, params: object, preview: boolean, blobs: BlobPart[] = []): Promise<Opened | null> {
    const model = this.state.current?.model;
    if (!model) return null;
    const made = await this.call<Opened>(method, {model, ...params, ...(preview ? {preview: true} : {})}, {blobs});
    if (!made) return null;
    if (preview) {
      if (this.state.current?.model === model) this.set({preview: made.result, command: made.result.command});
      return made.result;
    }
    const settings = {verb: null, tab: made.result.ledger.length ? "ledger" as Tab : this.state.tab, drawer: this.state.drawer || made.result.ledger.length > 0};
    await this.take(made.result, true);
    this.set(settings);
    return made.result;
  }

  // The model without one of its rewrites: simplified again from where it came.
  async undoRewrite(index: number): Promise<void> {
    const current = this.state.current;
    const rewrite = current?.ledger[index];
    const from = this.state.models.find((m) => m.model === current?.from);
    if (!current || !rewrite || !from) return;
    const before = this.withouts.get(current.model) ?? [];
    const without = [...before, `${rewrite.rule}@${rewrite.value}`];
    this.set({current: from});
    const made = await this.make("simplify", {settings: {without}}, false);
    if (made) this.withouts.set(made.model, without);
    else this.set({current});
  }
  private readonly withouts = new Map<number, string[]>();

  private showFindings(found: {findings: CheckFinding[]; command: string} | null): void {
    const order = ["error", "warning", "note"];
    found?.findings.sort((a, b) => order.indexOf(a.finding.severity) - order.indexOf(b.finding.severity)); // what is worst first
    if (found) this.set({findings: found.findings, command: found.command, tab: "findings", drawer: true});
  }

  async check(strict: boolean): Promise<void> {
    this.showFindings(await this.ask("check", strict ? {strict} : {}));
  }

  async lint(targets: string[]): Promise<void> {
    this.showFindings(await this.ask("lint", {settings: {targets}}));
  }

  async run(params: object, blobs: BlobPart[]): Promise<void> {
    const ran = await this.ask<Ran>("run", params, {blobs});
    if (!ran) return;
    const total = Math.max(1e-9, ...ran.steps.map((s) => s.length_us));
    const colours = new Map<number, string>();
    for (const s of ran.steps) if (s.item !== undefined) colours.set(s.item, heat(s.length_us / total));
    this.paint(colours);
    this.set({ran, command: ran.command, tab: "run", drawer: true});
  }

  // What went into the last run, or came out of it, as `cameo run -o` writes it.
  async saveValues(of: "inputs" | "outputs"): Promise<void> {
    const ran = this.state.ran;
    if (!ran) return;
    const saved = await this.call<object>("values", {run: ran.run, of, name: `${of}.npz`});
    if (saved && of === "outputs") this.set({command: `${ran.command} -o outputs.npz`});
    for (const {name, blob} of saved?.written ?? []) await saveBytes(name, blob);
  }

  async diff(first: number): Promise<void> {
    const second = this.state.current?.model;
    const found = await this.ask<{differences: Difference[]; command: string}>("diff", {model: first, second});
    if (!found) return;
    const colours = new Map<number, string>();
    for (const d of found.differences)
      if (d.second_item !== undefined) colours.set(d.second_item, d.first ? difference.changed : difference.added);
    this.paint(colours);
    this.set({differences: found.differences, command: found.command, tab: "diff", drawer: true});
  }

  async verify(reference: number, seed: number, sizes: Record<string, number> = {}): Promise<void> {
    const done = await this.ask<{verified: Verified; command: string}>("verify", {reference, settings: {random: seed, ...(Object.keys(sizes).length ? {sizes} : {})}});
    if (done) this.set({verified: done.verified, command: done.command});
  }

  async loadText(): Promise<void> {
    const text = await this.ask<{text: string}>("text");
    if (text) this.set({text: text.text});
  }

  paint(colours: Map<number, string>): void {
    if (!this.view) return;
    this.view.marks.colours = colours;
    this.view.redraw();
  }

  // As the command writes it: with what was done in the metadata.
  async save(): Promise<void> {
    await this.saveAs(this.provenance());
  }

  provenance(): {provenance?: string} {
    const current = this.state.current;
    return current && current.verb !== "open" ? {provenance: provenanceOf(current.command)} : {};
  }

  // Large models go straight to a file or folder that the user picks, and their weights beside them where one file cannot hold
  // them. "keep": weights in data files that the model came with stay there.
  async saveAs(settings: {weights?: string; [key: string]: unknown}, as?: string): Promise<void> {
    const current = this.state.current;
    if (!current) return;
    const size = current.stats?.weight_bytes ?? 0, beside = settings.weights === "external" || size > oneFile;
    const name = (as ?? current.name).replace(/\.onnxtxt$/, as ? "$&" : ".onnx");
    const target = await pickTarget(name, size < this.large ? "downloads" : beside ? "folder" : "file");
    if (!target) return;
    const free = await target.free(name), data = await target.free(`${free.replace(/\.onnx$/, "")}.data`);
    const files = this.engine.offer || beside || size >= this.large;
    const saved = await this.call<{blob?: number}>("save", {model: current.model, settings: files ? {external_name: data, ...settings} : settings, ...(files ? {name: free} : {})});
    if (!saved) return;
    const bytes = saved.result.blob === undefined ? undefined : saved.blobs[saved.result.blob];
    await this.write(target, bytes ? [{name: free, blob: new Blob([bytes])}] : saved.written ?? [], current);
  }

  private async write(target: Target, files: NamedBlob[], model: Opened): Promise<void> {
    const all = files.reduce((sum, f) => sum + f.blob.size, 0);
    try {
      await this.watched(t("busy.write"), async (signal, progress) => {
        let done = 0;
        for (const file of files) await target.write(file, {signal, wrote: (bytes) => progress(t("busy.write"), (done += bytes), all)});
      });
    } catch (error) {
      return this.fail(error instanceof DOMException && error.name === "AbortError" ? new CallError([finding("budget.interrupted", t("save.cancelled"))])
        : new CallError([finding("page.write", t("save.failed"), String(error))]));
    }
    this.saved.add(model.model);
    const stays = files.length === 1 && model.summary.data_files?.length && all < (model.stats?.weight_bytes ?? 0);
    const said = t("save.done", files.map((f) => `${f.name} (${bytesText(f.blob.size)})`).join(", "));
    this.set({said: stays ? `${said} ${t("save.beside", model.summary.data_files?.join(", ") ?? "")}` : said});
  }
  readonly saved = new Set<number>(); // models that were
  large = 512 << 20; // from so many bytes of weights on the user is asked where a file goes before it is made

  async saveSvg(): Promise<void> {
    const scene = this.state.scene;
    if (!scene) return;
    const params = this.engine.computes ? {model: this.state.current?.model, open: scene.open} : {model: this.state.current?.model};
    const picture = await this.call<{svg: string}>("picture", params);
    if (picture) await saveBytes(`${this.state.current?.name ?? "graph"}.svg`, new Blob([picture.result.svg], {type: "image/svg+xml"}));
  }

  async savePng(): Promise<void> {
    const png = await this.view?.png();
    if (png) await saveBytes(`${this.state.current?.name ?? "graph"}.png`, png);
  }
}

// "cameo convert IN OUT --opset 13 --lossy" leaves "convert --opset=13 --lossy", as the command itself notes it.
function provenanceOf(command: string): string {
  const words = [...command.matchAll(/(?:'[^']*'|\\'|[^\s'])+/g)].map(([word]) => word.replace(/\\'|'/g, (q) => (q === "\\'" ? "'" : "")));
  let text = words[1] ?? "";
  words.forEach((word, i) => {
    if (!word.startsWith("--")) return;
    const value = words[i + 1];
    text += ` ${word}${value === undefined || value.startsWith("--") ? "" : `=${value}`}`;
  });
  return text;
}
