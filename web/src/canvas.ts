// The graph on a canvas: pan, zoom, culling, hits. Knows nothing of the rest of the page.
import type {Box, Line, Scene} from "./types";
import {type Palette, palette} from "./colours";
import {count, t} from "./words";

interface Band {
  boxes: number[];
  lines: number[];
}

export interface Marks {
  selected: number | null;
  hits: Set<number>;
  colours: Map<number, string>; // of boxes: differences, times
}

const bandHeight = 400;
const letters = `system-ui, "Noto Sans CJK SC", sans-serif`;

// The beginning of a text that is no wider than that.
function fitted(c: CanvasRenderingContext2D, text: string, width: number): string {
  if (c.measureText(text).width <= width) return text;
  let n = text.length;
  while (n > 1 && c.measureText(`${text.slice(0, n)}…`).width > width) n = Math.min(n - 1, Math.ceil(n * 0.9));
  return `${text.slice(0, n)}…`;
}

export class GraphView {
  private scene: Scene | null = null;
  private bands: Band[] = [];
  private boxOf = new Map<number, Box>();
  private scale = 1;
  private x = 0;
  private y = 0;
  private fitted: (() => void) | null = null; // how the graph was put into the window, until the user moves it
  private waiting = false;
  private colours: Palette = palette(false);
  private readonly context: CanvasRenderingContext2D;
  marks: Marks = {selected: null, hits: new Set(), colours: new Map()};
  onSelect: (id: number | null) => void = () => undefined;
  onToggle: (id: number) => void = () => undefined;
  lastFrame = 0; // milliseconds that drawing took

  constructor(private readonly canvas: HTMLCanvasElement) {
    const context = canvas.getContext("2d", {alpha: false});
    if (!context) throw new Error("no 2-D canvas");
    this.context = context;
    this.listen();
    new ResizeObserver(() => this.resize()).observe(canvas);
  }

  setTheme(dark: boolean): void {
    this.colours = palette(dark);
    this.redraw();
  }

  // `keep`: a box whose place on the screen stays.
  show(scene: Scene | null, keep: number | null = null): void {
    const before = keep === null ? undefined : this.boxOf.get(keep);
    this.scene = scene;
    this.boxOf = new Map((scene?.boxes ?? []).map((b) => [b.id, b]));
    this.index();
    const after = keep === null ? undefined : this.boxOf.get(keep);
    if (before && after) {
      this.x += (before.x + before.w / 2 - after.x - after.w / 2) * this.scale;
      this.y += (before.y - after.y) * this.scale;
      this.moved();
    } else this.fit();
  }

  box(id: number): Box | undefined {
    return this.boxOf.get(id);
  }

  fit(): void {
    if (!this.scene) return this.redraw();
    const {width, height} = this.size();
    const whole = Math.min((width - 60) / Math.max(1, this.scene.width), (height - 60) / Math.max(1, this.scene.height));
    const across = (width - 60) / Math.max(1, this.scene.width);
    this.scale = Math.min(1.1, Math.max(whole, Math.min(across, 0.9), 0.02));
    this.x = (width - this.scene.width * this.scale) / 2;
    this.y = Math.max(52, (height - this.scene.height * this.scale) / 2);
    this.moved(() => this.fit());
  }

  // All of it, unless nothing could be made out then.
  fitAll(): void {
    if (!this.scene) return;
    const {width, height} = this.size();
    const whole = Math.min((width - 60) / Math.max(1, this.scene.width), (height - 60) / Math.max(1, this.scene.height));
    this.scale = Math.min(1.1, Math.max(whole, 0.03));
    this.x = (width - this.scene.width * this.scale) / 2;
    this.y = Math.max(whole < 0.03 ? 52 : 30, (height - this.scene.height * this.scale) / 2);
    this.moved(() => this.fitAll());
  }

  private moved(fitted: (() => void) | null = null): void {
    this.fitted = fitted;
    this.redraw();
  }

  goTo(id: number): void {
    const b = this.boxOf.get(id);
    if (!b) return;
    const {width, height} = this.size();
    if (this.scale < 0.6) this.scale = 0.9;
    this.x = width / 2 - (b.x + b.w / 2) * this.scale;
    this.y = height / 2 - (b.y + Math.min(b.h, 200) / 2) * this.scale;
    this.moved();
  }

  zoom(factor: number, atX?: number, atY?: number): void {
    const {width, height} = this.size();
    const px = atX ?? width / 2;
    const py = atY ?? height / 2;
    const scale = Math.min(4, Math.max(0.005, this.scale * factor));
    this.x = px - (px - this.x) * (scale / this.scale);
    this.y = py - (py - this.y) * (scale / this.scale);
    this.scale = scale;
    this.moved();
  }

