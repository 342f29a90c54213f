// The engine in the tab: Cameo as WebAssembly, in a worker. Files stay where they are and are read by slices.
import {CallError, type CallOptions, type Engine, finding, type NamedBlob, type Reply, unpacked} from "../engine";
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

async function unpackedModule(base64: string): Promise<WebAssembly.Module> {
  const packed = Uint8Array.from(atob(base64), (c) => c.charCodeAt(0));
  const bytes = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  return await WebAssembly.compile(await new Response(bytes).arrayBuffer());
}

export class TabEngine implements Engine {
  readonly kind = "tab";
  readonly computes = true;
  heap = 0; // of the module after the last call, in bytes
  private readonly module: Promise<WebAssembly.Module>;
  private worker: Promise<Worker>;
  private stops = true; // a call can be cancelled while the worker lives on
  private readonly waiting = new Map<number, Waiting>();
  private readonly offered = new Map<string, Blob>();
  private readonly made: Made[] = [];
  private next = 1;

  // The module as gzip in base64, the worker's script, and the files to begin with.
  constructor(module: string, private readonly script: string, private readonly listed: string[] = []) {
    this.module = unpackedModule(module);
    this.worker = this.begin();
  }

  private async begin(): Promise<Worker> {
    const module = await this.module;
    const script = URL.createObjectURL(new Blob([this.script], {type: "text/javascript"}));
    const go = URL.createObjectURL(new Blob(["go"]));
    const worker = new Worker(script);
    await new Promise<void>((ready, fail) => {
      worker.onerror = (e) => fail(new Error(e.message));
      worker.onmessage = (e: MessageEvent<FromWorker>) => {
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
    if ("ready" in message) return;
    const one = this.waiting.get(message.id);
    if ("progress" in message) return one?.progress?.(message.progress.what, message.progress.done, message.progress.all);
    if ("broken" in message) return this.restart(worker, new CallError([message.broken]));
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
      throw new CallError([finding("page.engine", `the engine did not start: ${String(error)}`, "use a browser from 2023 or later")]);
    }
    const blobs = (options.blobs ?? []).map((b) => b instanceof Blob ? b : new Blob([b]));
    const go = URL.createObjectURL(new Blob(["go"]));
    const stop = () => {
      if (this.stops) URL.revokeObjectURL(go);
      else this.restart(worker, new CallError([finding("budget.interrupted", "interrupted")]));
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
