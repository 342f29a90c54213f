import type {Props} from "./app";
import {Timeline} from "./charts";
import type {Store, Tab} from "./store";
import type {RunValue} from "./types";
import {Meaning} from "./overlays";
import {known, number, t, type Word} from "./words";

const tabs: Tab[] = ["findings", "ledger", "run", "diff", "text"];

export function Drawer({store}: Props) {
  const s = store.state;
  const open = (tab: Tab) => {
    if (tab === "text" && !s.text && s.current && store.engine.computes) void store.loadText();
    store.set({tab, drawer: tab === s.tab ? !s.drawer : true});
  };
  const counts: Partial<Record<Tab, number | undefined>> = {findings: s.findings?.length, ledger: s.current?.ledger.length || undefined, diff: s.differences?.length};
  return (
    <div class={s.drawer ? "drawer open" : "drawer"}>
      <div role="tablist" class="tabs" onKeyDown={(e) => moveTab(e, s.tab, open)}>
        {tabs.map((tab) => (
          <button key={tab} id={`tab-${tab}`} role="tab" aria-selected={s.drawer && s.tab === tab} aria-controls="drawer" tabIndex={s.tab === tab ? 0 : -1}
            data-test={`tab-${tab}`} onClick={() => open(tab)}>{t(`tab.${tab}` as Word)}{counts[tab] === undefined ? "" : ` ${counts[tab]}`}</button>
        ))}
      </div>
      <div id="drawer" role="tabpanel" aria-labelledby={`tab-${s.tab}`} class="contents" tabIndex={0} hidden={!s.drawer}>{s.drawer && contents(store)}</div>
    </div>
  );
}

function moveTab(e: KeyboardEvent, from: Tab, open: (tab: Tab) => void): void {
  const step = e.key === "ArrowRight" ? 1 : e.key === "ArrowLeft" ? -1 : 0;
  if (!step) return;
  const to = tabs[(tabs.indexOf(from) + step + tabs.length) % tabs.length];
  if (!to) return;
  open(to);
  document.getElementById(`tab-${to}`)?.focus();
}

function contents(store: Store) {
  switch (store.state.tab) {
    case "findings": return <Findings store={store} />;
    case "ledger": return <Ledger store={store} />;
    case "run": return <Run store={store} />;
    case "diff": return <Diff store={store} />;
    case "text": return <pre class="all">{store.state.text}</pre>;
  }
}

function Findings({store}: Props) {
  const found = store.state.findings;
  if (!found) return <p class="soft">{t("findings.run")}</p>;
  if (!found.length) return <p class="good" data-test="nofindings">{t("findings.none")}</p>;
  return (
    <ul class="rows">{found.map(({finding: f, item}, i) => (
      <li key={i} class={f.severity}>
        <span class="tag">{f.code}</span>
        {item === undefined ? <span>{f.what}</span> : <button class="link" onClick={() => void store.goTo(item)}>{f.what}</button>}
        <Meaning code={f.code} language={store.state.language} />
        {f.because && <div class="soft">{t("colon", t("error.because"))}{f.because}</div>}
        {f.hint && <div class="soft">{t("colon", t("error.hint"))}{f.hint}</div>}
      </li>
    ))}</ul>
  );
}

function Ledger({store}: Props) {
  const ledger = store.state.current?.ledger ?? [];
  if (!ledger.length) return <p class="soft">{t("ledger.none")}</p>;
  const find = async (value: string) => {
    await store.search(value);
    const hit = store.state.hits?.hits[0];
    if (hit) void store.goTo(hit.item);
  };
  return (
    <table class="rows">
      <caption class="soft">{t("ledger.count", ledger.length)}</caption>
      <thead><tr><th scope="col">{t("ledger.rule")}</th><th scope="col">{t("ledger.class")}</th><th scope="col">{t("ledger.value")}</th><th scope="col">{t("ledger.nodes")}</th><td /></tr></thead>
      <tbody>{ledger.slice(0, 2000).map((r, i) => (
        <tr key={i}>
          <td><code>{r.rule}</code></td><td>{known("class", r.class)}</td><td><button class="link" onClick={() => void find(r.value)}>{r.value}</button></td>
          <td>−{r.nodes_removed} +{r.nodes_added}</td>
          <td><button data-test="undo-rewrite" aria-label={`${t("ledger.undo")} ${r.rule} ${r.value}`} onClick={() => void store.undoRewrite(i)}>{t("ledger.undo")}</button></td>
        </tr>
      ))}</tbody>
    </table>
  );
}

