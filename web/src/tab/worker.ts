// The worker that Cameo itself runs in. It answers one request after the other; while one is under way no message
// arrives here, so whether to go on is asked by reading a blob's address, which the page takes back to cancel.
import makeCameo, {type Cameo} from "cameo-module";
import {Files} from "./files";
import type {FromWorker, Request, ToWorker} from "./messages";
import {Scratch} from "./scratch";

const tell = (message: FromWorker, move: Transferable[] = []) => postMessage(message, {transfer: move});

let cameo: Promise<Cameo> | null = null;
let files: Files | null = null;
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
  const made = await makeCameo({
    instantiateWasm: (imports, done) => {
      void WebAssembly.instantiate(module, imports).then((instance) => done(instance, module));
      return {};
    },
    progress, cancelled, joinSlice: (to, from, offset, length) => files?.join(to, from, offset, length) ?? false, print: () => {}, printErr: () => {},
  });
  files = new Files(made);
  return made;
}

function bytesOf(blob: Blob | ArrayBuffer): Uint8Array {
  return new Uint8Array(blob instanceof Blob ? new FileReaderSync().readAsArrayBuffer(blob) : blob);
}

async function answer(c: Cameo, request: Request): Promise<void> {
  files?.begin(request.method === "save" ? await Scratch.open() : null);
  current = request;
  lastAsked = performance.now();
  for (const blob of request.blobs) {
    const bytes = bytesOf(blob);
    const at = c._cameo_give(bytes.length) >>> 0;
    if (!at) throw new RangeError("out of memory");
    c.HEAPU8.set(bytes, at);
  }
  const text = new TextEncoder().encode(JSON.stringify({method: request.method, params: request.params}));
  const at = c._malloc(text.length + 1) >>> 0;
  c.HEAPU8.set(text, at);
  const length = c._cameo_call(at, text.length) >>> 0;
  c._free(at);
  const from = c._cameo_reply() >>> 0;
  const reply = new TextDecoder().decode(c.HEAPU8.subarray(from, from + length));
  const blobs: Uint8Array<ArrayBuffer>[] = [];
  for (let i = 0; i < c._cameo_blobs(); ++i) {
    const start = c._cameo_blob(i) >>> 0;
    blobs.push(c.HEAPU8.slice(start, start + (c._cameo_blob_size(i) >>> 0)));
  }
  c._cameo_done();
  current = null;
  tell({id: request.id, reply, blobs, written: (await files?.take()) ?? [], heap: c.HEAPU8.length}, blobs.map((b) => b.buffer));
}

async function take(message: ToWorker): Promise<void> {
  if ("begin" in message) {
    cameo = begin(message.begin.module);
    await cameo;
    stops = canRead(message.begin.go);
    tell({ready: true, stops});
  } else if ("offered" in message) {
    const c = await cameo;
    for (const {name, blob} of message.offered.files) {
      files?.add(name, blob);
      const text = new TextEncoder().encode(`${name}\0`);
      const at = (c?._malloc(text.length) ?? 0) >>> 0;
      c?.HEAPU8.set(text, at);
      c?._cameo_allow(at);
      c?._free(at);
    }
  } else {
    const c = await cameo;
    try {
      if (c) await answer(c, message.request);
    } catch (error) { // the module is in an unknown state
      const what = error instanceof RangeError ? "the tab has no more memory" : `the engine broke off: ${String(error)}`;
      tell({id: message.request.id, broken: {severity: "error", code: "page.engine", what, hint: "cameo view has no such limits"}});
    }
  }
}

let queue = Promise.resolve();
onmessage = (event: MessageEvent<ToWorker>) => {
  queue = queue.then(() => take(event.data));
};