  pan(dx: number, dy: number): void {
    this.x += dx;
    this.y += dy;
    this.moved();
  }

  // The nearest box in a direction: wires count more than distance.
  neighbour(id: number, way: "up" | "down" | "left" | "right"): number | null {
    const from = this.boxOf.get(id);
    if (!from || !this.scene) return null;
    if (way === "up" || way === "down") {
      for (const l of this.scene.lines) {
        if (way === "down" && l.from === id && l.to !== undefined) return l.to;
        if (way === "up" && l.to === id && l.from !== undefined) return l.from;
      }
    }
    let best: number | null = null;
    let least = Infinity;
    for (const b of this.scene.boxes) {
      if (b.id === id || b.open) continue;
      const dx = b.x + b.w / 2 - from.x - from.w / 2;
      const dy = b.y + b.h / 2 - from.y - from.h / 2;
      const along = {up: -dy, down: dy, left: -dx, right: dx}[way];
      const aside = way === "up" || way === "down" ? Math.abs(dx) : Math.abs(dy);
      if (along <= 1) continue;
      const d = along + 3 * aside;
      if (d < least) {
        least = d;
        best = b.id;
      }
    }
    return best;
  }

  redraw(): void {
    if (this.waiting) return;
    this.waiting = true;
    requestAnimationFrame(() => {
      this.waiting = false;
      const start = performance.now();
      this.draw();
      this.lastFrame = performance.now() - start;
    });
  }

  // The whole scene as a picture of at most 16 megapixels.
  async png(): Promise<Blob | null> {
    if (!this.scene) return null;
    const edge = 20;
    const w = this.scene.width + 2 * edge;
    const h = this.scene.height + 2 * edge;
    const scale = Math.min(2, Math.sqrt(16e6 / (w * h)), 16000 / h, 16000 / w);
    const canvas = new OffscreenCanvas(Math.max(1, Math.round(w * scale)), Math.max(1, Math.round(h * scale)));
    const c = canvas.getContext("2d");
    if (!c) return null;
    c.fillStyle = this.colours.paper;
    c.fillRect(0, 0, canvas.width, canvas.height);
    c.setTransform(scale, 0, 0, scale, edge * scale, edge * scale);
    this.paint(c as unknown as CanvasRenderingContext2D, scale, -edge, -edge, w, h);
    return await canvas.convertToBlob({type: "image/png"});
  }

  private size(): {width: number; height: number} {
    return {width: this.canvas.clientWidth, height: this.canvas.clientHeight};
  }

  private resize(): void {
    const ratio = window.devicePixelRatio || 1;
    const {width, height} = this.size();
    this.canvas.width = Math.max(1, Math.round(width * ratio));
    this.canvas.height = Math.max(1, Math.round(height * ratio));
    if (this.fitted) this.fitted();
    else this.redraw();
  }

  // Boxes and lines by stretches of the page, so that drawing costs what is seen.
  private index(): void {
    const scene = this.scene;
    this.bands = [];
    if (!scene) return;
    const place = (top: number, bottom: number, add: (b: Band) => void) => {
      const first = Math.max(0, Math.floor(top / bandHeight));
      const last = Math.max(first, Math.floor(bottom / bandHeight));
      for (let i = first; i <= last; ++i) add((this.bands[i] ??= {boxes: [], lines: []}));
    };
    scene.boxes.forEach((b, i) => place(b.y, b.y + b.h, (band) => band.boxes.push(i)));
    scene.lines.forEach((l, i) => {
      if (l.p.length < 4) return;
      const a = l.p[1] ?? 0;
      const b = l.p[l.p.length - 1] ?? 0;
      place(Math.min(a, b), Math.max(a, b), (band) => band.lines.push(i));
    });
  }

  private draw(): void {
    const c = this.context;
    const ratio = window.devicePixelRatio || 1;
    const {width, height} = this.size();
    c.setTransform(ratio, 0, 0, ratio, 0, 0);
    c.fillStyle = this.colours.paper;
    c.fillRect(0, 0, width, height);
    if (!this.scene) return;
    c.setTransform(ratio * this.scale, 0, 0, ratio * this.scale, ratio * this.x, ratio * this.y);
    this.paint(c, this.scale, -this.x / this.scale, -this.y / this.scale, width / this.scale, height / this.scale);
  }

