import {useEffect, useRef} from "preact/hooks";
import type {ArraySummary, Step} from "./types";
import {number, t} from "./words";

export function Histogram({array}: {array: ArraySummary}) {
  const bins = array.bins ?? [];
  const most = Math.max(1, ...bins);
  const width = 240;
  const height = 48;
  const step = width / Math.max(1, bins.length);
  return (
    <svg class="histogram" viewBox={`0 0 ${width} ${height}`} role="img" aria-label={t("panel.histogram", number(array.min), number(array.max))}>
      {bins.map((n, i) => {
        const h = n ? Math.max(1, (n / most) * height) : 0;
        return <rect key={i} x={i * step} y={height - h} width={Math.max(0.5, step - 0.6)} height={h} />;
      })}
    </svg>
  );
}

// Kernels of a convolution as small tiles, 16 to a row.
export function Kernels({picture, pixels}: {picture: {tiles: number; width: number; height: number}; pixels: Uint8Array}) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const {tiles, width, height} = picture;
  const across = Math.min(16, tiles);
  const down = Math.ceil(tiles / across);
  useEffect(() => {
    const c = canvas.current?.getContext("2d");
    if (!c) return;
    c.clearRect(0, 0, c.canvas.width, c.canvas.height);
    for (let tile = 0; tile < tiles; ++tile) {
      const image = c.createImageData(width, height);
      for (let i = 0; i < width * height; ++i) {
        for (let k = 0; k < 3; ++k) image.data[4 * i + k] = pixels[(tile * width * height + i) * 3 + k] ?? 0;
        image.data[4 * i + 3] = 255;
      }
      c.putImageData(image, (tile % across) * (width + 1), Math.floor(tile / across) * (height + 1));
    }
  }, [pixels, tiles, width, height, across]);
  return <canvas class="kernels" ref={canvas} width={across * (width + 1)} height={down * (height + 1)} role="img" aria-label={t("panel.kernels")} />;
}

const hues: Record<string, number> = {};
function colour(op: string): string {
  hues[op] ??= (Object.keys(hues).length * 47) % 360;
  return `hsl(${hues[op]} 55% 55%)`;
}

export function Timeline({steps, onPick}: {steps: Step[]; onPick: (s: Step) => void}) {
  const begin = Math.min(...steps.map((s) => s.start_us));
  const length = Math.max(1e-3, Math.max(...steps.map((s) => s.start_us + s.length_us)) - begin);
  return (
    <svg class="timeline" viewBox="0 0 1000 34" preserveAspectRatio="none" role="img" aria-label={t("run.timeline")}>
      {steps.map((s, i) => (
        <rect key={i} x={(1000 * (s.start_us - begin)) / length} y={3} height={28} width={Math.max(0.7, (1000 * s.length_us) / length)} fill={colour(s.op)} onClick={() => onPick(s)}>
          <title>{`${s.op} ${s.node}\n${(s.length_us / 1000).toFixed(3)} ms, ${s.kernel}`}</title>
        </rect>
      ))}
    </svg>
  );
}
