// How it goes: totals, queues, workers, what failed last.
import { html } from '../html.js';
import { manifest, offers } from '../api.js';
import { link, path } from '../url.js';
import { count, short, span, Time } from '../format.js';
import { Loaded, useLoad } from '../parts/load.js';
import { Badge, Empty, Facts, Panel, QueueLink, Table, View } from '../parts/view.js';
import { Attention } from '../parts/attention.js';
import { pressure } from '../parts/pressure.js';
import { Rates } from '../parts/rates.js';

/** Queues whose oldest job is asked for: one request each. */
const LOOKED_AT = 8;
const STATES = ['available', 'active', 'scheduled', 'retryable', 'pending', 'completed', 'discarded', 'cancelled'];

export function Overview() {
  return offers().admin ? html`<${Whole} />` : html`<${Basics} />`;
}

function Whole() {
  const stats = useLoad('/admin/stats');
  const queues = useLoad('/admin/queues?per_page=100');
  const workers = useLoad('/admin/workers?per_page=100');
  const maintenance = useLoad(offers().own ? '/admin/system/maintenance' : null);
  const held = useLoad(offers().own ? '/admin/trains?state=held&per_page=1' : null);
  const relays = useLoad(offers().own ? '/admin/relays?per_page=1' : null);
  return html`<${View} title="Overview">
    ${maintenance.data?.maintenance ? html`<div class="fault" role="alert">
      <p>Maintenance: no job is handed out. ${maintenance.data.reason}</p></div>` : null}
    <${Loaded} load=${stats}>${(data) => html`<${Totals} stats=${data} />`}<//>
    ${stats.data && queues.data && workers.data ? html`<${Attention} stats=${stats.data} queues=${queues.data.items}
      workers=${workers.data} held=${held.data?.pagination?.total} relays=${relays.data?.summary} />` : null}
    <div class="split"><div>
      <${Panel} title="Busiest queues"><${Loaded} load=${queues}>${(data) => html`<${Busiest} queues=${data.items}
        workers=${workers.data?.items} />`}<//><//>
      <${Panel} title="Recent failures"><${Failures} /><//></div><div>
      <${Panel} title="Pace"><${Loaded} load=${stats}>${(data) => html`<${Pace} stats=${data} />`}<//><${Rates} /><//>
      <${Panel} title="Workers"><${Loaded} load=${workers}>${(data) => html`<${Summary} data=${data} />`}<//><//>
    </div></div><//>`;
}

function Totals({ stats }) {
  return html`<ul class="totals">${STATES.map((state) => html`<li key=${state}><a href=${link(['jobs'], { state })}>
    <b>${count(stats.jobs[state] ?? 0)}</b>${state}</a></li>`)}
    <li><a href=${link(['dead'])}><b>${count(stats.dead_letters ?? null)}</b>dead letters</a></li></ul>`;
}

function Pace({ stats }) {
  const { throughput: pace = {}, latency_ms: run = {}, wait_ms: wait = {} } = stats;
  return html`<${Facts} rows=${[
    ['Enqueued', `${count(pace.enqueued_per_minute)} a minute`],
    ['Completed', `${count(pace.processed_per_minute)} a minute`],
    ['Failed', `${count(pace.failed_per_minute)} a minute`],
    ['Wait, p50 / p95', `${span(wait.p50)} / ${span(wait.p95)}`],
    ['Run, p50 / p95', `${span(run.p50)} / ${span(run.p95)}`],
  ]} />`;
}

function Busiest({ queues, workers }) {
  const load = (queue) => queue.counts.available * 1000 + queue.counts.active;
  const rows = queues.toSorted((a, b) => load(b) - load(a)).slice(0, LOOKED_AT);
  return html`<${Table} label="Busiest queues" rows=${rows} keyOf=${(queue) => queue.name}
    empty="There are no queues yet: the first job makes one." columns=${[
      { name: 'Queue', cell: (queue) => html`<${QueueLink} name=${queue.name} />` },
      { name: 'Waiting', number: true, cell: (queue) => count(queue.counts.available) },
      { name: 'Running', number: true, cell: (queue) => count(queue.counts.active) },
      { name: 'Oldest', cell: (queue) => html`<${Oldest} queue=${queue} />` },
      { name: 'Pressure', cell: (queue) => html`<${Badge} ...${pressure(queue, workers)} />` },
    ]} />`;
}

function Oldest({ queue }) {
  const { data } = useLoad(queue.counts.available ? `/admin/queues/${encodeURIComponent(queue.name)}` : null);
  const at = Date.parse(data?.oldest_available_at ?? '');
  return Number.isNaN(at) ? '–' : span(Math.max(0, Date.now() - at));
}

function Failures() {
  const load = useLoad(path('/admin/jobs', { state: 'discarded', count: 'false', per_page: 6 }));
  return html`<${Loaded} load=${load}>${({ items }) => html`<${Table} label="Recent failures" rows=${items}
    keyOf=${(job) => job.id}
    empty="No job has been given up." columns=${[
      { name: 'Job', cell: (job) => html`<a href=${link(['jobs', job.id])} title=${job.id}>${short(job.type, 60)}
        </a>` },
      { name: 'Error', cell: (job) => html`<b>${job.error?.type ?? ''}</b> ${short(job.error?.message ?? '–', 90)}` },
      { name: 'When', cell: (job) => html`<${Time} at=${job.completed_at ?? job.error?.occurred_at} />` },
    ]} />${items.length ? html`<p><a href=${link(['errors'])}>All errors</a></p>` : null}`}<//>`;
}

function Summary({ data }) {
  const { summary, items } = data;
  if (!summary.total) return html`<${Empty}>No worker has sent a heartbeat lately.<//>`;
  const slots = items.reduce((sum, worker) => sum + (worker.concurrency ?? 0), 0);
  const busy = items.reduce((sum, worker) => sum + (worker.active_jobs ?? 0), 0);
  return html`<${Facts} rows=${[
    ['Running', count(summary.running)], ['Quiet', summary.quiet || null], ['Stale', summary.stale || null],
    ['Slots in use', slots ? `${count(busy)} of ${count(slots)}` : count(busy)],
  ]} /><p><a href=${link(['workers'])}>All workers</a></p>`;
}

/** What a server shows that has no admin API: what it is, how it is, its queues. */
function Basics() {
  const health = useLoad('/health');
  const queues = useLoad('/queues');
  const { implementation: made = {}, conformance_level: level, backend } = manifest.value ?? {};
  return html`<${View} title="Overview"><div class="panels">
    <${Panel} title="Server"><${Facts} rows=${[
      ['Name', made.name], ['Version', made.version], ['Level', level], ['Store', backend],
      ['State', health.data ? html`<${Badge} state=${health.data.status} />` : health.fault?.message],
    ]} /><p class="dim">The manifest of this server has no admin API: the page shows what every server has.</p><//>
    <${Panel} title="Queues"><${Loaded} load=${queues}>${({ queues: rows = [] }) => html`<${Table} label="Queues"
      rows=${rows.map((queue) => queue.name ?? queue)} keyOf=${(name) => name} empty="There are no queues yet."
      columns=${[{ name: 'Queue', cell: (name) => name }]} />`}<//><//></div><//>`;
}
