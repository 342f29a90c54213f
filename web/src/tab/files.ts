// Files of the tab, as a file system of Emscripten's: what was dropped on the page is read from its Blob by slices, what
// is written goes to a scratch file on disk, or becomes Blobs where there is none. Neither is ever wholly in the module's
// memory. The folder of written files shows the dropped ones too, so that a model may go on referring to its data files.
import type {Cameo, FileSystem, Node, Stream} from "cameo-module";
import type {Heap} from "./heap";
import type {Scratch} from "./scratch";
import {Windows} from "./windows";

const pieceBytes = 8 << 20;
const errors = {EINVAL: 28, EIO: 29, ENOENT: 44, ENOSPC: 51, EPERM: 63};
const folderMode = 0o40777;

// A stretch of a file: `size` bytes of `from`, beginning at `at`.
interface Part {
  from: Blob | Scratch;
  at: number;
  size: number;
}

interface Contents extends Node {
  parent: Contents;
  timestamp: number;
  names: Map<string, Contents>; // of a folder
  parts: Part[]; // of a file
  size: number; // of all parts
  tail: Uint8Array<ArrayBuffer> | null; // written last, in memory
  tailSize: number;
}

const sizeOf = (node: Contents) => node.size + node.tailSize;
const blobOf = (p: Part) => p.from instanceof Blob ? p.from.slice(p.at, p.at + p.size) : p.from.blob(p.at, p.size);

function append(node: Contents, part: Part): void {
  if (!part.size) return;
  const last = node.parts.at(-1);
  if (last && last.from === part.from && last.at + last.size === part.at) last.size += part.size;
  else node.parts.push(part);
  node.size += part.size;
}

// The parts of a stretch of a file.
function partsOf(node: Contents, position: number, length: number): Part[] {
  const out: Part[] = [];
  let before = 0;
  for (const p of node.parts) {
    const from = Math.max(position, before), to = Math.min(position + length, before + p.size);
    if (from < to) out.push({from: p.from, at: p.at + from - before, size: to - from});
    before += p.size;
    if (before >= position + length) break;
  }
  return out;
}

export class Files {
  private readonly fs: FileSystem;
  private scratch: Scratch | null = null;
  constructor(cameo: Cameo, private readonly heap: Heap) {
    this.fs = cameo.FS;
    for (const folder of ["/files", "/out"]) {
      this.fs.mkdir(folder);
      this.fs.mount({mount: () => this.node(null, "/", folderMode)}, {}, folder);
    }
    this.fs.chdir("/files");
  }

  private folder(path: string): Contents {
    return this.fs.lookupPath(path).node as Contents;
  }

  // A relative path, perhaps below folders, is in the folder of these.
  add(name: string, blob: Blob): void {
    let path = "/files";
    const words = name.split("/");
    for (const word of words.slice(0, -1)) {
      const parent = this.folder(path);
      path += `/${word}`;
      if (!parent.names.has(word)) this.fs.mkdir(path);
    }
    const last = words.at(-1) ?? "";
    if (this.folder(path).names.has(last)) this.fs.unlink(`${path}/${last}`);
    this.fs.writeFile(`${path}/${last}`, "");
    const node = this.folder(path).names.get(last);
    if (node) append(node, {from: blob, at: 0, size: blob.size});
  }

  // Appends a slice of one open file to another, by reference. False where it cannot be done so.
  join(to: number, from: number, offset: number, length: number): boolean {
    const target = this.fs.getStream(to), source = this.fs.getStream(from)?.node as Contents | undefined;
    const node = target?.node as Contents | undefined;
    if (!target || !node?.parts || !source?.parts || target.position !== sizeOf(node) || offset + length > source.size) return false;
    this.cut(node);
    for (const p of partsOf(source, offset, length)) append(node, p);
    target.position += length;
    return true;
  }

  // Where files that are written from now on go.
  begin(scratch: Scratch | null): void {
    this.scratch = scratch;
  }

  // What was written, and forgotten here.
  async take(): Promise<{name: string; blob: Blob}[]> {
    const written = [...this.folder("/out").names];
    for (const [, node] of written) this.cut(node);
    await this.scratch?.settle();
    this.scratch = null;
    return written.map(([name, node]) => {
      this.fs.unlink(`/out/${name}`);
      return {name, blob: new Blob(node.parts.map(blobOf))};
    });
  }

