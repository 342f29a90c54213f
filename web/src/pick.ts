// Which engine this page has: replies that it was saved with, the module that it carries, or the local server.
import {type Engine, type Recorded, RecordedEngine, ServerEngine} from "./engine";
import {beside, carried, TabEngine} from "./tab/engine";

interface Carried extends Partial<Recorded> {
  model?: {name: string; base64: string}; // what a page with a module was saved with
}

const textOf = (id: string) => document.getElementById(id)?.textContent ?? "";

export function pickEngine(): Engine {
  const data = JSON.parse(textOf("cameo-data") || "null") as Carried | null;
  if (data?.replies) return new RecordedEngine({replies: data.replies});
  const site = JSON.parse(textOf("cameo-site") || "null") as Record<"one" | "threads", string> | null;
  if (site) return new TabEngine(beside(site));
  const module = textOf("cameo-module");
  if (!module) return new ServerEngine();
  const model = data?.model;
  const engine = new TabEngine(carried(module, textOf("cameo-worker")), model ? [model.name] : []);
  if (model) void engine.offer([{name: model.name, blob: new Blob([Uint8Array.from(atob(model.base64), (c) => c.charCodeAt(0))])}]);
  return engine;
}
