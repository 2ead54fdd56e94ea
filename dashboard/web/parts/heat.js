// When jobs run or fail: one field for each hour of the week, of the last four weeks. It is a table, so that programs
// that read the screen aloud have every number.
import { html, useState } from '../html.js';
import { path } from '../url.js';
import { count } from '../format.js';
import { zoneName } from '../settings.js';
import { Fault, useLoad } from './load.js';

const HOUR = 3_600_000;
const WEEKS = 4;
const DAYS = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'];
const HOURS = Array.from({ length: 24 }, (_, hour) => hour);
const KINDS = { processed: 'completed', failed: 'failed', enqueued: 'enqueued' };
/** Shades beside that of no job. */
const SHADES = 5;

export function Heat({ queue }) {
  const [kind, setKind] = useState('processed');
  // Fixed when it is opened: another time would be another address, and so another reading at each update.
  const [since] = useState(() => new Date(Math.ceil(Date.now() / HOUR) * HOUR - WEEKS * 7 * 24 * HOUR).toISOString());
  const { data, fault } = useLoad(path('/admin/stats/history', { queue, period: '1h', since }));
  return html`<p><select aria-label="Jobs that are shown" onChange=${(event) => setKind(event.target.value)}>
    ${Object.entries(KINDS).map(([value, name]) => html`<option key=${value} value=${value}
      selected=${value === kind}>${name}</option>`)}</select></p>
    ${fault ? html`<${Fault} fault=${fault} />` : null}${data ? html`<${Week} items=${data.items} kind=${kind} />`
      : null}`;
}

/** Jobs by weekday, from Monday on, and hour of the chosen zone: the sums of all weeks. */
export function byHour(items, kind) {
  const parts = new Intl.DateTimeFormat('en-GB', { weekday: 'short', hour: '2-digit', hourCycle: 'h23',
    timeZone: zoneName() });
  const week = DAYS.map(() => HOURS.map(() => 0));
  for (const item of items) {
    const part = Object.fromEntries(parts.formatToParts(Date.parse(item.timestamp)).map(({ type, value }) =>
      [type, value]));
    week[DAYS.indexOf(part.weekday)][Number(part.hour)] += item[kind];
  }
  return week;
}

function Week({ items, kind }) {
  const week = byHour(items, kind);
  const most = Math.max(...week.flat());
  if (most === 0) return html`<p class="empty">No job was ${KINDS[kind]} in the last ${WEEKS} weeks.</p>`;
  const shade = (jobs) => (jobs === 0 ? 0 : Math.ceil(SHADES * jobs / most));
  const said = (day, hour, jobs) => `${day} ${String(hour).padStart(2, '0')}:00, ${count(jobs)} ${KINDS[kind]}`;
  return html`<div class="wrap" role="region" aria-label="Jobs by weekday and hour" tabindex="0">
    <table class=${`heat ${kind === 'failed' ? 'bad' : ''}`}><caption>Jobs ${KINDS[kind]} in the last ${WEEKS} weeks, at
      most ${count(most)} in one field</caption>
    <thead><tr><th scope="col"><span class="hidden">Weekday</span></th>${HOURS.map((hour) => html`<th key=${hour}
      scope="col"><span class=${hour % 6 ? 'hidden' : ''}>${hour}</span></th>`)}</tr></thead>
    <tbody>${DAYS.map((day, place) => html`<tr key=${day}><th scope="row">${day}</th>${week[place].map((jobs, hour) =>
      html`<td key=${hour} class=${`shade-${shade(jobs)}`} title=${said(day, hour, jobs)}><span class="hidden">
        ${count(jobs)}</span></td>`)}</tr>`)}</tbody></table></div>`;
}
