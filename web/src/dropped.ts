// What was dropped: files, and folders with all that is in them. The name of a file in a folder is its path below that folder,
// as the models in it refer to their data.
import type {NamedBlob} from "./engine";

const mostFiles = 10_000;

async function gatherHandle(handle: FileSystemHandle, below: string, out: NamedBlob[]): Promise<void> {
  if (out.length >= mostFiles || handle.name.startsWith(".")) return;
  if (handle.kind === "file") out.push({name: below + handle.name, blob: await (handle as FileSystemFileHandle).getFile()});
  else for await (const inner of (handle as FileSystemDirectoryHandle).values()) await gatherHandle(inner, `${below}${handle.name}/`, out);
}

// What older browsers have in its place, which fails in pages from disk.
function listed(folder: FileSystemDirectoryEntry): Promise<FileSystemEntry[]> {
  const reader = folder.createReader();
  const all: FileSystemEntry[] = [];
  return new Promise((done, fail) => {
    const more = () => reader.readEntries((some) => {
      all.push(...some);
      if (some.length && all.length < mostFiles) more(); // it gives a hundred at a time
      else done(all);
    }, fail);
    more();
  });
}

async function gather(entry: FileSystemEntry, below: string, out: NamedBlob[]): Promise<void> {
  if (out.length >= mostFiles || entry.name.startsWith(".")) return;
  if (entry.isFile) {
    const blob = await new Promise<File>((done, fail) => (entry as FileSystemFileEntry).file(done, fail));
    out.push({name: below + entry.name, blob});
  } else
    for (const inner of await listed(entry as FileSystemDirectoryEntry)) await gather(inner, `${below}${entry.name}/`, out);
}

export async function dropped(transfer: DataTransfer): Promise<NamedBlob[]> {
  const files = [...transfer.files]; // both lists are empty once the event is over
  const entries = [...transfer.items].flatMap((item) => item.webkitGetAsEntry() ?? []);
  const asked = [...transfer.items].map((item) => item.getAsFileSystemHandle?.());
  if (!entries.some((e) => e.isDirectory)) return files.map((f) => ({name: f.name, blob: f}));
  const out: NamedBlob[] = [];
  const handles = (await Promise.all(asked)).flatMap((h) => h ?? []);
  for (const handle of handles)
    if (handle.kind === "file") await gatherHandle(handle, "", out);
    else for await (const inner of (handle as FileSystemDirectoryHandle).values()) await gatherHandle(inner, "", out);
  if (!handles.length) for (const entry of entries)
    if (entry.isDirectory) for (const inner of await listed(entry as FileSystemDirectoryEntry)) await gather(inner, "", out);
    else await gather(entry, "", out);
  return out.sort((a, b) => a.name.split("/").length - b.name.split("/").length || (a.name < b.name ? -1 : 1));
}
