// The field of a search, with suggestions: words of the language, states, queues, types, errors.
import { html, useEffect, useRef, useState } from '../html.js';
import { get } from '../api.js';

export const STATES = ['scheduled', 'available', 'pending', 'active', 'completed', 'retryable', 'cancelled',
  'discarded'];
const NAMES = ['state:', 'queue:', 'type:', 'error:', 'args.0:', 'args:', 'meta.', 'meta:', 'tag:', 'attempt:>',
  'priority:', 'since:', 'until:', 'tenant:'];
const SHOWN = 8;

/** Names that the server knows, by word: read once, when the field gets the focus. */
const known = { state: STATES, since: ['15m', '1h', '24h', '7d'], queue: [], type: [], error: [] };
let asked = null;

async function names(path, list, name) {
  try {
    return (await get(path))[list].map((item) => item[name]);
  } catch { return []; }
}

function readNames() {
  asked ??= Promise.all([
    names('/admin/queues?per_page=100', 'items', 'name').then((found) => { known.queue = found; }),
    names('/admin/stats/types?limit=200', 'items', 'type').then((found) => { known.type = found; }),
    names('/admin/errors?per_page=50', 'items', 'error_type').then((found) => { known.error = [...new Set(found)]; }),
  ]);
}

/** What may stand for the last word of a text. */
export function suggest(text) {
  const word = text.match(/\S*$/)[0];
  const [, sign, name, begun] = word.match(/^(-?)(?:([a-z]+):)?([^:]*)$/) ?? [];
  if (begun === undefined || (name && !known[name])) return [];
  const values = name ? known[name].map((value) => `${name}:${/[\s"]/.test(value) ? `"${value}"` : value}`) : NAMES;
  const start = name ? `${name}:${begun}` : begun;
  const fits = values.filter((value) => value.startsWith(start) && value !== start);
  return fits.slice(0, SHOWN).map((value) => `${sign}${value}`);
}

export function SearchField({ value, describedBy }) {
  const field = useRef(null);
  const [text, setText] = useState(value);
  const [shown, setShown] = useState([]);
  const [at, setAt] = useState(-1);
  useEffect(() => setText(value), [value]);
  const show = (list) => { setShown(list); setAt(-1); };
  const take = (suggestion) => {
    const whole = text.replace(/\S*$/, suggestion) + (/[:.>]$/.test(suggestion) ? '' : ' ');
    setText(whole);
    field.current.focus();
    show(suggest(whole));
  };
  const type = (event) => {
    setText(event.target.value);
    show(suggest(event.target.value));
  };
  const press = (event) => {
    if (event.key === 'Escape' && shown.length) { event.preventDefault(); show([]); }
    if (event.key === 'Enter') {
      if (at >= 0 && shown[at]) { event.preventDefault(); take(shown[at]); } else show([]);
    }
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step && shown.length) {
      event.preventDefault();
      // Between the last suggestion and the first one stands the text itself.
      const next = at + step;
      setAt(next >= shown.length ? -1 : next < -1 ? shown.length - 1 : next);
    }
  };
  return html`<div class="search"><label for="q">Search</label>
    <input id="q" ref=${field} name="q" data-search type="search" role="combobox" aria-autocomplete="list"
      aria-expanded=${shown.length ? 'true' : 'false'} aria-controls=${shown.length ? 'suggestions' : null}
      aria-activedescendant=${at >= 0 ? `suggestion-${at}` : null} aria-describedby=${describedBy} value=${text}
      autocomplete="off" spellcheck="false" onFocus=${readNames} onKeyDown=${press} onInput=${type}
      onBlur=${() => show([])} />
    ${shown.length ? html`<ul class="suggestions" id="suggestions" role="listbox" aria-label="Suggestions">
      ${shown.map((suggestion, n) => html`<li key=${suggestion} id=${`suggestion-${n}`} role="option"
        aria-selected=${n === at ? 'true' : 'false'}
        onMouseDown=${(event) => { event.preventDefault(); take(suggestion); }}>
        ${suggestion}</li>`)}</ul>` : null}</div>`;
}
