// Of workers and of single browsers, which the page's library of types does not have.
declare class FileReaderSync {
  readAsArrayBuffer(blob: Blob): ArrayBuffer;
}
interface FileSystemSyncAccessHandle {
  read(into: Uint8Array, options: {at: number}): number;
  write(from: Uint8Array, options: {at: number}): number;
  flush(): void;
  close(): void;
}
interface FileSystemFileHandle {
  createSyncAccessHandle(): Promise<FileSystemSyncAccessHandle>;
}
interface FileSystemDirectoryHandle {
  keys(): AsyncIterable<string>;
  values(): AsyncIterable<FileSystemHandle>;
}
interface DataTransferItem {
  getAsFileSystemHandle?(): Promise<FileSystemHandle | null>;
}

// The dialogs of Chromium.
interface Window {
  showSaveFilePicker?(options: {suggestedName: string}): Promise<FileSystemFileHandle>;
  showDirectoryPicker?(options: {mode: "readwrite"}): Promise<FileSystemDirectoryHandle>;
}

// build/wasm/wasm/cameo.mjs, as Emscripten makes it from wasm/.
declare module "cameo-module" {
  export interface Cameo {
    _malloc(size: number): number;
    _free(at: number): void;
    _cameo_allow(path: number): void;
    _cameo_give(size: number): number;
    _cameo_call(request: number, length: number): number;
    _cameo_reply(): number;
    _cameo_blobs(): number;
    _cameo_blob(i: number): number;
    _cameo_blob_size(i: number): number;
    _cameo_done(): void;
    readonly FS: FileSystem;
  }
  // Of Emscripten's file system, what files.ts uses.
  export interface Node {
    id: number;
    mode: number;
    name: string;
  }
  export interface Stream {
    node: Node;
    position: number;
  }
  export interface FileSystem {
    ErrnoError: new (code: number) => Error;
    createNode(parent: Node | null, name: string, mode: number, device: number): Node;
    mkdir(path: string): void;
    mount(type: {mount: () => Node}, options: object, path: string): void;
    chdir(path: string): void;
    unlink(path: string): void;
    writeFile(path: string, data: string): void;
    lookupPath(path: string): {node: Node};
    isDir(mode: number): boolean;
    getStream(descriptor: number): Stream | undefined;
  }
  export interface Given {
    instantiateWasm(imports: WebAssembly.Imports, done: (instance: WebAssembly.Instance, module: WebAssembly.Module) => void): object;
    progress(what: string, done: number, all: number): boolean;
    cancelled(): boolean;
    joinSlice(to: number, from: number, offset: number, length: number): boolean;
    print(text: string): void;
    printErr(text: string): void;
    locateFile?(name: string): string; // of the script that threads begin with
  }
  export default function makeCameo(given: Given): Promise<Cameo>;
}

// What each thread of a module with threads runs, as Emscripten makes it (web/build.mjs).
declare module "cameo-thread" {
  export function serveThread(): void;
}
