// A filter of a list: a text, kept in the address.
import { html } from '../html.js';
import { refine, route } from '../url.js';

/** As `Choice`; `search` says that the key for searching goes to this field. */
export function TextFilter({ label, name, search, start = { page: '', after: '' } }) {
  const change = (event) => refine({ ...start, [name]: event.target.value.trim() });
  return html`<label>${label}<input data-search=${search} value=${route.value.query[name] ?? ''} onChange=${change}
    spellcheck="false" autocomplete="off" /></label>`;
}
