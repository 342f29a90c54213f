import type {ComponentChildren} from "preact";
import {useEffect, useState} from "preact/hooks";
import type {Props} from "./app";
import {type DroppedInput, readInputs} from "./inputs";
import type {Store, Verb} from "./store";
import type {Opened, Stats} from "./types";
import {bytes, count, isWord, t, type Word, work} from "./words";

const ofModels: Verb[] = ["simplify", "convert", "half", "infer", "extract", "edit", "run", "verify", "diff", "check", "lint", "quantize", "merge", "save"];

export function Verbs({store}: Props) {
  const s = store.state;
  const verbs: Verb[] = s.current?.kind === "onnx" ? ofModels : ["export"];
  useEffect(() => document.querySelector(".verb.open")?.scrollIntoView({block: "nearest"}), [s.verb]);
  return (
    <nav class="verbs" aria-label={t("verbs.title")}>
      <h2>{t("verbs.title")}</h2>
      {verbs.map((v) => (
        <div key={v} class={s.verb === v ? "verb open" : "verb"}>
          <button class="head" aria-expanded={s.verb === v} data-test={`verb-${v}`}
            onClick={() => store.set({verb: s.verb === v ? null : v, preview: null})}>{t(`verb.${v}` as Word)}</button>
          {s.verb === v && <div class="body" key={s.current?.model}>{form(store, v)}</div>}
        </div>
      ))}
      <History store={store} />
    </nav>
  );
}

function form(store: Store, verb: Verb): ComponentChildren {
  switch (verb) {
    case "simplify": return <Simplify store={store} />;
    case "convert": return <Convert store={store} />;
    case "half": return <Half store={store} />;
    case "infer": return <Buttons store={store} method="infer" params={{}} />;
    case "export": return <Export store={store} />;
    case "extract": return <Extract store={store} />;
    case "edit": return <Edit store={store} />;
    case "run": return <Run store={store} />;
    case "verify": return <Verify store={store} />;
    case "diff": return <Diff store={store} />;
    case "check": return <Check store={store} />;
    case "lint": return <Lint store={store} />;
    case "quantize": return <Quantize store={store} />;
    case "merge": return <Merge store={store} />;
    case "save": return <Save store={store} />;
  }
}

export function Tick({label, value, set}: {label: string; value: boolean; set: (v: boolean) => void}) {
  return <label class="tick"><input type="checkbox" checked={value} onChange={(e) => set(e.currentTarget.checked)} /> {label}</label>;
}

function Text({label, value, set, test}: {label: string; value: string; set: (v: string) => void; test?: string}) {
  return <label class="text">{label}<input value={value} data-test={test} spellcheck={false} onInput={(e) => set(e.currentTarget.value)} /></label>;
}

// A preview of what would change, shown while the settings are chosen, and the button that does it.
function Buttons({store, method, params, live = true}: {store: Store; method: string; params: object; live?: boolean}) {
  const key = JSON.stringify(params);
  useEffect(() => {
    if (!live) return;
    const timer = setTimeout(() => void store.make(method, params, true), 150);
    return () => clearTimeout(timer);
  }, [method, key, live]);
  const preview = store.state.preview;
  return (
    <>
      {preview && preview.verb === method && <Change before={store.state.current} after={preview} />}
      <div class="actions">
        {!live && <button onClick={() => void store.make(method, params, true)}>{t("verb.preview")}</button>}
        <button class="main" data-test={`apply-${method}`} onClick={() => void store.make(method, params, false)}>{t("verb.apply")}</button>
      </div>
    </>
  );
}

function Change({before, after}: {before: Opened | null; after: Opened}) {
  const a = before?.stats;
  const b = after.stats;
  if (!b) return null;
  const rows: [Word, (s: Stats) => string][] = [
    ["stat.nodes", (s) => count(s.nodes)], ["stat.size", (s) => bytes(s.weight_bytes)], ["stat.macs", (s) => work(s.macs, 18)],
    ["stat.opset", (s) => String(s.opsets["ai.onnx"] ?? "–")],
  ];
  return (
    <table class="change" data-test="change">
      <thead><tr><td /><th scope="col">{t("stat.before")}</th><th scope="col">{t("stat.after")}</th></tr></thead>
      <tbody>{rows.map(([word, of]) => {
        const old = a ? of(a) : "–";
        return <tr key={word} class={old === of(b) ? "" : "differs"}><th scope="row">{t(word)}</th><td>{old}</td><td>{of(b)}</td></tr>;
      })}</tbody>
    </table>
  );
}

