// Files to the disk: straight to where the user wants them, if they are large and the browser has a dialog for that, else as
// downloads. Either way the browser reads them piece by piece, and no page holds them in memory.
import type {NamedBlob} from "./engine";

export interface Target {
  // A name close to this one that nothing has yet.
  free(name: string): Promise<string>;
  write(file: NamedBlob, on: Watch): Promise<void>;
}

export interface Watch {
  signal: AbortSignal;
  wrote: (bytes: number) => void;
}

const pieceBytes = 16 << 20;

async function copy(blob: Blob, handle: FileSystemFileHandle, on: Watch): Promise<void> {
  const out = await handle.createWritable();
  try {
    for (let at = 0; at < blob.size; at += pieceBytes) {
      on.signal.throwIfAborted();
      const piece = await blob.slice(at, at + pieceBytes).arrayBuffer(); // read here: what cannot be read is told apart from a full disk
      await out.write(piece);
      on.wrote(piece.byteLength);
    }
    await out.close();
  } catch (error) {
    await out.abort().catch(() => undefined); // the file is as it was
    throw error;
  }
}

const downloads: Target = {
  free: (name) => Promise.resolve(name),
  write: async ({name, blob}, on) => {
    await saveBytes(name, blob);
    on.wrote(blob.size);
  },
};

class Folder implements Target {
  constructor(private readonly folder: FileSystemDirectoryHandle) {}

  async free(name: string): Promise<string> {
    const there = new Set<string>();
    for await (const other of this.folder.keys()) there.add(other.toLowerCase());
    const dot = name.lastIndexOf("."), stem = dot > 0 ? name.slice(0, dot) : name, ending = dot > 0 ? name.slice(dot) : "";
    let found = name;
    for (let i = 2; there.has(found.toLowerCase()); ++i) found = `${stem}-${i}${ending}`;
    return found;
  }

  async write({name, blob}: NamedBlob, on: Watch): Promise<void> {
    try {
      await copy(blob, await this.folder.getFileHandle(name, {create: true}), on);
    } catch (error) {
      await this.folder.removeEntry(name).catch(() => undefined); // it was new
      throw error;
    }
  }
}

class OneFile implements Target {
  constructor(private readonly handle: FileSystemFileHandle) {}
  free(name: string): Promise<string> {
    return Promise.resolve(name);
  }
  write({blob}: NamedBlob, on: Watch): Promise<void> {
    return copy(blob, this.handle, on);
  }
}

// Where files go; asked of the user while the click is fresh. Null: the user changed their mind.
export async function pickTarget(name: string, where: "downloads" | "file" | "folder"): Promise<Target | null> {
  try {
    if (where === "folder" && window.showDirectoryPicker) return new Folder(await window.showDirectoryPicker({mode: "readwrite"}));
    if (where === "file" && window.showSaveFilePicker) return new OneFile(await window.showSaveFilePicker({suggestedName: name}));
  } catch (error) {
    if (error instanceof DOMException && error.name === "AbortError") return null;
  }
  return downloads;
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