  private cut(node: Contents): void {
    const bytes = node.tail?.subarray(0, node.tailSize);
    if (!bytes?.length) return;
    append(node, this.scratch ? {from: this.scratch, at: this.scratch.append(bytes), size: bytes.length} : {from: new Blob([bytes]), at: 0, size: bytes.length});
    if (!this.scratch) node.tail = null;
    node.tailSize = 0;
  }

  private windowsOf(blob: Blob): Windows {
    const known = this.windows.get(blob) ?? new Windows(blob);
    this.windows.set(blob, known);
    return known;
  }
  private readonly windows = new WeakMap<Blob, Windows>();

  private shorten(node: Contents, size: number): void {
    this.cut(node);
    node.parts = partsOf(node, 0, size);
    node.size = size;
  }

  private fail(code: number): never {
    throw new this.fs.ErrnoError(code);
  }

  private node(parent: Contents | null, name: string, mode: number): Contents {
    const node = this.fs.createNode(parent, name, mode, 0) as Contents;
    Object.assign(node, {node_ops: this.nodeOps, stream_ops: this.streamOps, timestamp: Date.now(), names: new Map(), parts: [], size: 0, tail: null, tailSize: 0});
    parent?.names.set(name, node);
    return node;
  }

  private readonly nodeOps = {
    getattr: (node: Contents) => {
      const size = this.fs.isDir(node.mode) ? 4096 : sizeOf(node), when = new Date(node.timestamp);
      return {dev: 1, ino: node.id, mode: node.mode, nlink: 1, uid: 0, gid: 0, rdev: 0, size, atime: when, mtime: when, ctime: when,
        blksize: 4096, blocks: Math.ceil(size / 4096)};
    },
    setattr: (node: Contents, to: {mode?: number; timestamp?: number; size?: number}) => {
      if (to.mode !== undefined) node.mode = to.mode;
      if (to.timestamp !== undefined) node.timestamp = to.timestamp;
      if (to.size === undefined) return;
      if (to.size > sizeOf(node)) this.fail(errors.EINVAL);
      this.shorten(node, to.size);
    },
    lookup: (parent: Contents, name: string) => (parent === this.folder("/out") && this.folder("/files").names.get(name)) || this.fail(errors.ENOENT),
    mknod: (parent: Contents, name: string, mode: number) => this.node(parent, name, mode),
    rename: (node: Contents, folder: Contents, name: string) => {
      node.parent.names.delete(node.name);
      folder.names.set(name, node);
      node.parent = folder;
      node.name = name;
    },
    unlink: (parent: Contents, name: string) => void parent.names.delete(name),
    rmdir: (parent: Contents, name: string) => void parent.names.delete(name),
    readdir: (node: Contents) => [".", "..", ...node.names.keys()],
    symlink: () => this.fail(errors.EPERM),
    readlink: () => this.fail(errors.EPERM),
  };

  private readonly streamOps = {
    read: (stream: Stream, _memory: unknown, offset: number, length: number, position: number) => {
      const node = stream.node as Contents;
      this.cut(node);
      let done = 0;
      for (const p of partsOf(node, position, length)) {
        const into = this.heap.view((offset >>> 0) + done, p.size);
        try {
          if (p.from instanceof Blob) this.windowsOf(p.from).read(into, p.at);
          else p.from.read(into, p.at);
        } catch {
          return this.fail(errors.EIO); // the file on disk changed, or is gone
        }
        done += p.size;
      }
      return done;
    },
    write: (stream: Stream, _memory: unknown, offset: number, length: number, position: number) => {
      const node = stream.node as Contents;
      // Nothing of ours writes into the middle of a file.
      if (position !== sizeOf(node)) this.shorten(node, position);
      for (let done = 0; done < length;) {
        node.tail ??= new Uint8Array(pieceBytes);
        const n = Math.min(length - done, pieceBytes - node.tailSize), from = (offset >>> 0) + done;
        node.tail.set(this.heap.view(from, n), node.tailSize);
        node.tailSize += n;
        done += n;
        if (node.tailSize === pieceBytes) this.full(node);
      }
      node.timestamp = Date.now();
      return length;
    },
    llseek: (stream: Stream, offset: number, whence: number) => {
      const at = offset + (whence === 1 ? stream.position : whence === 2 ? sizeOf(stream.node as Contents) : 0);
      if (at < 0) this.fail(errors.EINVAL);
      return at;
    },
  };

  private full(node: Contents): void {
    try {
      this.cut(node);
    } catch {
      this.fail(errors.ENOSPC);
    }
  }
}
