import {useEffect, useReducer, useRef} from "preact/hooks";
import {GraphView} from "./canvas";
import {Drawer} from "./drawer";
import {dropped} from "./dropped";
import {example} from "./example";
import {CopyButton, Errors, KeyList, Progress, Said} from "./overlays";
import {Panel} from "./panel";
import type {Store} from "./store";
import {FileButton, TopBar, ViewButtons} from "./topbar";
import {Verbs} from "./verbs";
import {t, type Word} from "./words";

export interface Props {
  store: Store;
}

export function App({store}: Props) {
  const [, again] = useReducer((n: number) => n + 1, 0);
  useEffect(() => {
    again(undefined); // what changed before the first paint
    return store.subscribe(() => again(undefined));
  }, [store]);
  useEffect(() => listenToKeys(store), [store]);
  useEffect(() => listenToDrops(store), [store]);
  useEffect(() => guardUnsaved(store), [store]);
  const s = store.state;
  return (
    <div class="app">
      <TopBar store={store} />
      <main class={!s.current ? "work empty" : store.engine.computes ? "work" : "work shown"}>
        {s.current && store.engine.computes && <Verbs store={store} />}
        <section class="middle">
          <Stage store={store} />
          {s.current?.kind === "onnx" && <Drawer store={store} />}
        </section>
        {s.current && <Panel store={store} />}
      </main>
      <StatusBar store={store} />
      <Progress store={store} />
      <Said store={store} />
      <Errors store={store} />
      <KeyList store={store} />
    </div>
  );
}

function Stage({store}: Props) {
  const canvas = useRef<HTMLCanvasElement>(null);
  useEffect(() => {
    if (!canvas.current) return;
    const view = new GraphView(canvas.current);
    view.onSelect = (id) => void store.select(id);
    view.onToggle = (id) => void store.toggle(id);
    view.setTheme(store.state.dark);
    store.view = view;
    if (store.state.scene) view.show(store.state.scene);
  }, [store]);
  const s = store.state;
  return (
    <div class="stage">
      <canvas ref={canvas} tabIndex={0} role="application" aria-label={t("app.graph")} aria-describedby="selection" />
      <div id="selection" class="unseen" aria-live="polite">{s.item ? `${s.item.title} ${s.item.path}` : ""}</div>
      {s.scene && <ViewButtons store={store} />}
      {!s.current && <DropHere store={store} />}
      {s.current && s.current.kind !== "onnx" && (
        <div class="next">
          <span>{t("app.empty.graph")}</span>
          {store.engine.computes && <button class="main" data-test="export-now" onClick={() => void store.make("export", {settings: {opset: 18}}, false)}>{t("verb.export")}</button>}
        </div>
      )}
    </div>
  );
}

function DropHere({store}: Props) {
  return (
    <div class="drop">
      <Picture />
      <h1>{t("app.drop")}</h1>
      <p>{t("app.drop.kinds")}</p>
      {store.engine.computes && (
        <div class="actions">
          <FileButton store={store} label={t("app.choose")} main />
          <button data-test="example" onClick={() => void store.openFiles([example()])}>{t("app.example")}</button>
        </div>
      )}
      {store.engine.computes && <ul class="can">{can.map((word) => <li key={word}><strong>{t(word)}</strong><span class="soft">{t(`${word}.more` as Word)}</span></li>)}</ul>}
      <p class="soft">{store.engine.computes ? t("app.local") : t("app.recorded")}</p>
      {store.engine.kind === "tab" && <p class="soft" data-test="engine">{store.engine.threads ? t("app.tab.threads", store.engine.threads) : t("app.tab")}</p>}
    </div>
  );
}

const can: Word[] = ["can.look", "can.export", "can.simplify", "can.run"];

function Picture() {
  return (
    <svg class="picture" viewBox="0 0 48 48" fill="none" stroke="currentColor" stroke-width="2.4" aria-hidden="true">
      <rect x="17" y="3" width="14" height="9" rx="2.5" /><rect x="4" y="20" width="14" height="9" rx="2.5" /><rect x="30" y="20" width="14" height="9" rx="2.5" />
      <rect x="17" y="36" width="14" height="9" rx="2.5" /><path d="M21 12 12 20M27 12l9 8M12 29l9 7M36 29l-9 7" />
    </svg>
  );
}

