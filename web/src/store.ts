// The page's state, and everything it does with the desk.
import {CallError, type CallOptions, type Engine, finding, type Reply} from "./engine";
import type {GraphView} from "./canvas";
import {difference, heat} from "./colours";
import type {Difference, Finding, Hit, Item, Opened, Ran, Scene, Verified} from "./types";
import {type Language, setLanguage, t} from "./words";

export type Tab = "findings" | "ledger" | "run" | "diff" | "text";
export type Verb = "export" | "simplify" | "convert" | "half" | "infer" | "extract" | "edit" | "run" | "verify" | "diff" | "check" | "quantize" | "merge" | "lint";

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
  command: string;
  keys: boolean;
  dropped: File[]; // inputs that came by another way than the form
}

const isModel = /\.(onnx|onnxtxt|pb|pt|pth|pt2|ts|jit|zip)$/i;
const isInput = /\.(npz|npy|png|jpe?g|webp|gif|bmp)$/i;

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
      command: "", keys: false, dropped: [],
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

  // One call at a time; what takes long shows its progress and can be cancelled.
  async call<T>(method: string, params: object = {}, options: CallOptions = {}): Promise<Reply<T> | null> {
    const stop = new AbortController();
    const busy = (what: string, done: number, all: number) =>
      this.set({busy: {what, done, all, cancel: () => stop.abort()}});
    let latest: [string, number, number] = [method === "models" ? t("app.starting") : method, 0, 0];
    const shown = setTimeout(() => busy(...latest), 300);
    let late = false;
    const lateTimer = setTimeout(() => (late = true), 300);
    try {
      return await this.engine.call<T>(method, params, {
        ...options, signal: stop.signal,
        progress: (what, done, all) => {
          latest = [what, done, all];
          if (late) busy(what, done, all);
        },
      });
    } catch (error) {
      this.fail(error);
      return null;
    } finally {
      clearTimeout(shown);
      clearTimeout(lateTimer);
      if (this.state.busy) this.set({busy: null});
    }
  }

  fail(error: unknown): void {
    const findings = error instanceof CallError ? error.findings : [finding("page.error", String(error))];
    this.set({errors: findings.length ? findings : [finding("page.error", "the call failed")]});
  }

  setLanguage(language: Language): void {
    setLanguage(language);
    remember("language", language);
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

  // Files that came together: models, and the files that their weights are in. Inputs of a run go there.
  async openFiles(given: Iterable<File>): Promise<void> {
    const files = [...given];
    if (this.state.current?.kind === "onnx" && files.length && files.every((f) => isInput.test(f.name)))
      return this.set({verb: this.state.verb === "quantize" ? "quantize" : "run", dropped: files});
    await this.engine.offer?.(files.map((f) => ({name: f.name, blob: f})));
    const models = files.length > 1 ? files.filter((f) => isModel.test(f.name)) : files;
    if (files.length && !models.length)
      return this.fail(new CallError([finding("page.files", "none of these files is a model", ".onnx .onnxtxt .pt .pt2")]));
    for (const file of models) {
      const opened = this.engine.offer ? await this.call<Opened>("open", {file: file.name})
        : await this.call<Opened>("open", {file: file.name, blob: 0}, {blobs: [file]});
      if (opened) await this.take(opened.result, true);
    }
  }

  // A model that was opened or made.
  async take(model: Opened, show: boolean): Promise<void> {
    this.set({models: [...this.state.models, model]});
    if (show) await this.show(model);
  }

  async show(model: Opened): Promise<void> {
    this.set({
      current: model, selected: null, item: null, preview: null, findings: null, ran: null, differences: null, verified: null, text: "",
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
    const model = this.state.current?.model;
    if (!model) return;
    const drawn = await this.call<Scene>("graph", {model, ...how});
    if (!drawn) return;
    this.set({scene: drawn.result});
    this.view?.show(drawn.result, keep);
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
    const model = this.state.current?.model;
    if (id === null || !model) return this.set({item: null});
    const item = await this.call<Item>("node", {model, item: id});
    if (item && this.state.selected === id) this.set({item: item.result});
  }

  // Opens the modules around an item and shows it.
  async goTo(id: number): Promise<void> {
    if (!this.view?.box(id)) await this.draw({open: this.state.scene?.open ?? [], show: id});
    this.view?.goTo(id);
    await this.select(id);
  }

  async search(text: string): Promise<void> {
    const model = this.state.current?.model;
    if (!model || !text.trim()) {
      if (this.view) this.view.marks.hits = new Set();
      this.view?.redraw();
      return this.set({hits: null});
    }
    const found = await this.call<{count: number; hits: Hit[]}>("search", {model, text, limit: 60});
    if (!found) return;
    this.set({hits: found.result});
    if (this.view) {
      this.view.marks.hits = new Set(found.result.hits.map((h) => h.item));
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
      this.set({preview: made.result, command: made.result.command});
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

  async check(strict: boolean): Promise<void> {
    const model = this.state.current?.model;
    const found = await this.call<{findings: CheckFinding[]; command: string}>("check", strict ? {model, strict} : {model});
    if (found) this.set({findings: found.result.findings, command: found.result.command, tab: "findings", drawer: true});
  }

  async lint(targets: string[]): Promise<void> {
    const model = this.state.current?.model;
    const found = await this.call<{findings: CheckFinding[]; command: string}>("lint", {model, settings: {targets}});
    if (found) this.set({findings: found.result.findings, command: found.result.command, tab: "findings", drawer: true});
  }

  async run(params: object, blobs: BlobPart[]): Promise<void> {
    const model = this.state.current?.model;
    const ran = await this.call<Ran>("run", {model, ...params}, {blobs});
    if (!ran) return;
    const total = Math.max(1e-9, ...ran.result.steps.map((s) => s.length_us));
    const colours = new Map<number, string>();
    for (const s of ran.result.steps) if (s.item !== undefined) colours.set(s.item, heat(s.length_us / total));
    this.paint(colours);
    this.set({ran: ran.result, command: ran.result.command, tab: "run", drawer: true});
  }

  async diff(second: number): Promise<void> {
    const model = this.state.current?.model;
    const found = await this.call<{differences: Difference[]; command: string}>("diff", {model: second, second: model});
    if (!found) return;
    const colours = new Map<number, string>();
    for (const d of found.result.differences)
      if (d.second_item !== undefined) colours.set(d.second_item, d.first ? difference.changed : difference.added);
    this.paint(colours);
    this.set({differences: found.result.differences, command: found.result.command, tab: "diff", drawer: true});
  }

  async verify(reference: number, seed: number): Promise<void> {
    const model = this.state.current?.model;
    const done = await this.call<{verified: Verified; command: string}>("verify", {model, reference, settings: {random: seed}});
    if (done) this.set({verified: done.result.verified, command: done.result.command});
  }

  async loadText(): Promise<void> {
    const text = await this.call<{text: string}>("text", {model: this.state.current?.model});
    if (text) this.set({text: text.result.text});
  }

  paint(colours: Map<number, string>): void {
    if (!this.view) return;
    this.view.marks.colours = colours;
    this.view.redraw();
  }

  // As the command writes it: with what was done in the metadata.
  async save(): Promise<void> {
    const current = this.state.current;
    await this.saveAs(current && current.verb !== "open" ? {provenance: provenanceOf(current.command)} : {});
  }

  async saveAs(settings: object): Promise<void> {
    const current = this.state.current;
    if (!current) return;
    const name = current.name.replace(/\.onnxtxt$/, ".onnx");
    const saved = await this.call<{blob: number}>("save", {model: current.model, settings, ...(this.engine.offer ? {name} : {})});
    const bytes = saved?.blobs[saved.result.blob];
    if (bytes) await saveBytes(name, new Blob([bytes]));
    for (const file of saved?.written ?? []) await saveBytes(file.name, file.blob);
  }

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

// "cameo simplify IN OUT --exact" leaves "simplify --exact".
function provenanceOf(command: string): string {
  const words = command.split(" ");
  const flags = words.findIndex((w) => w.startsWith("--"));
  return [words[1], ...(flags < 0 ? [] : words.slice(flags))].join(" ");
}

export async function saveBytes(name: string, blob: Blob): Promise<void> {
  const address = URL.createObjectURL(blob);
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  link.click();
  await new Promise((done) => setTimeout(done, 1000));
  URL.revokeObjectURL(address);
}
