// The engine in the tab: Cameo as WebAssembly, in a worker. Files stay where they are and are read by slices.
import {CallError, type CallOptions, type Engine, finding, type NamedBlob, type Reply, unpacked} from "../engine";
import {t} from "../words";
import type {FromWorker, Request, ToWorker} from "./messages";

type Done = Extract<FromWorker, {reply: string}>;

interface Waiting {
  resolve: (m: Done) => void;
  reject: (e: unknown) => void;
  progress: CallOptions["progress"];
}

// A call that made a model, for the next worker, where this one has to be ended.
interface Made {
  method: string;
  params: object;
  blobs: Blob[];
}

// A module and the script of its worker.
export interface Parts {
  module: WebAssembly.Module;
  script: string;
  threads: boolean;
}

// Packed by gzip, unless a server has told the browser so, which has unpacked it then.
async function plain(bytes: Uint8Array<ArrayBuffer>): Promise<ArrayBuffer> {
  if (bytes[0] !== 0x1f || bytes[1] !== 0x8b) return bytes.buffer;
  return await new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).arrayBuffer();
}

// What the page carries: the module as gzip in base64.
export async function carried(base64: string, script: string): Promise<Parts> {
  const packed = Uint8Array.from(atob(base64), (c) => c.charCodeAt(0));
  return {module: await WebAssembly.compile(await plain(packed)), script, threads: false};
}

// What lies beside a page on a web site: the module with threads where the site isolates the page, else the one without.
export async function beside(names: Record<"one" | "threads", string>): Promise<Parts> {
  const threads = globalThis.crossOriginIsolated;
  const get = async (ending: string) => {
    const name = `${names[threads ? "threads" : "one"]}.${ending}`, answer = await fetch(name);
    if (!answer.ok) throw new Error(`${name}: ${answer.status}`);
    return new Uint8Array(await answer.arrayBuffer());
  };
  const [module, script] = await Promise.all([get("wasm.gz"), get("js")]);
  return {module: await WebAssembly.compile(await plain(module)), script: new TextDecoder().decode(script), threads};
}

export class TabEngine implements Engine {
  readonly kind = "tab";
  readonly computes = true;
  threads = 0;
  heap = 0; // of the module after the last call, in bytes
  private worker: Promise<Worker>;
  private stops = true; // a call can be cancelled while the worker lives on
  private readonly waiting = new Map<number, Waiting>();
  private readonly offered = new Map<string, Blob>();
  private readonly made: Made[] = [];
  private next = 1;

  // With the files to begin with.
  constructor(private readonly parts: Promise<Parts>, private readonly listed: string[] = []) {
    this.worker = this.begin();
  }

  private async begin(): Promise<Worker> {
    const {module, script: text, threads} = await this.parts;
    this.threads = threads ? Math.min(16, navigator.hardwareConcurrency) : 0;
    const script = URL.createObjectURL(new Blob([text], {type: "text/javascript"}));
    const go = URL.createObjectURL(new Blob(["go"]));
    const worker = new Worker(script);
    await new Promise<void>((ready, fail) => {
      worker.onerror = (e) => fail(new Error(e.message));
      worker.onmessage = (e: MessageEvent<FromWorker>) => {
        if ("failed" in e.data) fail(new Error(e.data.failed));
        if (!("ready" in e.data)) return;
        this.stops = e.data.stops;
        ready();
      };
      this.tell(worker, {begin: {module, go}});
    });
    URL.revokeObjectURL(script);
    URL.revokeObjectURL(go);
    worker.onmessage = (e: MessageEvent<FromWorker>) => this.take(worker, e.data);
    return worker;
  }

  private tell(worker: Worker, message: ToWorker): void {
    worker.postMessage(message);
  }

  private take(worker: Worker, message: FromWorker): void {
    if ("ready" in message || "failed" in message) return;
    const one = this.waiting.get(message.id);
    if ("progress" in message) return one?.progress?.(message.progress.what, message.progress.done, message.progress.all);
    if ("broken" in message) return this.restart(worker, new CallError([finding("page.engine", message.memory ? t("engine.memory") : t("engine.broke", message.broken), t("engine.broke.hint"))]));
    this.waiting.delete(message.id);
    this.heap = message.heap;
    one?.resolve(message);
  }

  // Ends a worker, and gives the next one the models that there were.
  private restart(worker: Worker, why: CallError): void {
    worker.terminate();
    for (const w of this.waiting.values()) w.reject(why);
    this.waiting.clear();
    this.worker = this.begin().then(async (fresh) => {
      this.tell(fresh, {offered: {files: [...this.offered].map(([name, blob]) => ({name, blob}))}});
      for (const m of this.made) await this.send(fresh, m.method, m.params, m.blobs, "", undefined);
      return fresh;
    });
  }

  private send(worker: Worker, method: string, params: object, blobs: Blob[], go: string, progress: CallOptions["progress"]): Promise<Done> {
    const request: Request = {id: this.next++, method, params, blobs, go};
    return new Promise<Done>((resolve, reject) => {
      this.waiting.set(request.id, {resolve, reject, progress});
      this.tell(worker, {request});
    });
  }

  async offer(files: NamedBlob[]): Promise<void> {
    for (const {name, blob} of files) this.offered.set(name, blob);
    this.tell(await this.worker, {offered: {files}});
  }

  async call<T>(method: string, params: object = {}, options: CallOptions = {}): Promise<Reply<T>> {
    let worker: Worker;
    try {
      worker = await this.worker;
    } catch (error) {
      throw new CallError([finding("page.engine", t("engine.start", String(error)), t("engine.browser"))]);
    }
    const blobs = (options.blobs ?? []).map((b) => b instanceof Blob ? b : new Blob([b]));
    const go = URL.createObjectURL(new Blob(["go"]));
    const stop = () => {
      if (this.stops) URL.revokeObjectURL(go);
      else this.restart(worker, new CallError([finding("budget.interrupted", t("engine.cancelled"))]));
    };
    options.signal?.addEventListener("abort", stop);
    try {
      const done = await this.send(worker, method, params, blobs, go, options.progress);
      const result = unpacked<T>(JSON.parse(done.reply));
      this.remember(method, params, blobs, result);
      if (method === "models") Object.assign(result as object, {files: this.listed});
      return {result, blobs: done.blobs, written: done.written};
    } finally {
      options.signal?.removeEventListener("abort", stop);
      URL.revokeObjectURL(go);
    }
  }

  private remember(method: string, params: object, blobs: Blob[], result: unknown): void {
    const {model, ledger} = result as {model?: number; ledger?: unknown};
    if (model && ledger) this.made.push({method, params: {...params, as: model}, blobs});
  }
}
