// The module's memory. It grows, with threads at any time, so that views of it are made when they are needed.
export class Heap {
  private memory: WebAssembly.Memory | null = null;

  // The memory is exported by a module, or imported where it is shared by threads.
  take(imports: WebAssembly.Imports, instance: WebAssembly.Instance): void {
    const all = [...Object.values(instance.exports), ...Object.values(imports).flatMap((space) => Object.values(space))];
    this.memory = all.find((one) => one instanceof WebAssembly.Memory) ?? null;
  }

  get size(): number {
    return this.memory?.buffer.byteLength ?? 0;
  }

  view(at: number, size: number): Uint8Array {
    if (!this.memory) throw new Error("the module has no memory");
    return new Uint8Array(this.memory.buffer, at >>> 0, size);
  }

  // Fresh bytes, which nothing shares: what decoders and messages take.
  copy(at: number, size: number): Uint8Array<ArrayBuffer> {
    const out = new Uint8Array(size);
    out.set(this.view(at, size));
    return out;
  }
}
