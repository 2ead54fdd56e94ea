// From page to page.
import { html } from '../html.js';
import { refine, route } from '../url.js';
import { count } from '../format.js';

/** The page that the address names, from 1. */
export const pageOf = () => Math.max(1, Number.parseInt(route.value.query.page, 10) || 1);

/** Links to the pages before and after. `total` is what the server says, if it says. */
export function Paging({ more, total, atLeast = false }) {
  const page = pageOf();
  if (page === 1 && !more) return total === undefined ? null : html`<p class="dim">${count(total)} in all</p>`;
  return html`<p class="buttons"><button type="button" disabled=${page === 1} onClick=${() => refine({ page: page > 2
    ? page - 1 : '' })}>Previous</button>
    <span class="dim">Page ${page}${total === undefined ? null : `, ${atLeast ? 'at least '
      : ''}${count(total)} in all`}</span>
    <button type="button" disabled=${!more} onClick=${() => refine({ page: page + 1 })}>Next</button></p>`;
}