function Simplify({store}: Props) {
  const [exact, setExact] = useState(false);
  const [fuse, setFuse] = useState(true);
  const [fold, setFold] = useState(true);
  const [shapes, setShapes] = useState(true);
  const settings = {...(exact ? {exact} : {}), ...(fuse ? {} : {fuse}), ...(fold ? {} : {fold}), ...(shapes ? {} : {shapes})};
  return (
    <>
      <Tick label={t("set.exact")} value={exact} set={setExact} />
      <Tick label={t("set.fuse")} value={fuse} set={setFuse} />
      <Tick label={t("set.fold")} value={fold} set={setFold} />
      <Tick label={t("set.shapes")} value={shapes} set={setShapes} />
      <Buttons store={store} method="simplify" params={{settings}} />
    </>
  );
}

function Convert({store}: Props) {
  const own = store.state.current?.stats?.opsets["ai.onnx"] ?? 18;
  const [opset, setOpset] = useState(own);
  const [lossy, setLossy] = useState(false);
  const all = Array.from({length: 21}, (_, i) => 7 + i);
  return (
    <>
      <label class="text">{t("set.opset")}
        <select data-test="opset" value={String(opset)} onChange={(e) => setOpset(Number(e.currentTarget.value))}>
          {all.map((n) => <option key={n} value={String(n)}>{n}</option>)}
        </select>
      </label>
      <Tick label={t("set.lossy")} value={lossy} set={setLossy} />
      <Buttons store={store} method="convert" params={{settings: {opset, ...(lossy ? {lossy} : {})}}} live={opset !== own} />
    </>
  );
}

function Half({store}: Props) {
  const [type, setType] = useState("f16");
  const [keep, setKeep] = useState(false);
  return (
    <>
      <label class="text">{t("set.type")}
        <select value={type} onChange={(e) => setType(e.currentTarget.value)}><option>f16</option><option>bf16</option></select>
      </label>
      <Tick label={t("set.keepio")} value={keep} set={setKeep} />
      <Buttons store={store} method="convert" params={{settings: {float_type: type, ...(keep ? {keep_io: true} : {})}}} />
    </>
  );
}

function Export({store}: Props) {
  const s = store.state.current?.summary;
  const example = s?.methods?.find((m) => m.name === "forward")?.example ?? [];
  const [inputs, setInputs] = useState("");
  const [opset, setOpset] = useState("18");
  const lines = inputs.split("\n").map((l) => l.trim()).filter(Boolean);
  return (
    <>
      {example.length > 0 && <p class="soft">{t("export.example", example.join(", "))}</p>}
      <label class="text">{t("set.inputs")}<textarea data-test="export-inputs" rows={3} spellcheck={false} value={inputs} onInput={(e) => setInputs(e.currentTarget.value)} /></label>
      <Text label={t("set.opset")} value={opset} set={setOpset} />
      <Buttons store={store} method="export" params={{settings: {...(lines.length ? {inputs: lines} : {}), opset: Number(opset) || 18}}} live={false} />
    </>
  );
}

const listed = (text: string) => text.split(",").map((v) => v.trim()).filter(Boolean);

function Extract({store}: Props) {
  const [from, setFrom] = useState("");
  const [to, setTo] = useState(store.state.item?.outputs?.[0]?.name ?? "");
  return (
    <>
      <Text label={t("set.from")} value={from} set={setFrom} test="extract-from" />
      <Text label={t("set.to")} value={to} set={setTo} test="extract-to" />
      <Buttons store={store} method="extract" params={{inputs: listed(from), outputs: listed(to)}} live={false} />
    </>
  );
}

const changes = ["rename", "add_output", "remove_output", "remove_input", "set_operator", "insert_node", "remove_node", "rewire", "set_metadata", "strip"] as const;
const oneName = new Set<string>(["add_output", "remove_output", "remove_input", "insert_node", "remove_node"]);

