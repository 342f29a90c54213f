// What the page and its worker say to each other.
import type {NamedBlob} from "../engine";

export interface Request {
  id: number;
  method: string;
  params: object;
  blobs: (Blob | ArrayBuffer)[];
  go: string; // the address of a blob: the call goes on for as long as it can be read
}
export interface Begin {
  module: WebAssembly.Module;
  go: string;
}
export interface Offered {
  files: NamedBlob[];
}
export type ToWorker = {begin: Begin} | {offered: Offered} | {request: Request};

export type FromWorker =
  | {ready: true; stops: boolean} // whether a call can be cancelled by taking back the address `go`
  | {failed: string} // the module did not begin
  | {id: number; progress: {what: string; done: number; all: number}}
  | {id: number; reply: string; blobs: Uint8Array<ArrayBuffer>[]; written: NamedBlob[]; heap: number}
  | {id: number; broken: string; memory: boolean}; // the module is in an unknown state
