// Files that are dropped as inputs of a run: NumPy's, and images as f32 [1, 3, height, width] or [1, height, width, 3].
import {CallError, finding} from "./engine";
import type {ValueType} from "./types";

export interface DroppedInput {
  kind: "npz" | "npy" | "raw";
  name: string; // of the model's input
  file: string;
  bytes: BlobPart;
  dtype?: string;
  shape?: number[];
}

function sizesOf(type: string): (number | null)[] {
  const inner = /\[(.*)\]/.exec(type)?.[1];
  return inner ? inner.split(",").map((s) => (/^\d+$/.test(s.trim()) ? Number(s) : null)) : [];
}

// Numbers from 0 to 1; the size that the model wants, or the image's own.
async function image(file: File, input: ValueType): Promise<DroppedInput> {
  const sizes = sizesOf(input.type);
  if (sizes.length !== 4) throw new CallError([finding("page.image", `${input.name} is ${input.type}: an image needs four sizes`)]);
  const last = sizes[3] === 3 || sizes[3] === 1;
  const channels = (last ? sizes[3] : sizes[1]) ?? 3;
  const bitmap = await createImageBitmap(file);
  const height = (last ? sizes[1] : sizes[2]) ?? bitmap.height;
  const width = (last ? sizes[2] : sizes[3]) ?? bitmap.width;
  const c = new OffscreenCanvas(width, height).getContext("2d");
  if (!c) throw new Error("no 2-D canvas");
  c.drawImage(bitmap, 0, 0, width, height);
  const pixels = c.getImageData(0, 0, width, height).data;
  const out = new Float32Array(channels * height * width);
  for (let i = 0; i < width * height; ++i) {
    const rgb = [pixels[4 * i] ?? 0, pixels[4 * i + 1] ?? 0, pixels[4 * i + 2] ?? 0];
    const grey = (0.299 * rgb[0]! + 0.587 * rgb[1]! + 0.114 * rgb[2]!) / 255;
    for (let k = 0; k < channels; ++k)
      out[last ? i * channels + k : k * width * height + i] = channels === 3 ? rgb[k]! / 255 : grey;
  }
  return {kind: "raw", name: input.name, file: file.name, bytes: out, dtype: "f32", shape: last ? [1, height, width, channels] : [1, channels, height, width]};
}

// By name where a file is called like an input, else in order.
export async function readInputs(files: File[], inputs: ValueType[]): Promise<DroppedInput[]> {
  const out: DroppedInput[] = [];
  const free = [...inputs];
  for (const file of files) {
    if (file.name.endsWith(".npz")) {
      out.push({kind: "npz", name: "*", file: file.name, bytes: file});
      continue;
    }
    const stem = file.name.replace(/\.[^.]*$/, "");
    const at = Math.max(0, free.findIndex((v) => v.name === stem));
    const input = free.splice(at, 1)[0];
    if (!input) throw new CallError([finding("page.inputs", `the model has ${inputs.length} inputs, and more files were dropped`)]);
    if (file.name.endsWith(".npy")) out.push({kind: "npy", name: input.name, file: file.name, bytes: file});
    else out.push(await image(file, input));
  }
  return out;
}
