// Rate limits by key: what is taken, what waits, when the next may start.
import { html } from '../html.js';
import { path } from '../url.js';
import { count, Time } from '../format.js';
import { put } from '../api.js';
import { Action } from '../parts/act.js';
import { Loaded, useLoad } from '../parts/load.js';
import { pageOfAny, Paging } from '../parts/paging.js';
import { Badge, Panel, Table, View } from '../parts/view.js';

const PER_PAGE = 50;

export function Limits() {
  const load = useLoad(path('/rate-limits', pageOfAny(PER_PAGE)));
  return html`<${View} title="Limits"><${Panel} title="Keys"><${Loaded} load=${load}>${({ items, pagination = {} }) =>
    html`
    <${Table} label="Limits" rows=${items} keyOf=${(limit) => limit.key} empty="No job has a limited key." columns=${[
      { name: 'Key', cell: (limit) => html`${limit.key}<br /><span class="dim">${limit.scope}</span>` },
      { name: 'State', cell: (limit) => html`<${Badge} ...${full(limit)} />` },
      { name: 'Running', number: true, cell: (limit) => (limit.concurrency
        ? `${count(limit.concurrency.active)} of ${count(limit.concurrency.limit)}` : count(limit.active)) },
      { name: 'Rate', cell: (limit) => rate(limit.rate ?? limit.throttle) },
      { name: 'Waiting', number: true, cell: (limit) => count(limit.waiting_count) },
      { name: 'Next start', cell: (limit) => html`<${Time} at=${nextStart(limit)} />` },
      { name: 'Change', cell: (limit) => (limit.override ? html`<${Action} label="End override"
        name=${`End override of ${limit.key}`}
        run=${() => put(`/rate-limits/${encodeURIComponent(limit.key)}`, {})}
          done=${`${limit.key} has its own limits again.`} />` : '') },
    ]} /><${Paging} pagination=${pagination} />`}<//><//><//>`;
}

function full({ concurrency, waiting_count: waiting, override }) {
  if (override) return { state: 'overridden', tone: 'warn' };
  if (concurrency && concurrency.available <= 0) return { state: 'full', tone: 'warn' };
  return waiting ? { state: 'in use', tone: '' } : { state: 'free', tone: 'good' };
}

/** When the rate and the throttle let the next job start; unset when they let it start now. */
function nextStart({ rate: window, throttle }) {
  // Times of the server have one form, which sorts as text.
  return [window?.window_resets_at, throttle?.next_allowed_at].filter(Boolean).sort().at(-1);
}

function rate(limit) {
  if (!limit) return '–';
  const used = limit.current_count;
  return `${used === undefined ? '' : `${count(used)} of `}${count(limit.limit)}${limit.period ? ` in ${limit.period}`
    : ''}`;
}
