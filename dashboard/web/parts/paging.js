// From page to page.
import { html } from '../html.js';
import { go, refine, route } from '../url.js';
import { count } from '../format.js';

/** The page that the address names, from 1. */
const pageOf = () => Math.max(1, Number.parseInt(route.value.query.page, 10) || 1);

/** What asks for the page that the address names, as the lists of the admin API take it. */
export function pageOfAdmin(size) {
  const { after } = route.value.query;
  return { per_page: size, ...(after ? { cursor: after } : { page: pageOf() }) };
}

/** The same as the lists of every server take it. */
export function pageOfAny(size) {
  const { after } = route.value.query;
  return { limit: size, ...(after ? { cursor: after } : { offset: (pageOf() - 1) * size }) };
}

/** From page to page of a list: by its cursors, or by number where the server gives no cursor. */
export function Paging({ pagination: { has_more: more, next_cursor: next, total, total_relation: relation } = {} }) {
  const all = total === undefined ? undefined : `${count(total)}${relation === 'gte' ? '+' : ''} in all`;
  if (!next && !route.value.query.after) return html`<${Pages} more=${more} all=${all} />`;
  return html`<${Cursors} next=${next} all=${all} complete=${relation !== 'gte'} />`;
}

/** Links to the pages before and after. `all` says how many there are, if the server says it. */
function Pages({ more, all }) {
  const page = pageOf();
  if (page === 1 && !more) return all === undefined ? null : html`<p class="dim">${all}</p>`;
  return html`<p class="buttons"><button type="button" disabled=${page === 1} onClick=${() => refine({ page: page > 2
    ? page - 1 : '' })}>Previous</button>
    <span class="dim">Page ${page}${all === undefined ? null : `, ${all}`}</span>
    <button type="button" disabled=${!more} onClick=${() => refine({ page: page + 1 })}>Next</button></p>`;
}

/**
 * The same for lists that are read from place to place: `next` is the cursor of the following page. A server that
 * looked at its bound of rows before the page was full says that it is not `complete`. Back leads to the page before.
 */
export function Cursors({ next, complete, all }) {
  const { parts, query } = route.value;
  const to = (after) => () => go(parts, { ...query, page: '', after });
  if (!query.after && !next) return null;
  const first = !query.after && pageOf() === 1;
  return html`<p class="buttons"><button type="button" disabled=${first} onClick=${to('')}>First page</button>
    ${all === undefined ? null : html`<span class="dim">${all}</span>`}
    <button type="button" disabled=${!next} onClick=${to(next)}>Next</button>${next && !complete ? html`<span
      class="dim">Only a part of the jobs has been searched: Next goes on.</span>` : null}</p>`;
}