function StatusBar({store}: Props) {
  const command = store.state.command;
  if (!command) return null;
  return (
    <footer class="status">
      <span class="soft">{t("status.command")}</span>
      <code data-test="command">{command}</code>
      <CopyButton text={() => command} label={t("status.copy")} />
    </footer>
  );
}

function listenToDrops(store: Store): () => void {
  const dragging = (on: boolean) => document.body.classList.toggle("dragging", on);
  const over = (e: DragEvent) => {
    e.preventDefault();
    dragging(true);
  };
  const leave = (e: DragEvent) => {
    if (!e.relatedTarget) dragging(false);
  };
  const drop = (e: DragEvent) => {
    e.preventDefault();
    dragging(false);
    if ((e.target as Element | null)?.closest("[data-inputs]")) return;
    if (e.dataTransfer) void dropped(e.dataTransfer).then((files) => store.openFiles(files)).catch((error: unknown) => store.fail(error));
  };
  window.addEventListener("dragover", over);
  window.addEventListener("dragleave", leave);
  window.addEventListener("drop", drop);
  return () => {
    window.removeEventListener("dragover", over);
    window.removeEventListener("dragleave", leave);
    window.removeEventListener("drop", drop);
  };
}

// The browser asks before it leaves models that were made here and not saved.
function guardUnsaved(store: Store): () => void {
  const ask = (e: BeforeUnloadEvent) => {
    if (store.state.models.some((m) => m.verb !== "open" && !store.saved.has(m.model) && !store.state.models.some((n) => n.from === m.model))) e.preventDefault();
  };
  window.addEventListener("beforeunload", ask);
  return () => window.removeEventListener("beforeunload", ask);
}

function listenToKeys(store: Store): () => void {
  const focus = (selector: string) => document.querySelector<HTMLElement>(selector)?.focus();
  const move = (way: "up" | "down" | "left" | "right") => {
    const from = store.state.selected ?? store.state.scene?.boxes[0]?.id;
    if (from === undefined) return;
    const to = store.state.selected === null ? from : store.view?.neighbour(from, way);
    if (to !== null && to !== undefined) void store.goTo(to);
  };
  const escape = () => {
    if (store.state.errors.length) store.set({errors: []});
    else if (store.state.keys) store.set({keys: false});
    else if (store.state.said) store.set({said: ""});
    else if (store.state.hits) void store.search("");
    else void store.select(null);
    focus("canvas");
  };
  const toggle = () => {
    const id = store.state.selected;
    if (id !== null && store.view?.box(id)?.opens) void store.toggle(id);
  };
  const actions: Record<string, () => void> = {
    "/": () => focus("[data-test=search]"), "?": () => store.set({keys: !store.state.keys}),
    ArrowUp: () => move("up"), ArrowDown: () => move("down"), ArrowLeft: () => move("left"), ArrowRight: () => move("right"),
    Enter: toggle, " ": toggle, f: () => store.view?.fitAll(), "+": () => store.view?.zoom(1.3), "=": () => store.view?.zoom(1.3),
    "-": () => store.view?.zoom(1 / 1.3), w: () => store.view?.pan(0, 80), a: () => store.view?.pan(80, 0), d: () => store.view?.pan(-80, 0),
  };
  const ofModels: Record<string, () => void> = {
    S: () => void store.save(), s: () => store.set({verb: "simplify"}), r: () => store.set({verb: "run"}), c: () => void store.check(false),
  };
  const onKey = (e: KeyboardEvent) => {
    if (e.key === "Escape") return escape();
    const at = e.target as HTMLElement;
    if (e.ctrlKey || e.metaKey || e.altKey || /^(INPUT|TEXTAREA|SELECT)$/.test(at.tagName)) return;
    if ((e.key === "Enter" || e.key === " ") && at.tagName !== "CANVAS" && at !== document.body) return;
    if (e.key.startsWith("Arrow") && at.getAttribute("role") === "tab") return;
    const action = actions[e.key] ?? (store.engine.computes && store.state.current?.kind === "onnx" ? ofModels[e.key] : undefined);
    if (!action) return;
    e.preventDefault();
    action();
  };
  window.addEventListener("keydown", onKey);
  return () => window.removeEventListener("keydown", onKey);
}
