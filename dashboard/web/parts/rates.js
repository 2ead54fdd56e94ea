// Jobs by minute as a chart, and by hour of the week. What draws them is fetched when the first one is opened; beside
// each chart stands its table.
import { html, useEffect, useRef, useState } from '../html.js';
import { path } from '../url.js';
import { clock, count } from '../format.js';
import { theme, zone, zoneName } from '../settings.js';
import { Fault, useLoad } from './load.js';
import { Table } from './view.js';

let library = null;

/** uPlot: the published file is a classic script that makes one global. */
function uplot() {
  library ??= new Promise((done, failed) => {
    const script = document.createElement('script');
    script.src = new URL('../vendor/uPlot.iife.min.js', import.meta.url).href;
    script.onload = () => done(globalThis.uPlot);
    script.onerror = () => { library = null; failed(new Error('The chart could not be fetched.')); };
    const sheet = document.createElement('link');
    sheet.rel = 'stylesheet';
    sheet.href = new URL('../vendor/uPlot.min.css', import.meta.url).href;
    document.head.append(sheet, script);
  });
  return library;
}

const SERIES = [['Enqueued', 'enqueued', '--dim'], ['Completed', 'processed', '--good'], ['Failed', 'failed', '--bad']];
const PERIODS = { '1m': 'last hour', '5m': 'last 6 hours', '1h': 'last day', '1d': 'last 30 days' };

export function Rates({ queue }) {
  const [period, setPeriod] = useState('1m');
  const [shown, setShown] = useState(false);
  return html`<details open=${shown} onToggle=${(event) => setShown(event.target.open)}><summary>Chart</summary>
    ${shown ? html`<p><select aria-label="Span" onChange=${(event) => setPeriod(event.target.value)}>
      ${Object.entries(PERIODS).map(([value, name]) => html`<option key=${value} value=${value}
        selected=${value === period}>${name}</option>`)}</select></p>
      <${Chart} queue=${queue} period=${period} />` : null}</details><${ByHour} queue=${queue} />`;
}

/** What draws the hours of the week: `{Heat}`, or why it could not be fetched. */
function ByHour({ queue }) {
  const [shown, setShown] = useState(false);
  const [part, setPart] = useState({});
  const turn = (open) => {
    setShown(open);
    if (open && !part.Heat) {
      import('./heat.js').then(setPart, () => setPart({ fault: { message: 'The hours could not be fetched.' } }));
    }
  };
  const { Heat, fault } = part;
  return html`<details open=${shown} onToggle=${(event) => turn(event.target.open)}><summary>By weekday and hour
    </summary>${shown && fault ? html`<${Fault} fault=${fault} />` : null}
    ${shown && Heat ? html`<${Heat} queue=${queue} />` : null}</details>`;
}

function Chart({ queue, period }) {
  const { data, fault } = useLoad(path('/admin/stats/history', { queue, period }));
  const place = useRef(null);
  const items = data?.items ?? [];
  const look = `${theme.value} ${zone.value}`;
  useEffect(() => {
    if (!items.length) return undefined;
    let plot = null;
    let gone = false;
    uplot().then((Plot) => { if (!gone) plot = draw(Plot, place.current, items); },
      () => { /* The table says the same. */ });
    return () => { gone = true; plot?.destroy(); };
  }, [data, look]);
  if (fault) return html`<p class="empty">${fault.message}</p>`;
  if (!items.length) return html`<p class="empty">Nothing has happened in this time.</p>`;
  const highest = Math.max(...items.map((item) => item.processed));
  return html`<div class="chart" ref=${place} role="img"
    aria-label=${`Jobs by period, at most ${highest} completed, last ${items.at(-1).processed}`}></div>
    <details><summary>As a table</summary><${Table} label="Jobs by period" rows=${items} keyOf=${(item) =>
      item.timestamp} columns=${[
      { name: 'From', cell: (item) => clock(Date.parse(item.timestamp)) },
      ...SERIES.map(([name, member]) => ({ name, number: true, cell: (item) => count(item[member]) })),
    ]} /></details>`;
}

function draw(Plot, place, items) {
  const style = getComputedStyle(document.documentElement);
  // A canvas knows no custom properties: an element computes them.
  const colour = (name) => {
    const probe = document.createElement('i');
    probe.style.color = `var(${name})`;
    document.body.append(probe);
    const value = getComputedStyle(probe).color;
    probe.remove();
    return value;
  };
  const axis = { stroke: colour('--dim'), grid: { stroke: colour('--line'), width: 1 },
    font: `12px ${style.fontFamily}` };
  const times = items.map((item) => Date.parse(item.timestamp) / 1000);
  return new Plot({
    width: Math.max(240, place.clientWidth), height: 220,
    tzDate: (seconds) => (zoneName() ? Plot.tzDate(new Date(seconds * 1000), zoneName()) : new Date(seconds * 1000)),
    axes: [axis, { ...axis, size: 45 }],
    series: [{}, ...SERIES.map(([label, , name]) => ({ label, stroke: colour(name), width: 2,
      points: { show: items.length < 40 } }))],
  }, [times, ...SERIES.map(([, member]) => items.map((item) => item[member]))], place);
}