  private paint(c: CanvasRenderingContext2D, scale: number, left: number, top: number, w: number, h: number): void {
    const scene = this.scene;
    if (!scene) return;
    const boxes = new Set<number>();
    const lines = new Set<number>();
    const first = Math.max(0, Math.floor(top / bandHeight));
    const last = Math.floor((top + h) / bandHeight);
    for (let i = first; i <= last && i < this.bands.length; ++i) {
      const band = this.bands[i];
      if (!band) continue;
      for (const b of band.boxes) boxes.add(b);
      for (const l of band.lines) lines.add(l);
    }
    const seen = [...boxes].sort((a, b) => a - b).map((i) => scene.boxes[i] as Box)
      .filter((b) => b.x < left + w && b.x + b.w > left);
    for (const b of seen) if (b.open) this.paintFrame(c, b);
    this.paintLines(c, [...lines].map((i) => scene.lines[i] as Line), scale);
    for (const b of seen) if (!b.open) this.paintBox(c, b, scale);
    if (scale >= 0.25) for (const b of seen) if (b.open) this.paintTitle(c, b);
  }

  private paintLines(c: CanvasRenderingContext2D, lines: Line[], scale: number): void {
    const selected = this.marks.selected;
    const plain = new Path2D();
    const bright = new Path2D();
    const up = new Path2D();
    for (const l of lines) {
      const path = selected !== null && (l.from === selected || l.to === selected) ? bright : l.up ? up : plain;
      trace(path, l.p, scale);
    }
    c.lineWidth = Math.min(1.2, 1.1 / Math.sqrt(scale));
    c.strokeStyle = this.colours.line;
    c.stroke(plain);
    c.setLineDash([5, 4]);
    c.stroke(up);
    c.setLineDash([]);
    c.lineWidth = 2.2;
    c.strokeStyle = this.colours.accent;
    c.stroke(bright);
    if (scale < 0.5) return;
    c.fillStyle = this.colours.line;
    for (const l of lines) if (l.to !== undefined && l.p.length >= 4) arrow(c, l);
    if (scale > 0.75) this.paintTypes(c, lines);
  }

  private paintTypes(c: CanvasRenderingContext2D, lines: Line[]): void {
    c.font = "10.5px ui-monospace, monospace";
    c.textAlign = "left";
    c.fillStyle = this.colours.faint;
    const done = new Set<number>();
    for (const l of lines) {
      if (l.from === undefined || l.p.length < 4 || done.has(l.wire)) continue;
      done.add(l.wire);
      const type = this.scene?.wires[l.wire]?.[1] ?? "";
      const shape = type.replace(/^f32/, "");
      if (shape && shape !== "?") c.fillText(shape.length > 26 ? `${shape.slice(0, 25)}…` : shape, (l.p[0] ?? 0) + 5, (l.p[1] ?? 0) + 12);
    }
  }

  private paintFrame(c: CanvasRenderingContext2D, b: Box): void {
    c.fillStyle = b.depth % 2 ? this.colours.frameOdd : this.colours.frame;
    c.strokeStyle = this.marks.selected === b.id ? this.colours.accent : this.colours.frameEdge;
    c.lineWidth = this.marks.selected === b.id ? 2 : 1;
    rounded(c, b, 8);
    c.fill();
    c.stroke();
  }

  // Over the wires, which it keeps clear of its letters.
  private paintTitle(c: CanvasRenderingContext2D, b: Box): void {
    c.font = `600 12px ${letters}`;
    c.textAlign = "left";
    const text = fitted(c, `▾ ${b.title}`, b.w - 16);
    c.strokeStyle = b.depth % 2 ? this.colours.frameOdd : this.colours.frame;
    c.lineWidth = 4;
    c.lineJoin = "round";
    c.strokeText(text, b.x + 10, b.y + 17);
    c.fillStyle = this.colours.soft;
    c.fillText(text, b.x + 10, b.y + 17);
  }

  private paintBox(c: CanvasRenderingContext2D, b: Box, scale: number): void {
    const kind = b.kind === "node" ? this.colours.families[b.family ?? "other"] ?? this.colours.families["other"] : this.colours.kinds[b.kind];
    const [fill, edge] = kind ?? ["#888", "#555"];
    const mark = this.marks.colours.get(b.id);
    c.fillStyle = mark ?? fill;
    if (scale < 0.12) {
      c.fillRect(b.x, b.y, b.w, b.h);
      return;
    }
    const chosen = this.marks.selected === b.id;
    c.strokeStyle = chosen ? this.colours.accent : this.marks.hits.has(b.id) ? this.colours.hit : edge;
    c.lineWidth = chosen || this.marks.hits.has(b.id) ? 2.5 : 1;
    if (b.kind === "repeat") {
      rounded(c, {...b, x: b.x + 4, y: b.y - 4}, 5);
      c.fill();
      c.stroke();
    }
    rounded(c, b, b.kind === "input" || b.kind === "output" ? b.h / 2 : 5);
    c.fill();
    c.stroke();
    if (scale < 0.3) return;
    c.textAlign = "center";
    c.fillStyle = mark ? "#10151c" : this.colours.ink;
    c.font = `600 12.5px ${letters}`;
    c.fillText(b.title, b.x + b.w / 2, b.y + 17, b.w - 8);
    const lines = b.lines ?? (b.opens && b.kind !== "node" ? [`${count(b.nodes ?? 0)} ${t("stat.nodes")}`] : []);
    c.font = "11px ui-monospace, monospace";
    c.fillStyle = mark ? "#2a3340" : this.colours.soft;
    lines.forEach((text, i) => c.fillText(text, b.x + b.w / 2, b.y + 32 + 15 * i, b.w - 8));
  }

