// Files that are dropped as inputs of a run: NumPy's, and images as [1, 3, height, width] or [1, height, width, 3], or with one channel.
import {CallError, finding} from "./engine";
import type {ValueType} from "./types";
import {t} from "./words";

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

// Bytes for an input of bytes, else numbers from 0 to 1; in the size that the model wants, or the image's own.
async function image(file: File, input: ValueType): Promise<DroppedInput> {
  const sizes = sizesOf(input.type), dtype = input.type.replace(/\[.*/, "");
  const last = sizes[3] === 3 || sizes[3] === 1;
  const channels = (last ? sizes[3] : sizes[1]) ?? 3;
  if (sizes.length !== 4 || (channels !== 1 && channels !== 3) || (dtype !== "f32" && dtype !== "u8"))
    throw new CallError([finding("page.image", t("inputs.image", input.name, input.type))]);
  const bitmap = await createImageBitmap(file).catch(() => {
    throw new CallError([finding("page.image", t("inputs.picture", file.name))]);
  });
  const height = (last ? sizes[1] : sizes[2]) ?? bitmap.height;
  const width = (last ? sizes[2] : sizes[3]) ?? bitmap.width;
  const c = new OffscreenCanvas(width, height).getContext("2d");
  if (!c) throw new Error("no 2-D canvas");
  c.drawImage(bitmap, 0, 0, width, height);
  const pixels = c.getImageData(0, 0, width, height).data, all = channels * height * width;
  const out = dtype === "u8" ? new Uint8Array(all) : new Float32Array(all), scale = dtype === "u8" ? 1 : 255;
  for (let i = 0; i < width * height; ++i) {
    const rgb = [pixels[4 * i] ?? 0, pixels[4 * i + 1] ?? 0, pixels[4 * i + 2] ?? 0];
    const grey = Math.round(0.299 * rgb[0]! + 0.587 * rgb[1]! + 0.114 * rgb[2]!);
    for (let k = 0; k < channels; ++k)
      out[last ? i * channels + k : k * width * height + i] = (channels === 3 ? rgb[k]! : grey) / scale;
  }
  return {kind: "raw", name: input.name, file: file.name, bytes: out, dtype, shape: last ? [1, height, width, channels] : [1, channels, height, width]};
}

// By name where a file is called like an input, else in order.
export async function readInputs(files: File[], inputs: ValueType[]): Promise<DroppedInput[]> {
  const out: DroppedInput[] = [];
  const free = [...inputs];
  for (const file of files) {
    if (/\.npz$/i.test(file.name)) {
      out.push({kind: "npz", name: "*", file: file.name, bytes: file});
      continue;
    }
    const stem = file.name.replace(/\.[^.]*$/, "");
    const at = Math.max(0, free.findIndex((v) => v.name === stem));
    const input = free.splice(at, 1)[0];
    if (!input) throw new CallError([finding("page.inputs", t("inputs.more", inputs.length))]);
    if (/\.npy$/i.test(file.name)) out.push({kind: "npy", name: input.name, file: file.name, bytes: file});
    else out.push(await image(file, input));
  }
  return out;
}
