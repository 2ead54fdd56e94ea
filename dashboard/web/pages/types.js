// Job types: how many jobs of each there were lately, how long they ran and waited.
import { html, useState } from '../html.js';
import { link, path, route } from '../url.js';
import { count, short, span } from '../format.js';
import { Choice } from '../parts/choice.js';
import { Loaded, useLoad } from '../parts/load.js';
import { Panel, Table, View } from '../parts/view.js';

const HOUR = 3_600_000;
const HOURS = { 'last day': 24, 'last week': 167 };
const SORTS = ['processed', 'enqueued', 'failed', 'discarded', 'latency', 'wait'];

export function Types() {
  const { sort = 'busy', over } = route.value.query;
  const [opened] = useState(Date.now());
  const since = HOURS[over] ? new Date(opened - HOURS[over] * HOUR).toISOString() : undefined;
  const load = useLoad(path('/admin/stats/types', { sort, since, limit: 200 }));
  const time = (ms) => (ms === null ? '–' : span(ms));
  return html`<${View} title="Job types"><div class="filters" role="group" aria-label="Filters">
    <${Choice} label="Over" name="over" values=${Object.keys(HOURS)} any="last hour" />
    <${Choice} label="Order" name="sort" values=${SORTS} any="busy" /></div>
    <${Panel} title="Types"><${Loaded} load=${load} absent="This server keeps no figures of job types.">${({ items }) =>
    html`<${Table} label="Job types" rows=${items} keyOf=${(item) => item.type}
      empty="No job came or ran in this time." columns=${[
      { name: 'Type', cell: ({ type }) => (type === '_other' ? 'all others'
        : html`<a href=${link(['jobs'], { type })}>${short(type, 120)}</a>`) },
      { name: 'Enqueued', number: true, cell: (item) => count(item.enqueued) },
      { name: 'Processed', number: true, cell: (item) => count(item.processed) },
      { name: 'Failed', number: true, cell: (item) => count(item.failed) },
      { name: 'Discarded', number: true, cell: (item) => count(item.discarded) },
      { name: 'Busy', number: true, cell: (item) => time(item.busy_ms) },
      { name: 'Run p50', number: true, cell: (item) => time(item.latency_ms.p50) },
      { name: 'Run p95', number: true, cell: (item) => time(item.latency_ms.p95) },
      { name: 'Wait p95', number: true, cell: (item) => time(item.wait_ms.p95) },
    ]} />`}<//><//><//>`;
}