function Run({store}: Props) {
  const ran = store.state.ran;
  if (!ran) return <p class="soft">{t("run.none")}</p>;
  const total = Math.max(1e-9, ran.steps.reduce((a, s) => a + s.length_us, 0));
  const slowest = [...ran.steps].sort((a, b) => b.length_us - a.length_us).slice(0, 40);
  return (
    <>
      <p class="actions"><strong data-test="run-time">{t(ran.threads === 1 ? "run.time.one" : "run.time", ran.milliseconds.toFixed(2), ran.threads)}</strong>
        <button data-test="save-inputs" onClick={() => void store.saveValues("inputs")}>{t("run.save.inputs")}</button>
        <button data-test="save-outputs" onClick={() => void store.saveValues("outputs")}>{t("run.save.outputs")}</button>
      </p>
      <Timeline steps={ran.steps} onPick={(s) => s.item !== undefined && void store.goTo(s.item)} />
      <div class="two">
        <table class="rows" tabIndex={0}>
          <thead><tr><th scope="col">{t("ledger.nodes")}</th><th scope="col">ms</th><th scope="col">{t("run.share")}</th><th scope="col">{t("run.kernel")}</th></tr></thead>
          <tbody>{slowest.map((s, i) => (
            <tr key={i}>
              <td>{s.item === undefined ? `${s.op} ${s.node}` : <button class="link" onClick={() => void store.goTo(s.item as number)}>{s.op} {s.node}</button>}</td>
              <td class="number">{(s.length_us / 1000).toFixed(3)}</td><td class="number">{((100 * s.length_us) / total).toFixed(1)} %</td><td class="soft">{s.kernel}</td>
            </tr>
          ))}</tbody>
        </table>
        <Values values={[...ran.outputs, ...(ran.inner ?? [])]} />
      </div>
    </>
  );
}

function Values({values}: {values: RunValue[]}) {
  return (
    <table class="rows" data-test="values" tabIndex={0}>
      <thead><tr><th scope="col">{t("run.values")}</th><th scope="col">{t("panel.type")}</th><th scope="col">{t("panel.range")}</th><th scope="col">{t("panel.mean")}</th></tr></thead>
      <tbody>{values.slice(0, 500).map((v, i) => (
        <tr key={i}>
          <td>{v.name}</td><td><code>{v.array ? `${v.array.dtype}[${v.array.shape.join(",")}]` : v.kind}</code></td>
          <td class="number">{v.array ? `${number(v.array.min)} … ${number(v.array.max)}` : ""}</td><td class="number">{v.array ? number(v.array.mean) : ""}</td>
        </tr>
      ))}</tbody>
    </table>
  );
}

function Diff({store}: Props) {
  const all = store.state.differences;
  if (!all) return <p class="soft">{t("diff.none")}</p>;
  if (!all.length) return <p class="good" data-test="same">{t("diff.same")}</p>;
  return (
    <>
      <p class="soft" data-test="differences">{t("diff.count", all.length)}</p>
      <ul class="rows">{all.map((d, i) => {
        const item = d.second_item;
        const kind = Boolean(d.first) === Boolean(d.second) ? "changed" : d.second ? "added" : "removed"; // of counts neither is named
        return (
          <li key={i}><span class={`dot ${kind}`} /> <span class="tag">{t(`diff.${kind}`)}</span> {item === undefined ? d.what
            : <button class="link" onClick={() => void store.goTo(item)}>{d.what}</button>}</li>
        );
      })}</ul>
    </>
  );
}
