// Files of the tab, as a file system of Emscripten's: what was dropped on the page is read from its Blob by slices, what
// is written becomes a list of Blobs, which the browser keeps on disk once they are large. Neither is ever wholly in the
// module's memory.
import type {Cameo, FileSystem, Node, Stream} from "cameo-module";

const pieceBytes = 8 << 20;
const errors = {EINVAL: 28, EIO: 29, ENOENT: 44, EPERM: 63};
const folderMode = 0o40777;

interface Contents extends Node {
  parent: Contents;
  timestamp: number;
  names: Map<string, Contents>; // of a folder
  blob: Blob; // of a file: what is read, and of a written one what comes before `pieces`
  pieces: Blob[];
  piecesSize: number;
  tail: Uint8Array<ArrayBuffer> | null; // written last, in memory
  tailSize: number;
}

function sizeOf(node: Contents): number {
  return node.blob.size + node.piecesSize + node.tailSize;
}

function cut(node: Contents): void {
  if (!node.tail || !node.tailSize) return;
  node.pieces.push(new Blob([node.tail.subarray(0, node.tailSize)]));
  node.piecesSize += node.tailSize;
  node.tail = null;
  node.tailSize = 0;
}

// All of a file as one Blob.
function settle(node: Contents): Blob {
  cut(node);
  if (!node.pieces.length) return node.blob;
  node.blob = new Blob([node.blob, ...node.pieces]);
  node.pieces = [];
  node.piecesSize = 0;
  return node.blob;
}

export class Files {
  private readonly fs: FileSystem;
  constructor(private readonly cameo: Cameo) {
    this.fs = cameo.FS;
    for (const folder of ["/files", "/out"]) {
      this.fs.mkdir(folder);
      this.fs.mount({mount: () => this.node(null, "/", folderMode)}, {}, folder);
    }
    this.fs.chdir("/files");
  }

  // A path without a slash is in the folder of these.
  add(name: string, blob: Blob): void {
    const folder = this.fs.lookupPath("/files").node as Contents;
    if (folder.names.has(name)) this.fs.unlink(`/files/${name}`);
    this.fs.writeFile(`/files/${name}`, "");
    const node = folder.names.get(name);
    if (node) node.blob = blob;
  }

  // Appends a slice of one open file to another, by reference. False where it cannot be done so.
  join(to: number, from: number, offset: number, length: number): boolean {
    const target = this.fs.getStream(to), source = this.fs.getStream(from)?.node as Contents | undefined;
    const node = target?.node as Contents | undefined;
    if (!target || !node?.pieces || !source?.blob || target.position !== sizeOf(node)) return false;
    const whole = settle(source);
    if (offset + length > whole.size) return false;
    cut(node);
    node.pieces.push(whole.slice(offset, offset + length));
    node.piecesSize += length;
    target.position += length;
    return true;
  }

  // What was written, and forgotten here.
  take(): {name: string; blob: Blob}[] {
    const folder = this.fs.lookupPath("/out").node as Contents;
    const written = [...folder.names].map(([name, node]) => ({name, blob: settle(node)}));
    for (const {name} of written) this.fs.unlink(`/out/${name}`);
    return written;
  }

  private fail(code: number): never {
    throw new this.fs.ErrnoError(code);
  }

  private node(parent: Contents | null, name: string, mode: number): Contents {
    const node = this.fs.createNode(parent, name, mode, 0) as Contents;
    Object.assign(node, {node_ops: this.nodeOps, stream_ops: this.streamOps, timestamp: Date.now(), names: new Map(),
      blob: new Blob([]), pieces: [], piecesSize: 0, tail: null, tailSize: 0});
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
      node.blob = settle(node).slice(0, to.size);
    },
    lookup: () => this.fail(errors.ENOENT),
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
      const blob = settle(stream.node as Contents);
      if (position >= blob.size) return 0;
      let bytes: ArrayBuffer;
      try {
        bytes = new FileReaderSync().readAsArrayBuffer(blob.slice(position, position + length));
      } catch {
        return this.fail(errors.EIO); // the file on disk changed, or is gone
      }
      this.cameo.HEAPU8.set(new Uint8Array(bytes), offset >>> 0);
      return bytes.byteLength;
    },
    write: (stream: Stream, _memory: unknown, offset: number, length: number, position: number) => {
      const node = stream.node as Contents;
      // Nothing of ours writes into the middle of a file.
      if (position !== sizeOf(node)) node.blob = settle(node).slice(0, position);
      for (let done = 0; done < length;) {
        node.tail ??= new Uint8Array(pieceBytes);
        const n = Math.min(length - done, pieceBytes - node.tailSize), from = (offset >>> 0) + done;
        node.tail.set(this.cameo.HEAPU8.subarray(from, from + n), node.tailSize);
        node.tailSize += n;
        done += n;
        if (node.tailSize === pieceBytes) cut(node);
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
}
