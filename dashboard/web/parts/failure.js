// The errors of a job: one of them whole, and what differs from another one, word by word.
import { html, useState } from '../html.js';
import { link } from '../url.js';
import { compare } from '../words.js';

/** What is compared of an error: its type, its message and its frames. */
function whole(error) {
  return [error.type ?? error.code, error.message, ...frames(error)].filter(Boolean).join('\n');
}

function frames(error) {
  const given = error.backtrace ?? error.stack_trace ?? [];
  return Array.isArray(given) ? given : String(given).split('\n');
}

/** `errors` in their order; the last one is shown first. */
export function Failures({ errors, fingerprint }) {
  const [chosen, setChosen] = useState({});
  const at = Math.min(chosen.at ?? errors.length - 1, errors.length - 1);
  const other = Math.min(chosen.other ?? Math.max(at - 1, 0), errors.length - 1);
  const error = errors[at];
  const lines = frames(error);
  const choose = (name) => (event) => setChosen({ ...chosen, at, other, [name]: Number(event.target.value) });
  const pick = (label, name, value) => html`<label>${label}<select onChange=${choose(name)}>
    ${errors.map((entry, n) => html`<option key=${n} value=${n} selected=${n === value}>attempt ${entry.attempt}${
      n === errors.length - 1 ? ', the last' : ''}</option>`)}</select></label>`;
  return html`${errors.length > 1 ? html`<div class="filters" role="group" aria-label="Errors">
      ${pick('Error of', 'at', at)}${pick('Compared with', 'other', other)}</div>` : null}
    <p><b>${error.type ?? error.code}</b> <span class="dim">attempt ${error.attempt}</span>${fingerprint
      ? html` <a href=${link(['errors', fingerprint])}>Same errors of other jobs</a>` : null}</p>
    <pre tabindex="0" role="region" aria-label="Error message">${error.message}</pre>
    ${lines.length ? html`<details><summary>Backtrace, ${lines.length} frames</summary><pre tabindex="0" role="region"
      aria-label="Backtrace">${lines.join('\n')}</pre></details>` : null}
    ${at === other ? null : html`<${Difference} before=${errors[other]} after=${error} />`}`;
}

function Difference({ before, after }) {
  const [first, second] = [whole(before), whole(after)];
  if (first === second) return html`<p class="dim">Attempt ${before.attempt} failed with the same error.</p>`;
  const parts = compare(first, second).map(({ kind, text }, n) => {
    if (kind === 'same') return html`<span key=${n}>${text}</span>`;
    // The names are for screen readers, which say nothing of the elements themselves.
    return kind === 'gone' ? html`<del key=${n}><span class="hidden">, gone: </span>${text}</del>`
      : html`<ins key=${n}><span class="hidden">, new: </span>${text}</ins>`;
  });
  return html`<details open><summary>What differs from attempt ${before.attempt}</summary><pre class="words"
    tabindex="0" role="region" aria-label="What differs">${parts}</pre></details>`;
}
