// The frame of a screen, and what stands in many of them.
import { html, useEffect } from '../html.js';
import { offers } from '../api.js';
import { link } from '../url.js';

/** A screen with its heading. */
export function View({ title, tools, children }) {
  useEffect(() => { document.title = `${title} · Open Job Spec`; }, [title]);
  return html`<div class="head"><h1>${title}</h1>${tools ? html`<div class="tools">${tools}</div>` : null}</div>
    ${children}`;
}

export function Panel({ title, children }) {
  return html`<section class="panel" aria-label=${title}><h2>${title}</h2>${children}</section>`;
}

export const Empty = ({ children }) => html`<p class="empty">${children}</p>`;

const TONES = {
  completed: 'good', succeeded: 'good', running: 'run', active: 'run', discarded: 'bad', failed: 'bad', open: 'bad',
    dead: 'bad',
  retryable: 'warn', paused: 'warn', held: 'warn', blocked: 'warn', stale: 'warn', quiet: 'warn', suspended: 'warn',
    draining: 'warn', drain: 'warn', terminate: 'warn',
  expired: 'bad',
};

export const tone = (state) => TONES[state] ?? '';

/** A state, told apart by colour, sign and name. */
export const Badge = ({ state, tone: given }) => html`<span class=${`badge ${given ?? tone(state)}`}>${state}</span>`;

export const JobLink = ({ id }) => html`<a class="id" href=${link(['jobs', id])}>${id}</a>`;
export const QueueLink = ({ name }) => (offers().screens.has('queues')
  ? html`<a href=${link(['queues', name])}>${name}</a>` : name);

/** Names and values. Values that are missing are left out. */
export function Facts({ rows }) {
  const shown = rows.filter(([, value]) => value !== undefined && value !== null && value !== '');
  return html`<dl class="facts">${shown.map(([name, value]) => html`<dt key=${name}>${name}</dt><dd>${value}</dd>`)}
    </dl>`;
}

/**
 * A table in a frame that scrolls by itself. `columns` are `{name, cell, number}`; with `selection`, rows can be
 * chosen.
 */
export function Table({ label, columns, rows, keyOf, selection, empty }) {
  if (rows.length === 0) return html`<${Empty}>${empty ?? 'There is nothing here.'}<//>`;
  return html`<div class="wrap" role="region" aria-label=${label} tabindex="0"><table>
    <caption class="hidden">${label}</caption>
    <thead><tr>${selection ? html`<th scope="col"><${All} rows=${rows} keyOf=${keyOf} selection=${selection} /></th>`
      : null}
      ${columns.map((column) => html`<th key=${column.name} scope="col" class=${column.number ? 'number' : ''}>
        ${column.name}</th>`)}</tr></thead>
    <tbody>${rows.map((row) => html`<tr key=${keyOf(row)} data-row=${keyOf(row)}>
      ${selection ? html`<td><${One} id=${keyOf(row)} selection=${selection} /></td>` : null}
      ${columns.map((column) => html`<td key=${column.name} class=${column.number ? 'number' : ''}>${column.cell(row)}
        </td>`)}</tr>`)}</tbody>
  </table></div>`;
}

function One({ id, selection }) {
  const change = () => {
    const next = new Set(selection.value);
    if (!next.delete(id)) next.add(id);
    selection.value = next;
  };
  return html`<input type="checkbox" aria-label=${`Select ${id}`} checked=${selection.value.has(id)}
    onChange=${change} />`;
}

function All({ rows, keyOf, selection }) {
  const ids = rows.map(keyOf);
  const all = ids.every((id) => selection.value.has(id));
  const change = () => { selection.value = new Set(all ? [] : ids); };
  return html`<input type="checkbox" aria-label="Select all rows of this page" checked=${all} onChange=${change} />`;
}
