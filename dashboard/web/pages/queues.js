// Queues: how full, how fast; pause, resume.
import { html } from '../html.js';
import { link, path } from '../url.js';
import { post } from '../api.js';
import { count, span, Time } from '../format.js';
import { Action } from '../parts/act.js';
import { Copy, quoted } from '../parts/copy.js';
import { Loaded, useLoad } from '../parts/load.js';
import { pageOfAdmin, Paging } from '../parts/paging.js';
import { Badge, Facts, Panel, QueueLink, Table, View } from '../parts/view.js';
import { pressure } from '../parts/pressure.js';
import { Rates } from '../parts/rates.js';

const PER_PAGE = 50;
const at = (name, rest = '') => `/admin/queues/${encodeURIComponent(name)}${rest}`;

export function Queues() {
  const load = useLoad(path('/admin/queues', pageOfAdmin(PER_PAGE)));
  const workers = useLoad('/admin/workers?per_page=100');
  return html`<${View} title="Queues"><${Panel} title="All queues"><${Loaded} load=${load}>${({ items,
    pagination = {} }) => html`
    <${Table} label="Queues" rows=${items} keyOf=${(queue) => queue.name}
      empty="There are no queues yet: the first job makes one." columns=${[
      { name: 'Queue', cell: (queue) => html`<${QueueLink} name=${queue.name} />` },
      { name: 'Waiting', number: true, cell: (queue) => count(queue.counts.available) },
      { name: 'Running', number: true, cell: (queue) => count(queue.counts.active) },
      { name: 'Later', number: true, cell: (queue) =>
        count(later(queue.counts)) },
      { name: 'In / out a minute', number: true, cell: ({ throughput: pace }) =>
        `${count(pace.enqueued_per_minute)} / ${count(pace.processed_per_minute)}` },
      { name: 'Wait p95', number: true, cell: (queue) => span(queue.wait_ms?.p95) },
      { name: 'State', cell: (queue) => html`<${Badge} ...${pressure(queue, workers.data?.items)} />` },
      { name: 'Change', cell: (queue) => html`<${Switch} queue=${queue} />` },
    ]} /><${Paging} pagination=${pagination} />`}<//><//><//>`;
}

/** Jobs that wait for their time; other servers count no pending ones. */
const later = ({ scheduled = 0, retryable = 0, pending = 0 }) => scheduled + retryable + pending;

/** Pause, or resume. */
function Switch({ queue }) {
  return queue.paused
    ? html`<${Action} label="Resume" name=${`Resume ${queue.name}`} run=${() => post(at(queue.name, '/resume'))}
      done=${`Queue ${queue.name} runs again.`} />`
    : html`<${Action} label="Pause" name=${`Pause ${queue.name}`} run=${() => post(at(queue.name, '/pause'))}
      done=${`Queue ${queue.name} is paused.`} />`;
}

export function Queue({ id: name }) {
  const load = useLoad(at(name));
  const workers = useLoad('/admin/workers?per_page=100');
  return html`<${View} title=${`Queue ${name}`} tools=${load.data ? html`<${Switch} queue=${load.data} />
      <${Copy} label="Copy as CLI" text=${`ojs queues ${load.data.paused ? 'resume' : 'pause'} ${quoted(name)}`} />`
        : null}>
    <${Loaded} load=${load} absent="There is no such queue.">${(queue) => html`<div class="panels">
      <${Panel} title="Now"><p><${Badge} ...${pressure(queue, workers.data?.items)} /></p><${Facts} rows=${[
        ...Object.entries(queue.counts).map(([state, jobs]) => [state, html`<a href=${link(['jobs'], { queue: name,
          state })}>${count(jobs)}</a>`]),
        ['Oldest waiting', queue.oldest_available_at ? html`<${Time} at=${queue.oldest_available_at} />` : null],
        ['Since', html`<${Time} at=${queue.created_at} />`],
      ]} /><//>
      <${Panel} title="Pace"><${Facts} rows=${[
        ['In', `${count(queue.throughput.enqueued_per_minute)} a minute`],
        ['Out', `${count(queue.throughput.processed_per_minute)} a minute`],
        ['Failed', `${count(queue.throughput.failed_per_minute)} a minute`],
        ['Wait p50 / p95', `${span(queue.wait_ms?.p50)} / ${span(queue.wait_ms?.p95)}`],
        ['Run p50 / p95', `${span(queue.latency_ms?.p50)} / ${span(queue.latency_ms?.p95)}`],
      ]} /><${Rates} queue=${name} /><//>
      <${Panel} title="Configuration"><pre tabindex="0" role="region" aria-label="Configuration">
        ${JSON.stringify(queue.configuration ?? {}, null, 2)}</pre><//>
    </div>`}<//><//>`;
}
