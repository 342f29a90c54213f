// Who answers the page's calls: a desk behind the local server, or replies recorded in the file itself. The
// engine in the tab is a third (tab/engine.ts; docs/page.md, "Engines").
import type {Finding, Hit, Scene} from "./types";
import {t} from "./words";

export interface NamedBlob {
  name: string;
  blob: Blob;
}

export interface Reply<T> {
  result: T;
  blobs: Uint8Array<ArrayBuffer>[];
  written?: NamedBlob[]; // files that the call wrote
}

export interface CallOptions {
  blobs?: BlobPart[];
  progress?: (what: string, done: number, all: number) => void;
  signal?: AbortSignal;
}

export interface Engine {
  readonly kind: "server" | "recorded" | "tab";
  readonly computes: boolean; // whether verbs can be called
  readonly threads?: number; // in a tab: as many, where there are several
  // Files that calls may open by name. Without it, files travel with the call.
  offer?(files: NamedBlob[]): Promise<void>;
  call<T>(method: string, params?: object, options?: CallOptions): Promise<Reply<T>>;
}

export class CallError extends Error {
  constructor(readonly findings: Finding[]) {
    super(findings[0]?.what ?? "the call failed");
  }
}

export function finding(code: string, what: string, hint = ""): Finding {
  return {severity: "error", code, what, hint};
}

interface Answer<T> {
  ok: boolean;
  result?: T;
  errors?: Finding[];
}

export function unpacked<T>(answer: Answer<T>): T {
  if (!answer.ok || answer.result === undefined) throw new CallError(answer.errors ?? []);
  return answer.result;
}

// Messages of the server are frames: one byte of kind, eight of length, the contents.
const frames = {progress: 1, reply: 2, blob: 3};

class FrameReader {
  private held = new Uint8Array(0);
  constructor(private readonly reader: ReadableStreamDefaultReader<Uint8Array>) {}

  private async bytes(count: number): Promise<Uint8Array<ArrayBuffer> | null> {
    const parts: Uint8Array[] = [this.held];
    let have = this.held.length;
    while (have < count) {
      const {value, done} = await this.reader.read();
      if (done) return null;
      parts.push(value);
      have += value.length;
    }
    const all = new Uint8Array(have);
    let at = 0;
    for (const p of parts) {
      all.set(p, at);
      at += p.length;
    }
    this.held = all.slice(count);
    return all.slice(0, count);
  }

  // Pieces that the browser keeps, on disk where they are large.
  private async blob(length: number): Promise<Blob | null> {
    const pieces: Blob[] = [];
    for (let left = length; left > 0;) {
      const piece = await this.bytes(Math.min(left, 16 << 20));
      if (!piece) return null;
      pieces.push(new Blob([piece]));
      left -= piece.length;
    }
    return new Blob(pieces);
  }

  async next(): Promise<{kind: number; contents: Uint8Array<ArrayBuffer>; blob: Blob | null} | null> {
    const head = await this.bytes(9);
    if (!head) return null;
    const kind = head[0] ?? 0, length = Number(new DataView(head.buffer).getBigUint64(1, true));
    if (kind === frames.blob) {
      const blob = await this.blob(length);
      return blob && {kind, contents: new Uint8Array(0), blob};
    }
    const contents = await this.bytes(length);
    return contents && {kind, contents, blob: null};
  }
}

function lengthBytes(length: number): Uint8Array<ArrayBuffer> {
  const out = new Uint8Array(8);
  new DataView(out.buffer).setBigUint64(0, BigInt(length), true);
  return out;
}

function sizeOf(part: BlobPart): number {
  return part instanceof Blob ? part.size : typeof part === "string" ? new TextEncoder().encode(part).length : part.byteLength;
}

export class ServerEngine implements Engine {
  readonly kind = "server";
  readonly computes = true;

