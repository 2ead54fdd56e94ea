// A filter of a list: one of a few values, kept in the address.
import { html } from '../html.js';
import { refine, route } from '../url.js';

/** `name` is the member of the address; `start` empties the members that name the page, so the list begins again. */
export function Choice({ label, name, values, any = 'any', start = { page: '', after: '' } }) {
  const now = route.value.query[name];
  return html`<label>${label}<select onChange=${(event) => refine({ ...start, [name]: event.target.value })}>
    <option value="">${any}</option>${values.map((value) => html`<option key=${value} value=${value}
      selected=${value === now}>${value}</option>`)}</select></label>`;
}