  private hit(px: number, py: number): Box | null {
    const x = (px - this.x) / this.scale;
    const y = (py - this.y) / this.scale;
    const band = this.bands[Math.floor(y / bandHeight)];
    let found: Box | null = null;
    for (const i of band?.boxes ?? []) {
      const b = this.scene?.boxes[i];
      if (b && x >= b.x && x <= b.x + b.w && y >= b.y && y <= b.y + b.h && (!found || b.depth >= found.depth)) found = b;
    }
    return found;
  }

  private listen(): void {
    let down: {x: number; y: number; moved: boolean} | null = null;
    this.canvas.addEventListener("pointerdown", (e) => {
      down = {x: e.offsetX, y: e.offsetY, moved: false};
      this.canvas.setPointerCapture(e.pointerId);
    });
    this.canvas.addEventListener("pointermove", (e) => {
      if (!down) {
        this.canvas.style.cursor = this.hit(e.offsetX, e.offsetY) ? "pointer" : "grab";
        return;
      }
      const dx = e.offsetX - down.x;
      const dy = e.offsetY - down.y;
      if (!down.moved && Math.hypot(dx, dy) < 4) return;
      this.pan(dx, dy);
      down = {x: e.offsetX, y: e.offsetY, moved: true};
    });
    this.canvas.addEventListener("pointerup", (e) => {
      if (down && !down.moved) {
        const b = this.hit(e.offsetX, e.offsetY);
        this.onSelect(b?.id ?? null);
        if (b?.opens && b.kind !== "node" && !b.open) this.onToggle(b.id);
        else if (b?.open && e.offsetY < this.y + (b.y + 26) * this.scale) this.onToggle(b.id);
      }
      down = null;
    });
    this.canvas.addEventListener("dblclick", (e) => {
      const b = this.hit(e.offsetX, e.offsetY);
      if (b?.opens && b.kind === "node") this.onToggle(b.id);
    });
    this.canvas.addEventListener("wheel", (e) => {
      e.preventDefault();
      if (e.ctrlKey || e.metaKey) this.zoom(Math.exp(-e.deltaY * 0.01), e.offsetX, e.offsetY);
      else if (e.shiftKey) this.pan(-e.deltaY, 0);
      else if (Math.abs(e.deltaX) > 0 || !Number.isInteger(e.deltaY)) this.pan(-e.deltaX, -e.deltaY);
      else this.zoom(Math.exp(-e.deltaY * 0.0016), e.offsetX, e.offsetY);
    }, {passive: false});
  }
}

function rounded(c: CanvasRenderingContext2D, b: {x: number; y: number; w: number; h: number}, radius: number): void {
  c.beginPath();
  c.roundRect(b.x, b.y, b.w, b.h, Math.min(radius, b.h / 2));
}

function trace(path: Path2D, p: number[], scale: number): void {
  if (p.length < 4) return;
  path.moveTo(p[0] as number, p[1] as number);
  for (let i = 2; i < p.length; i += 2) {
    const x0 = p[i - 2] as number;
    const y0 = p[i - 1] as number;
    const x = p[i] as number;
    const y = p[i + 1] as number;
    if (x === x0 || scale < 0.12) path.lineTo(x, y);
    else path.bezierCurveTo(x0, (y0 + y) / 2, x, (y0 + y) / 2, x, y);
  }
}

function arrow(c: CanvasRenderingContext2D, l: Line): void {
  const x = l.p[l.p.length - 2] as number;
  const y = l.p[l.p.length - 1] as number;
  const back = l.up ? 6 : -6;
  c.beginPath();
  c.moveTo(x, y);
  c.lineTo(x - 3.5, y + back);
  c.lineTo(x + 3.5, y + back);
  c.fill();
}
