// The worker that Cameo itself runs in. It answers one request after the other; while one is under way no message
// arrives here, so whether to go on is asked by reading a blob's address, which the page takes back to cancel.
import makeCameo, {type Cameo} from "cameo-module";
import {Files} from "./files";
import {Heap} from "./heap";
import type {FromWorker, Request, ToWorker} from "./messages";
import {Scratch} from "./scratch";

const tell = (message: FromWorker, move: Transferable[] = []) => postMessage(message, {transfer: move});

let cameo: Promise<Cameo> | null = null;
let files: Files | null = null;
const heap = new Heap();
let current: Request | null = null;
let lastAsked = 0;
let lastTold = 0;

function canRead(address: string): boolean {
  try {
    const question = new XMLHttpRequest();
    question.open("GET", address, false);
    question.send();
    return true;
  } catch {
    return false;
  }
}

// A page from disk has an origin of its own, and its worker another: there the page's blobs have no address here.
let stops = false;

function cancelled(): boolean {
  const now = performance.now();
  if (!stops || !current || now - lastAsked < 200) return false;
  lastAsked = now;
  return !canRead(current.go);
}

function progress(what: string, done: number, all: number): boolean {
  const now = performance.now();
  if (current && now - lastTold > 50) {
    lastTold = now;
    tell({id: current.id, progress: {what, done, all}});
  }
  return !cancelled();
}

async function begin(module: WebAssembly.Module): Promise<Cameo> {
  let fail: (error: unknown) => void = () => undefined;
  const failed = new Promise<never>((_, reject) => (fail = reject));
  const making = makeCameo({
    instantiateWasm: (imports, done) => {
      void WebAssembly.instantiate(module, imports).then((instance) => {
        heap.take(imports, instance);
        done(instance, module);
      }).catch(fail);
      return {};
    },
    locateFile: () => `${location.href}#thread`, // threads run this very script (threads.ts)
    progress, cancelled, joinSlice: (to, from, offset, length) => files?.join(to, from, offset, length) ?? false, print: () => {}, printErr: () => {},
  });
  const made = await Promise.race([making, failed]);
  files = new Files(made, heap);
  return made;
}

function bytesOf(blob: Blob | ArrayBuffer): Uint8Array {
  return new Uint8Array(blob instanceof Blob ? new FileReaderSync().readAsArrayBuffer(blob) : blob);
}

// A copy in the module's memory.
function put(c: Cameo, text: Uint8Array): number {
  const at = c._malloc(text.length + 1);
  if (!at) throw new RangeError("out of memory");
  heap.view(at, text.length).set(text);
  return at;
}

async function answer(c: Cameo, request: Request): Promise<void> {
  files?.begin(request.method === "save" ? await Scratch.open() : null);
  current = request;
  lastAsked = performance.now();
  for (const blob of request.blobs) {
    const bytes = bytesOf(blob);
    const at = c._cameo_give(bytes.length);
    if (!at) throw new RangeError("out of memory");
    heap.view(at, bytes.length).set(bytes);
  }
  const text = new TextEncoder().encode(JSON.stringify({method: request.method, params: request.params}));
  const at = put(c, text);
  const length = c._cameo_call(at, text.length) >>> 0;
  c._free(at);
  const reply = new TextDecoder().decode(heap.copy(c._cameo_reply(), length));
  const blobs: Uint8Array<ArrayBuffer>[] = [];
  for (let i = 0; i < c._cameo_blobs(); ++i) {
    blobs.push(heap.copy(c._cameo_blob(i), c._cameo_blob_size(i) >>> 0));
  }
  c._cameo_done();
  current = null;
  tell({id: request.id, reply, blobs, written: (await files?.take()) ?? [], heap: heap.size}, blobs.map((b) => b.buffer));
}

// A name that no file can have here is not there when it is opened, which says so.
function offer(c: Cameo, name: string, blob: Blob): void {
  try {
    files?.add(name, blob);
    const at = put(c, new TextEncoder().encode(`${name}\0`));
    c._cameo_allow(at);
    c._free(at);
  } catch {
    return;
  }
}

async function take(message: ToWorker): Promise<void> {
  if ("begin" in message) {
    try {
      cameo = begin(message.begin.module);
      await cameo;
      stops = canRead(message.begin.go);
      tell({ready: true, stops});
    } catch (error) {
      tell({failed: String(error)});
    }
  } else if ("offered" in message) {
    const c = await cameo;
    for (const {name, blob} of message.offered.files) if (c) offer(c, name, blob);
  } else {
    const c = await cameo;
    try {
      if (c) await answer(c, message.request);
    } catch (error) {
      tell({id: message.request.id, broken: String(error), memory: error instanceof RangeError && !/call stack/.test(error.message)});
    }
  }
}

export function serve(): void {
  let queue = Promise.resolve();
  onmessage = (event: MessageEvent<ToWorker>) => {
    queue = queue.then(() => take(event.data));
  };
}
