import {useEffect, useRef, useState} from "preact/hooks";
import type {Props} from "./app";
import {explained} from "./explained";
import {type Language, t, type Word} from "./words";

export function Progress({store}: Props) {
  const b = store.state.busy;
  if (!b) return null;
  return (
    <div class="busy" role="status" data-test="busy">
      <span>{b.what || t("busy.working")}</span>
      {b.all > 1 ? <progress max={b.all} value={b.done} aria-label={b.what} /> : <progress aria-label={b.what} />}
      <button data-test="cancel" onClick={b.cancel}>{t("busy.cancel")}</button>
    </div>
  );
}

export function Said({store}: Props) {
  const s = store.state;
  if (!s.said || s.busy) return null;
  return (
    <div class="busy said" role="status" data-test="said">
      <span><span class="good" aria-hidden="true">✓</span> {s.said}</span>
      <button onClick={() => store.set({said: ""})}>{t("error.close")}</button>
    </div>
  );
}

// Browsers refuse the clipboard to some pages.
export function CopyButton({text, label}: {text: () => string; label: string}) {
  const [copied, setCopied] = useState<boolean | null>(null);
  const copy = () => void navigator.clipboard.writeText(text()).then(() => setCopied(true), () => setCopied(false));
  return <button onClick={copy}>{copied === null ? label : t(copied ? "panel.copied" : "panel.uncopied")}</button>;
}

// In Chinese, what a code of the command line means.
export function Meaning({code, language}: {code: string; language: Language}) {
  const known = explained(code, language);
  if (!known) return null;
  return (
    <>
      <p class="means">{t("colon", t("error.means"))}{known.cause}</p>
      {known.cure && <p class="means">{t("colon", t("error.hint"))}{known.cure}</p>}
    </>
  );
}

export function Errors({store}: Props) {
  const errors = store.state.errors;
  const close = useRef<HTMLButtonElement>(null);
  useEffect(() => close.current?.focus(), [errors]);
  if (!errors.length) return null;
  return (
    <div class="errors" role="alertdialog" aria-label={errors[0]?.code} data-test="errors">
      {errors.slice(0, 20).map((e, i) => (
        <article key={i}>
          <p><span class="tag">{e.code}</span> <strong>{e.what}</strong></p>
          <Meaning code={e.code} language={store.state.language} />
          {(e.file || e.scope) && <p class="soft">{t("colon", t("error.where"))}{[e.file, e.line, e.scope].filter(Boolean).join(" · ")}</p>}
          {e.because && <p class="soft">{t("colon", t("error.because"))}{e.because}</p>}
          {e.hint && <p>{t("colon", t("error.hint"))}{e.hint}</p>}
        </article>
      ))}
      <button ref={close} onClick={() => store.set({errors: []})}>{t("error.close")}</button>
    </div>
  );
}

const keys: [string, Word][] = [
  ["/", "keys.search"], ["↑ ↓ ← →", "keys.move"], ["Enter", "keys.open"], ["f", "keys.fit"], ["+ −", "keys.zoom"], ["w a d", "keys.pan"],
  ["s r c S", "keys.verbs"], ["Esc", "keys.escape"], ["?", "keys.help"],
];

export function KeyList({store}: Props) {
  const close = useRef<HTMLButtonElement>(null);
  useEffect(() => close.current?.focus(), [store.state.keys]);
  if (!store.state.keys) return null;
  return (
    <div class="keylist" role="dialog" aria-label={t("keys.title")}>
      <h2>{t("keys.title")}</h2>
      <dl class="fields">{keys.map(([key, word]) => <div key={key}><dt><kbd>{key}</kbd></dt><dd>{t(word)}</dd></div>)}</dl>
      <button ref={close} onClick={() => store.set({keys: false})}>{t("error.close")}</button>
    </div>
  );
}
