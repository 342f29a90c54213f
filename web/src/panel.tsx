import type {ComponentChildren} from "preact";
import {useEffect, useState} from "preact/hooks";
import type {Props} from "./app";
import {Histogram, Kernels} from "./charts";
import {CopyButton} from "./overlays";
import type {Store} from "./store";
import type {ArraySummary, Item, NodeValue, Weight} from "./types";
import {bytes, count, known, number, t} from "./words";

export function Panel({store}: Props) {
  const item = store.state.item;
  return (
    <aside class="panel" aria-label={item ? item.title : t("panel.model")} data-test="panel">
      {item ? <ItemPanel store={store} item={item} key={`${store.state.current?.model} ${item.id}`} /> : <ModelPanel store={store} />}
    </aside>
  );
}

export function Section({title, children}: {title: string; children: ComponentChildren}) {
  return <section><h2>{title}</h2>{children}</section>;
}

function Fields({rows}: {rows: [string, ComponentChildren][]}) {
  const shown = rows.filter(([, value]) => value !== "" && value !== undefined && value !== null);
  return <dl class="fields">{shown.map(([name, value]) => <div key={name}><dt>{breakable(name)}</dt><dd>{typeof value === "string" ? breakable(value) : value}</dd></div>)}</dl>;
}

// A long name may go on in the next line behind its separators.
function breakable(name: string): ComponentChildren {
  return name.split(/(?<=[./_:])/).flatMap((part, i) => i ? [<wbr key={i} />, part] : [part]);
}

function ModelPanel({store}: Props) {
  const m = store.state.current;
  if (!m) return null;
  const s = m.summary;
  const operators = Object.entries(m.stats?.operators ?? {});
  const most = Math.max(1, ...operators.map(([, n]) => n));
  return (
    <>
      <h1>{m.name}</h1>
      {m.kind === "onnx" && <p class="soft">{t("panel.nothing")}</p>}
      <Fields rows={[[t("panel.producer"), [s.producer, s.producer_version].filter(Boolean).join(" ")],
        [t("stat.parameters"), s.parameters === undefined ? "" : count(s.parameters)],
        [t("stat.size"), s.weight_bytes === undefined ? "" : bytes(s.weight_bytes)]]} />
      {s.inputs && s.inputs.length > 0 && <Section title={t("panel.inputs")}><Fields rows={s.inputs.map((v) => [v.name, <code>{v.type}</code>])} /></Section>}
      {s.outputs && s.outputs.length > 0 && <Section title={t("panel.outputs")}><Fields rows={s.outputs.map((v) => [v.name, <code>{v.type}</code>])} /></Section>}
      {s.methods && <Section title={t("panel.methods")}>{s.methods.map((f) => <p key={f.name}><code>{f.signature}</code></p>)}</Section>}
      {operators.length > 0 && (
        <Section title={t("panel.operators")}>
          <ul class="bars">{operators.map(([op, n]) => (
            <li key={op}>
              <button class="link" onClick={() => void store.search(op)}>{op}</button>
              <meter min={0} max={most} value={n} aria-label={op} /> <span>{n}</span>
            </li>
          ))}</ul>
        </Section>
      )}
      {s.metadata && Object.keys(s.metadata).length > 0 && (
        <Section title={t("panel.metadata")}><Fields rows={Object.entries(s.metadata).map(([k, v]) => [k, v.length > 300 ? `${v.slice(0, 300)}…` : v])} /></Section>
      )}
    </>
  );
}

