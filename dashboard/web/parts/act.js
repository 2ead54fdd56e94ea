// Buttons that change something: with a question where it cannot be undone, and an answer that a screen reader speaks.
import { html, signal, useEffect, useRef, useState } from '../html.js';
import { may } from '../api.js';
import { refresh } from '../live.js';
import { Fault } from './load.js';

/** The last answer: `{text}` or `{fault}`. */
const answer = signal(null);
const question = signal(null);

/** Says what came of a change. */
export function say(text) { answer.value = { text }; }
export function clear() { answer.value = null; }

/** Runs a change; says what came of it, and has the lists read again. */
export async function change(run, done) {
  try {
    const result = await run();
    say(typeof done === 'function' ? done(result) : done);
    return true;
  } catch (fault) {
    answer.value = { fault };
    return false;
  } finally {
    refresh();
  }
}

/** Asks in a dialog; whether the answer was yes. */
export function ask({ title, text, yes }) {
  return new Promise((resolve) => { question.value = { title, text, yes, resolve }; });
}

/** Asks the question of a button, if it has one. The button stays enabled: the dialog gives the focus back to it. */
async function agreed(label, confirm) {
  try {
    const text = typeof confirm === 'function' ? await confirm() : confirm;
    return !text || await ask({ title: label, text, yes: label });
  } catch (fault) {
    answer.value = { fault };
    return false;
  }
}

/**
 * A button for those who may. `run` changes, `done` says so; `confirm` is a question that comes first, or a function
 * that finds it out.
 */
export function Action({ label, name, right = 'operate', run, done, confirm, kind = '' }) {
  const [busy, setBusy] = useState(false);
  const asking = useRef(false);
  if (!may(right)) return null;
  const press = async () => {
    if (asking.current) return;
    asking.current = true;
    const yes = await agreed(label, confirm);
    asking.current = false;
    if (!yes) return;
    setBusy(true);
    await change(run, done);
    setBusy(false);
  };
  return html`<button type="button" class=${kind} disabled=${busy} aria-label=${name} onClick=${press}>
    ${label}</button>`;
}

/** Where answers stand. */
export function Answers() {
  const now = answer.value;
  return html`<div role="status" aria-live="polite">${now?.text ? html`<div class="notice"><p>${now.text}
    <button type="button" class="plain" onClick=${clear}>Close</button></p></div>` : null}</div>
    ${now?.fault ? html`<${Fault} fault=${now.fault} />` : null}`;
}

/** The one dialog. Focus goes back to the button by itself. */
export function Questions() {
  const box = useRef(null);
  const now = question.value;
  useEffect(() => { if (now && !box.current.open) box.current.showModal(); }, [now]);
  if (!now) return null;
  const end = (yes) => {
    box.current.close();
    question.value = null;
    now.resolve(yes);
  };
  return html`<dialog ref=${box} aria-labelledby="question"
    onCancel=${(event) => { event.preventDefault(); end(false); }}>
    <h2 id="question">${now.title}?</h2><p>${now.text}</p>
    <div class="buttons"><button type="button" onClick=${() => end(false)}>Keep</button>
    <button type="button" class="main" onClick=${() => end(true)}>${now.yes}</button></div></dialog>`;
}