  async call<T>(method: string, params: object = {}, options: CallOptions = {}): Promise<Reply<T>> {
    const request = new TextEncoder().encode(JSON.stringify({method, params}));
    const parts: BlobPart[] = [lengthBytes(request.length), request];
    for (const b of options.blobs ?? []) parts.push(lengthBytes(sizeOf(b)), b);
    let response: Response;
    try {
      response = await fetch("call", {method: "POST", body: new Blob(parts), signal: options.signal ?? null});
    } catch (error) {
      if (options.signal?.aborted) throw new CallError([finding("budget.interrupted", t("engine.cancelled"))]);
      throw new CallError([finding("page.server", t("engine.noanswer", String(error)), t("engine.again"))]);
    }
    if (!response.ok || !response.body) throw new CallError([finding("page.server", t("engine.refused", response.status))]);
    return await this.read<T>(new FrameReader(response.body.getReader()), options);
  }

  private async read<T>(frame: FrameReader, options: CallOptions): Promise<Reply<T>> {
    const text = new TextDecoder();
    const blobs: Blob[] = [];
    let answer: Answer<T> | null = null;
    try {
      for (let f = await frame.next(); f; f = await frame.next()) {
        if (f.kind === frames.progress) {
          const p = JSON.parse(text.decode(f.contents)) as {what: string; done: number; all: number};
          options.progress?.(p.what, p.done, p.all);
        } else if (f.kind === frames.reply) answer = JSON.parse(text.decode(f.contents)) as Answer<T>;
        else if (f.blob) blobs.push(f.blob);
      }
    } catch (error) {
      if (options.signal?.aborted) throw new CallError([finding("budget.interrupted", t("engine.cancelled"))]);
      throw error;
    }
    if (!answer) throw new CallError([finding("page.server", t("engine.ended"))]);
    const result = unpacked(answer);
    const {files} = result as {files?: {name: string; blob?: number}[]};
    const written = (files ?? []).flatMap((f) => f.blob === undefined ? [] : [{name: f.name, blob: blobs[f.blob] ?? new Blob()}]);
    if (written.length) return {result, blobs: [], written};
    return {result, blobs: await Promise.all(blobs.map(async (b) => new Uint8Array(await b.arrayBuffer())))};
  }
}

// Replies by method and parameters, as `cameo view MODEL -o page.html` wrote them.
export interface Recorded {
  replies: Record<string, unknown>;
}

export class RecordedEngine implements Engine {
  readonly kind = "recorded";
  readonly computes = false;
  constructor(private readonly data: Recorded) {}

  call<T>(method: string, params: object = {}): Promise<Reply<T>> {
    const reply = method === "search" ? this.search((params as {text: string}).text)
      : this.data.replies[`${method} ${JSON.stringify(params)}`] ?? (method === "graph" ? this.nearestGraph(params) : undefined);
    if (reply === undefined)
      return Promise.reject(new CallError([finding("page.recorded", t("engine.recorded"), t("engine.view"))]));
    return Promise.resolve({result: reply as T, blobs: []});
  }

  // Two drawings are recorded: as at first, and with everything open.
  private nearestGraph(params: {open?: number[]; show?: number}): unknown {
    const first = this.data.replies[`graph {"model":1}`] as Scene | undefined;
    const more = params.show !== undefined || (params.open ?? []).some((id) => !first?.open.includes(id));
    return more ? this.data.replies[`graph {"model":1,"all":true}`] : first;
  }

  private search(text: string): {count: number; hits: Hit[]} {
    const scene = this.data.replies[`graph {"model":1,"all":true}`] as Scene;
    const words = text.toLowerCase().split(/\s+/).filter(Boolean);
    const fits = (t: string) => words.every((w) => t.toLowerCase().replaceAll("×", "x").includes(w));
    const hits: Hit[] = [];
    for (const b of scene.boxes) {
      if (fits(b.title)) hits.push({item: b.id, what: b.kind === "node" ? "operator" : b.kind, text: b.title});
      else if (fits(b.path)) hits.push({item: b.id, what: b.kind, text: b.path});
      else for (const l of b.lines ?? []) if (fits(l)) hits.push({item: b.id, what: "weight", text: l});
    }
    for (const l of scene.lines) {
      const [value, type] = scene.wires[l.wire] ?? ["", ""];
      if (l.from !== undefined && fits(`${value} ${type}`)) hits.push({item: l.from, what: "value", text: `${value} ${type}`});
    }
    return {count: hits.length, hits: hits.slice(0, 60)};
  }
}