function Edit({store}: Props) {
  const [change, setChange] = useState<string>("rename");
  const [name, setName] = useState(store.state.item?.name ?? "");
  const [to, setTo] = useState("");
  const one = change === "strip" ? [change] : oneName.has(change) ? [change, name] : [change, name, to];
  return (
    <>
      <label class="text">{t("set.change")}
        <select data-test="edit-change" value={change} onChange={(e) => setChange(e.currentTarget.value)}>{changes.map((c) => <option key={c} value={c}>{t(`change.${c}`)}</option>)}</select>
      </label>
      {change !== "strip" && <Text label={change === "insert_node" ? t("set.node") : t("set.name")} value={name} set={setName} test="edit-name" />}
      {one.length === 3 && <Text label={t("set.newname")} value={to} set={setTo} test="edit-to" />}
      <Buttons store={store} method="edit" params={{changes: [one]}} live={false} />
    </>
  );
}

function sizesOf(text: string): Record<string, number> {
  const out: Record<string, number> = {};
  for (const part of listed(text)) {
    const [name, size] = part.split("=");
    if (name && size && Number.isInteger(Number(size))) out[name.trim()] = Number(size);
  }
  return out;
}

// Where inputs are dropped, and what to do with them.
function InputFiles({store, label, take, children}: {store: Store; label: string; take: (files: File[]) => Promise<void>; children?: ComponentChildren}) {
  const guarded = (files: Iterable<File>) => void take([...files]).catch((error: unknown) => store.fail(error));
  const waiting = store.state.dropped;
  useEffect(() => {
    if (!waiting.length) return;
    store.set({dropped: []});
    guarded(waiting);
  }, [waiting]);
  return (
    <div class="dropinputs" data-inputs="yes" onDragOver={(e) => e.preventDefault()} onDrop={(e) => { e.preventDefault(); guarded(e.dataTransfer?.files ?? []); }}>
      <label>{label}<input type="file" data-test="inputs" multiple class="unseen" accept=".npy,.npz,image/*" onChange={(e) => guarded(e.currentTarget.files ?? [])} /></label>
      {children}
    </div>
  );
}

// What the desk takes for an input, and the blobs that it names.
function inputParams(dropped: DroppedInput[], blobs: BlobPart[]): object[] {
  return dropped.map((d) => {
    blobs.push(d.bytes);
    const blob = blobs.length - 1;
    return d.kind === "npy" ? {name: d.name, npy: blob} : {name: d.name, dtype: d.dtype, shape: d.shape, blob};
  });
}

function Run({store}: Props) {
  const [seed, setSeed] = useState("0");
  const [sizes, setSizes] = useState("");
  const [keep, setKeep] = useState(true);
  const [dropped, setDropped] = useState<DroppedInput[]>([]);
  const take = async (files: File[]) => setDropped(await readInputs(files, store.state.current?.summary.inputs ?? []));
  const run = () => {
    const blobs: BlobPart[] = [];
    const inputs = inputParams(dropped.filter((d) => d.kind !== "npz"), blobs);
    const archive = dropped.find((d) => d.kind === "npz");
    const npz = archive && blobs.push(archive.bytes) - 1;
    const one = dropped.length === 1 && (archive || store.state.current?.summary.inputs?.length === 1) ? dropped[0] : undefined;
    const file = one && one.kind !== "raw" ? {file: one.file} : {}; // the command can take it as it is
    void store.run({seed: Number(seed) || 0, sizes: sizesOf(sizes), ...file, ...(keep ? {keep: ["*"]} : {}), ...(inputs.length ? {inputs} : {}), ...(npz === undefined ? {} : {npz})}, blobs);
  };
  return (
    <>
      <InputFiles store={store} label={t("set.files")} take={take}>
        {dropped.map((d) => <div key={d.name} class="soft">{d.name} ← {d.file}</div>)}
      </InputFiles>
      <Text label={t("set.seed")} value={seed} set={setSeed} />
      <Text label={t("set.sizes")} value={sizes} set={setSizes} />
      <Tick label={t("set.keep")} value={keep} set={setKeep} />
      <div class="actions"><button class="main" data-test="apply-run" onClick={run}>{t("verb.run")}</button></div>
    </>
  );
}

const isArchive = (f: File) => /\.npz$/i.test(f.name);

