// A file that what is written goes to while it is made: in the origin's private file system, where the page has one (a page
// from disk has none). Each worker holds a lock while it lives; files of workers that are gone are removed.
const prefix = "cameo-scratch-";
let mine = 0;
const worker = `${prefix}${crypto.randomUUID()}`;

async function removeOld(folder: FileSystemDirectoryHandle): Promise<void> {
  const held = new Set(((await navigator.locks.query()).held ?? []).map((l) => l.name));
  for await (const name of folder.keys())
    if (name.startsWith(prefix) && !held.has(name.slice(0, worker.length))) await folder.removeEntry(name).catch(() => undefined);
}

export class Scratch {
  private size = 0;
  private file: File | null = null;
  private constructor(private readonly folder: FileSystemDirectoryHandle, private readonly handle: FileSystemFileHandle, private readonly access: FileSystemSyncAccessHandle) {}

  // Null where the browser has no such file for this page.
  static async open(): Promise<Scratch | null> {
    try {
      const folder = await navigator.storage.getDirectory();
      if (!mine) {
        void navigator.locks.request(worker, () => new Promise(() => undefined));
        await removeOld(folder);
      }
      const handle = await folder.getFileHandle(`${worker}-${++mine}`, {create: true});
      return new Scratch(folder, handle, await handle.createSyncAccessHandle());
    } catch {
      return null;
    }
  }

  // Where the bytes begin.
  append(bytes: Uint8Array<ArrayBuffer>): number {
    const at = this.size;
    if (this.access.write(bytes, {at}) !== bytes.length) throw new Error("the disk is full");
    this.size += bytes.length;
    return at;
  }

  read(into: Uint8Array, at: number): void {
    if (this.access.read(into, {at}) !== into.length) throw new Error("the scratch file is short");
  }

  // After the last append, and before blob().
  async settle(): Promise<void> {
    this.access.flush();
    this.access.close();
    if (this.size) this.file = await this.handle.getFile();
    else await this.folder.removeEntry(this.handle.name);
  }

  blob(at: number, size: number): Blob {
    return this.file?.slice(at, at + size) ?? new Blob();
  }
}