function ItemPanel({store, item}: {store: Store; item: Item}) {
  const opens = store.view?.box(item.id)?.opens;
  const output = item.outputs?.[0]?.name ?? (item.kind === "input" ? item.path : undefined);
  const place = item.place;
  return (
    <>
      <h1><span class={`dot ${item.family ?? item.kind}`} /> {item.title}</h1>
      <Fields rows={[[t("panel.name"), item.kind === "node" ? item.name : item.path], [t("panel.domain"), item.domain], [t("panel.type"), item.type && <code>{item.type}</code>],
        [t("panel.module"), place?.module], [t("stat.nodes"), item.nodes === undefined ? "" : count(item.nodes)]]} />
      <div class="actions">
        <CopyButton text={() => asText(item)} label={t("panel.copy")} />
        {opens && <button onClick={() => void store.toggle(item.id)}>{store.view?.box(item.id)?.open ? t("panel.close") : t("panel.open")}</button>}
        {store.engine.computes && output && item.kind === "node" && <>
          <button onClick={() => void store.make("extract", {inputs: [], outputs: [output]}, false)}>{t("panel.extract.to")}</button>
          <button onClick={() => void store.make("extract", {inputs: [output], outputs: []}, false)}>{t("panel.extract.from")}</button>
          <button onClick={() => void store.make("edit", {changes: [["add_output", output]]}, false)}>{t("panel.addoutput")}</button>
        </>}
      </div>
      {place && (place.file || place.source) && (
        <Section title={t("panel.from")}><p>{place.text || `${place.file}:${place.line}`}</p>{place.source && <pre>{place.source}</pre>}</Section>
      )}
      {item.rewrites && item.rewrites.length > 0 && <Section title={t("panel.rewrites")}>{item.rewrites.map((r, i) => <p key={i}><code>{r.rule}</code> <span class="soft">{known("class", r.class)}</span></p>)}</Section>}
      {item.attributes && item.attributes.length > 0 && <Section title={t("panel.attributes")}><Fields rows={item.attributes.map((a) => [a.name, <code>{a.value}</code>])} /></Section>}
      {item.inputs && <Section title={t("panel.inputs")}>{item.inputs.map((v, i) => <ValueRow key={i} store={store} item={item} value={v} />)}</Section>}
      {item.outputs && <Section title={t("panel.outputs")}>{item.outputs.map((v, i) => <ValueRow key={i} store={store} item={item} value={v} />)}</Section>}
      {item.operators && <Section title={t("panel.operators")}><Fields rows={item.operators.map(([op, n]) => [op, count(n)])} /></Section>}
      {item.read_by.length > 0 && (
        <Section title={t("panel.readby")}><ul class="links">{item.read_by.slice(0, 40).map((r, i) => (
          <li key={i}><button class="link" onClick={() => void store.goTo(r.item)}>{r.value}</button></li>
        ))}</ul></Section>
      )}
    </>
  );
}

function ValueRow({store, item, value}: {store: Store; item: Item; value: NodeValue}) {
  const ran = store.state.ran;
  const seen = [...(ran?.inputs ?? []), ...(ran?.outputs ?? []), ...(ran?.inner ?? [])].find((v) => v.name === value.name && value.name);
  if (value.absent) return <p class="soft">{t("panel.absent")}</p>;
  return (
    <div class="value">
      <div><span class="name">{value.label}</span> <code>{value.type}</code></div>
      {value.weight && <WeightView store={store} item={item} value={value} />}
      {seen?.array && <details open><summary>{t("panel.value")}</summary><ArrayView array={seen.array} /></details>}
    </div>
  );
}

function WeightView({store, item, value}: {store: Store; item: Item; value: NodeValue}) {
  const [weight, setWeight] = useState<{result: Weight; blobs: Uint8Array<ArrayBuffer>[]} | null>(null);
  const small = (value.weight?.bytes ?? 0) < 32 << 20;
  const [wanted, setWanted] = useState(small);
  useEffect(() => {
    if (!wanted) return;
    store.engine.call<Weight>("weight", {model: store.state.current?.model, item: item.id, value: value.label}).then(setWeight, () => undefined);
  }, [store, item.id, value.label, wanted]);
  if (!wanted) return <button onClick={() => setWanted(true)}>{t("panel.statistics")} · {bytes(value.weight?.bytes ?? 0)}</button>;
  if (!weight) return <span class="soft">{bytes(value.weight?.bytes ?? 0)}</span>;
  const picture = weight.result.picture;
  const pixels = picture && weight.blobs[picture.blob];
  return (
    <details open>
      <summary>{t("panel.weight")} · {bytes(value.weight?.bytes ?? 0)}</summary>
      <ArrayView array={weight.result.array} />
      {picture && pixels && <Kernels picture={picture} pixels={pixels} />}
    </details>
  );
}

export function ArrayView({array}: {array: ArraySummary}) {
  return (
    <div class="array">
      {array.bins && array.bins.length > 0 && <Histogram array={array} />}
      <Fields rows={[
        [t("panel.range"), array.min === undefined ? "" : `${number(array.min)} … ${number(array.max)}`],
        [t("panel.mean"), array.mean === undefined ? "" : `${number(array.mean)} ± ${number(array.std)}`],
        [t("panel.zeros"), array.zeros ? `${((100 * array.zeros) / Math.max(1, array.count)).toFixed(1)} %` : ""],
        ["", (array.nan ?? 0) + (array.inf ?? 0) > 0 ? t("panel.odd", array.nan ?? 0, array.inf ?? 0) : ""],
      ]} />
      {array.first && array.count <= 16 && <code class="first">{array.first.map((v) => (typeof v === "number" ? number(v) : v ?? "–")).join(", ")}</code>}
    </div>
  );
}

function asText(item: Item): string {
  const value = (v: NodeValue) => (v.absent ? "–" : `${v.label}: ${v.type}`);
  return [
    `${item.op ?? item.kind} ${item.name ?? item.path}`,
    ...(item.attributes ?? []).map((a) => `  ${a.name} = ${a.value}`),
    ...(item.inputs ?? []).map((v) => `  in  ${value(v)}`),
    ...(item.outputs ?? []).map((v) => `  out ${value(v)}`),
    ...(item.place?.text ? [`  at  ${item.place.text}`] : []),
  ].join("\n");
}