function Quantize({store}: Props) {
  const [kind, setKind] = useState("samples");
  const method = kind === "dynamic" ? "quantize_dynamic" : "quantize_weights";
  return (
    <>
      <label class="text">{t("set.kind")}
        <select data-test="quantize-kind" value={kind} onChange={(e) => { setKind(e.currentTarget.value); store.set({preview: null}); }}>
          <option value="samples">{t("quantize.samples")}</option>
          <option value="dynamic">{t("quantize.dynamic")}</option>
          {["8", "4", "2"].map((bits) => <option key={bits} value={bits}>{t("quantize.weights", bits)}</option>)}
        </select>
      </label>
      {kind === "samples" ? <FromSamples store={store} />
        : <Buttons store={store} method={method} params={kind === "dynamic" ? {} : {settings: {bits: Number(kind)}}} live={false} key={kind} />}
    </>
  );
}

// Each .npz holds samples, each other file is an input of one sample: as many files make a sample as the model has inputs.
function FromSamples({store}: Props) {
  const inputs = store.state.current?.summary.inputs ?? [];
  const [files, setFiles] = useState<File[]>([]);
  const [target, setTarget] = useState("onnxruntime");
  const [method, setMethod] = useState("auto");
  const take = (given: File[]) => Promise.resolve(setFiles(given));
  const report = store.state.current?.report;
  const apply = async () => {
    const blobs: BlobPart[] = files.filter((f) => isArchive(f));
    const npz = blobs.map((_, i) => i);
    const single = files.filter((f) => !isArchive(f));
    const samples: object[] = [];
    for (let i = 0; i < single.length; i += Math.max(1, inputs.length))
      samples.push(inputParams(await readInputs(single.slice(i, i + Math.max(1, inputs.length)), inputs), blobs));
    const alone = files.length === 1 && npz.length ? {file: files[0]?.name} : {};
    const pictures = single.some((f) => !/\.npy$/i.test(f.name)) ? {pictures: true} : {};
    await store.make("quantize", {settings: {target, method}, samples, npz, ...alone, ...pictures}, false, blobs);
  };
  return (
    <>
      <InputFiles store={store} label={t("set.samples")} take={take}>
        {files.map((f) => <div key={f.name} class="soft">{f.name}</div>)}
      </InputFiles>
      <Choice label={t("set.target")} value={target} set={setTarget} all={["onnxruntime", "tensorrt", "openvino", "qnn", "generic"]} />
      <Choice label={t("set.method")} value={method} set={setMethod} all={["auto", "minmax", "percentile", "entropy", "mse"]} />
      {!files.length && !report && <p class="soft">{t("quantize.need")}</p>}
      {report && <p data-test="quantized" class="good">{t("quantize.result", report.db.toFixed(1), (report.int8_macs * 100).toFixed(0), String(report.samples))}</p>}
      <div class="actions"><button class="main" data-test="apply-quantize" disabled={!files.length}
        onClick={() => void apply().catch((error: unknown) => store.fail(error))}>{t("verb.apply")}</button></div>
    </>
  );
}

function Choice({label, value, set, all, test}: {label: string; value: string; set: (v: string) => void; all: string[]; test?: string}) {
  return (
    <label class="text">{label}
      <select data-test={test} value={value} onChange={(e) => set(e.currentTarget.value)}>{all.map((v) => <option key={v}>{v}</option>)}</select>
    </label>
  );
}

const lintTargets = ["onnxruntime", "onnxruntime-web", "tensorrt", "openvino", "coreml", "ncnn", "opencv", "qnn", "rknn", "tflite", "all"];

function Lint({store}: Props) {
  const [target, setTarget] = useState("onnxruntime");
  return (
    <>
      <Choice label={t("set.target")} value={target} set={setTarget} all={lintTargets} test="lint-target" />
      <div class="actions"><button class="main" data-test="apply-lint" onClick={() => void store.lint([target])}>{t("verb.lint")}</button></div>
    </>
  );
}

function Merge({store}: Props) {
  const [other, setOther] = useState(firstOther(store));
  const [pairs, setPairs] = useState("");
  const connect = Object.fromEntries(listed(pairs).map((p) => p.split("=").map((n) => n.trim())));
  return (
    <>
      <Other store={store} label={t("set.second")} value={other} set={setOther} />
      <Text label={t("set.connect")} value={pairs} set={setPairs} test="merge-connect" />
      {other > 0 && <Buttons store={store} method="merge" params={{second: other, settings: {connect}}} live={false} />}
    </>
  );
}

