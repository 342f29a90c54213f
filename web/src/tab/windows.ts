// Reading a Blob by stretches that stay in memory for a while: a call of FileReaderSync takes as long as reading 200 KB, and
// the parts of an archive, headers and small tensors, lie side by side and are looked at several times.
const windowBytes = 128 << 10, mostWindows = 256;
const mostWhole = 128 << 20; // a file that is read from end to end, and then again, is kept up to this size

export class Windows {
  private readonly held = new Map<number, Uint8Array<ArrayBuffer>>(); // by place, the one read last at the end
  private whole: Uint8Array<ArrayBuffer> | null = null;
  private long = 0; // bytes of reads longer than a window
  constructor(private readonly blob: Blob) {}

  read(into: Uint8Array, at: number): void {
    if (this.whole) return into.set(this.whole.subarray(at, at + into.length));
    if (into.length > windowBytes) {
      this.long += into.length;
      if (this.blob.size > mostWhole || this.long < this.blob.size / 2) return into.set(this.fetch(at, into.length));
      this.whole = this.fetch(0, this.blob.size);
      this.held.clear();
      return this.read(into, at);
    }
    for (let done = 0; done < into.length;) {
      const number = Math.floor((at + done) / windowBytes), from = at + done - number * windowBytes;
      const piece = this.window(number).subarray(from, from + into.length - done);
      if (!piece.length) throw new Error("the file is shorter");
      into.set(piece, done);
      done += piece.length;
    }
  }

  private window(number: number): Uint8Array<ArrayBuffer> {
    const known = this.held.get(number);
    this.held.delete(number);
    const bytes = known ?? this.fetch(number * windowBytes, Math.min(windowBytes, this.blob.size - number * windowBytes));
    this.held.set(number, bytes);
    const [oldest] = this.held.keys();
    if (this.held.size > mostWindows && oldest !== undefined) this.held.delete(oldest);
    return bytes;
  }

  private fetch(at: number, size: number): Uint8Array<ArrayBuffer> {
    return new Uint8Array(new FileReaderSync().readAsArrayBuffer(this.blob.slice(at, at + size)));
  }
}
