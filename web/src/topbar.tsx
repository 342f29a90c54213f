import {useEffect, useState} from "preact/hooks";
import type {Props} from "./app";
import type {Store} from "./store";
import {bytes, count, known, short, t, type Word, work} from "./words";

export function TopBar({store}: Props) {
  const s = store.state;
  return (
    <header class="top">
      <strong class="brand">Cameo</strong>
      {store.state.models.length > 0 && <ModelChoice store={store} />}
      <Numbers store={store} />
      <span class="space" />
      {s.current?.kind === "onnx" && <Search store={store} />}
      {store.engine.computes && <FileButton store={store} label={t("bar.open")} test="file" />}
      {store.engine.computes && s.current?.kind === "onnx" && <button data-test="save" class="main" onClick={() => void store.save()}>{t("bar.save")}</button>}
      <button title={t("bar.keys")} aria-label={t("bar.keys")} onClick={() => store.set({keys: !s.keys})}>?</button>
      <button title={t("bar.theme")} aria-label={t("bar.theme")} data-test="theme" onClick={() => store.setDark(!s.dark)}>{s.dark ? "☀" : "☾"}</button>
      <button data-test="language" lang={s.language === "en" ? "zh" : "en"} onClick={() => store.setLanguage(s.language === "en" ? "zh" : "en")}>{t("bar.language")}</button>
    </header>
  );
}

export function FileButton({store, label, main, test}: {store: Store; label: string; main?: boolean; test?: string}) {
  return (
    <label class={main ? "button main" : "button"}>
      {label}
      <input type="file" data-test={test} class="unseen" multiple onChange={(e) => {
        void store.openFiles(e.currentTarget.files ?? []);
        e.currentTarget.value = "";
      }} />
    </label>
  );
}

function ModelChoice({store}: Props) {
  const s = store.state;
  return (
    <select class="models" aria-label={t("panel.model")} data-test="models" value={String(s.current?.model ?? 0)} onChange={(e) => {
      const model = s.models.find((m) => String(m.model) === e.currentTarget.value);
      if (model) void store.show(model);
    }}>
      {s.models.map((m, i) => <option key={m.model} value={String(m.model)}>{i + 1}. {m.name}</option>)}
    </select>
  );
}

function Numbers({store}: Props) {
  const stats = store.state.current?.stats;
  if (!stats) return null;
  const shown: [Word, string][] = [
    ["stat.nodes", count(stats.nodes)], ["stat.parameters", short(stats.parameters)], ["stat.size", bytes(stats.weight_bytes)],
    ["stat.macs", work(stats.macs, 24)], ["stat.opset", String(stats.opsets["ai.onnx"] ?? "–")],
  ];
  return (
    <dl class="numbers" data-test="numbers">
      {shown.map(([word, value]) => <div key={word}><dt>{t(word)}</dt><dd>{value}</dd></div>)}
    </dl>
  );
}

export function ViewButtons({store}: Props) {
  return (
    <div class="group tools" role="group" aria-label={t("app.graph")}>
      <button onClick={() => store.view?.fitAll()}>{t("bar.fit")}</button>
      <button aria-label={t("bar.zoomin")} onClick={() => store.view?.zoom(1.3)}>+</button>
      <button aria-label={t("bar.zoomout")} onClick={() => store.view?.zoom(1 / 1.3)}>−</button>
      <button data-test="closeall" onClick={() => void store.draw({open: []})}>{t("bar.closeall")}</button>
      <button data-test="openall" onClick={() => void store.draw({all: true})}>{t("bar.openall")}</button>
      <button data-test="svg" onClick={() => void store.saveSvg()}>{t("bar.svg")}</button>
      <button data-test="png" onClick={() => void store.savePng()}>{t("bar.png")}</button>
    </div>
  );
}

function Search({store}: Props) {
  const [text, setText] = useState("");
  const [at, setAt] = useState(0);
  useEffect(() => {
    const timer = setTimeout(() => void store.search(text), 80);
    return () => clearTimeout(timer);
  }, [text, store]);
  const found = store.state.hits;
  const go = (i: number) => {
    const hit = found?.hits[i];
    if (!hit) return;
    store.set({hits: null}); // the boxes stay marked
    void store.goTo(hit.item);
  };
  return (
    <div class="search">
      <input type="search" data-test="search" role="combobox" aria-expanded={found !== null} aria-controls="hits" aria-label={t("bar.search")}
        placeholder={t("bar.search")} value={text} onInput={(e) => { setText(e.currentTarget.value); setAt(0); }}
        onKeyDown={(e) => {
          const last = (found?.hits.length ?? 1) - 1;
          if (e.key === "ArrowDown") setAt(Math.min(last, at + 1));
          else if (e.key === "ArrowUp") setAt(Math.max(0, at - 1));
          else if (e.key === "Enter") go(at);
          else if (e.key === "Escape") setText("");
          else return;
          e.preventDefault();
        }} />
      {found && (
        <ul id="hits" role="listbox" aria-label={t("bar.search")} class="hits">
          {found.hits.length === 0 && <li role="option" aria-selected="false" class="soft">{t("hits.none")}</li>}
          {found.hits.map((h, i) => (
            <li key={i} role="option" aria-selected={i === at} onClick={() => go(i)}><span class="tag">{known("kind", h.what)}</span> {h.text}</li>
          ))}
          {found.count > found.hits.length && <li role="option" aria-selected="false" class="soft">{t("hits.more", found.hits.length, found.count)}</li>}
        </ul>
      )}
    </div>
  );
}