function Other({store, value, set, label = t("set.reference")}: {store: Store; value: number; set: (n: number) => void; label?: string}) {
  const others = store.state.models.filter((m) => m.kind === "onnx" && m.model !== store.state.current?.model);
  if (!others.length) return <p class="soft">{t("set.needsecond")}</p>;
  return (
    <label class="text">{label}
      <select data-test="reference" value={String(value)} onChange={(e) => set(Number(e.currentTarget.value))}>
        {others.map((m) => <option key={m.model} value={String(m.model)}>{store.state.models.indexOf(m) + 1}. {m.name}</option>)}
      </select>
    </label>
  );
}

// The model that this one was made of, or any other.
function firstOther(store: Store): number {
  const s = store.state;
  return s.current?.from || (s.models.find((m) => m.kind === "onnx" && m.model !== s.current?.model)?.model ?? 0);
}

function Verify({store}: Props) {
  const [other, setOther] = useState(firstOther(store));
  const [seed, setSeed] = useState("0");
  const [sizes, setSizes] = useState("");
  const v = store.state.verified;
  return (
    <>
      <Other store={store} value={other} set={setOther} />
      <Text label={t("set.seed")} value={seed} set={setSeed} />
      <Text label={t("set.sizes")} value={sizes} set={setSizes} />
      {v && <p data-test="verified" class={v.same ? "good" : "bad"}>{v.same ? t("verify.same", String(v.max_difference ?? "∞")) : t("verify.differ", v.results.find((r) => r.why)?.why ?? "")}</p>}
      <div class="actions"><button class="main" data-test="apply-verify" disabled={!other} onClick={() => void store.verify(other, Number(seed) || 0, sizesOf(sizes))}>{t("verb.verify")}</button></div>
    </>
  );
}

function Diff({store}: Props) {
  const [other, setOther] = useState(firstOther(store));
  return (
    <>
      <Other store={store} value={other} set={setOther} />
      <div class="actions"><button class="main" data-test="apply-diff" disabled={!other} onClick={() => void store.diff(other)}>{t("verb.diff")}</button></div>
    </>
  );
}

function Check({store}: Props) {
  const [strict, setStrict] = useState(false);
  return (
    <>
      <Tick label={t("set.strict")} value={strict} set={setStrict} />
      <div class="actions"><button class="main" data-test="apply-check" onClick={() => void store.check(strict)}>{t("verb.check")}</button></div>
    </>
  );
}

const weightPlaces = ["keep", "embed", "external"] as const;

function Save({store}: Props) {
  const model = store.state.current;
  const [name, setName] = useState(model?.name.replace(/\.onnxtxt$/, ".onnx") ?? "");
  const [weights, setWeights] = useState("keep");
  const full = /\.(onnx|onnxtxt|pb)$/.test(name) ? name : `${name}.onnx`;
  return (
    <>
      <Text label={t("set.file")} value={name} set={setName} test="save-name" />
      <label class="text">{t("stat.size")}
        <select data-test="save-weights" value={weights} onChange={(e) => setWeights(e.currentTarget.value)}>
          {weightPlaces.map((w) => <option key={w} value={w}>{t(`weights.${w}` as Word)}</option>)}
        </select>
      </label>
      <div class="actions"><button class="main" data-test="apply-save" disabled={!name.trim()} onClick={() => void store.saveAs({...store.provenance(), weights}, full)}>{t("bar.save")}</button></div>
    </>
  );
}

function done(m: Opened): string {
  const word = m.verb === "open" ? "history.open" : m.command.includes(" --float") ? "verb.half" : `verb.${m.verb}`;
  return isWord(word) ? t(word) : m.verb;
}

function History({store}: Props) {
  const s = store.state;
  const chain: Opened[] = [];
  for (let m = s.current; m; m = s.models.find((o) => o.model === m?.from) ?? null) chain.unshift(m);
  if (chain.length < 2) return null;
  const before = chain[chain.length - 2];
  return (
    <section class="history">
      <h2>{t("history.title")}</h2>
      <ol>{chain.map((m) => (
        <li key={m.model} aria-current={m === s.current}>
          <button class="link" onClick={() => void store.show(m)}>{done(m)} <span class="soft">{m.name}</span></button>
        </li>
      ))}</ol>
      <button data-test="undo" onClick={() => before && void store.show(before)}>{t("history.back")}</button>
    </section>
  );
}
