// Workers: who runs what; quiet, stop, forget.
import { html } from '../html.js';
import { offers, post, remove } from '../api.js';
import { path, route } from '../url.js';
import { count, Time } from '../format.js';
import { Action } from '../parts/act.js';
import { Choice } from '../parts/choice.js';
import { Loaded, useLoad } from '../parts/load.js';
import { pageOfAdmin, Paging } from '../parts/paging.js';
import { Badge, Panel, QueueLink, Table, View } from '../parts/view.js';

const at = (id, rest = '') => `/admin/workers/${encodeURIComponent(id)}${rest}`;
const STATES = ['running', 'quiet', 'drain', 'terminate', 'stale', 'left'];

export function Workers() {
  const { state } = route.value.query;
  const load = useLoad(path('/admin/workers', { state, ...pageOfAdmin(50) }));
  return html`<${View} title="Workers"><div class="filters"><${Choice} label="State" name="state"
      values=${STATES} /></div>
    <${Panel} title="Known workers"><${Loaded} load=${load}>${({ items, pagination }) => html`
    <${Table} label="Workers" rows=${items} keyOf=${(worker) => worker.id}
      empty="No worker has sent a heartbeat lately." columns=${[
      { name: 'Worker', cell: (worker) => html`${worker.id}${worker.hostname ? html`<br /><span class="dim">
        ${worker.hostname}${worker.pid ? `, process ${worker.pid}` : ''}</span>` : null}` },
      { name: 'State', cell: (worker) => html`<${Badge} state=${worker.state} />${worker.directive ? html`<br /><span
        class="dim">asked to: ${worker.directive}</span>` : null}` },
      { name: 'Slots', number: true, cell: (worker) => `${count(worker.active_jobs)} of ${count(worker.concurrency)}` },
      { name: 'Queues', cell: (worker) => (worker.queues ?? []).map((name, n) => html`<span key=${name}>${n ? ', '
        : ''}<${QueueLink} name=${name} /></span>`) },
      { name: 'Version', cell: (worker) => worker.version ?? '–' },
      { name: 'Last heartbeat', cell: (worker) => html`<${Time} at=${worker.last_heartbeat_at} />` },
      { name: 'Change', cell: (worker) => html`<${Changes} worker=${worker} />` },
    ]} /><${Paging} pagination=${pagination} />`}<//><//><//>`;
}

function Changes({ worker: { id, state } }) {
  const { own } = offers();
  return html`<span class="buttons">
    ${state === 'quiet' ? null : html`<${Action} label="Quiet" name=${`Quiet ${id}`} run=${() => post(at(id,
      '/quiet'))} done=${`${id} fetches no more jobs from its next heartbeat on.`} />`}
    ${state === 'quiet' && own ? html`<${Action} label="Resume" name=${`Resume ${id}`}
      run=${() => post(at(id, '/resume'))} done=${`${id} fetches jobs again.`} />` : null}
    ${own ? html`<${Action} label="Stop" name=${`Stop ${id}`} kind="bad"
      confirm=${`${id} ends its jobs and stops.`} run=${() => post(at(id, '/terminate'))}
      done=${`${id} stops from its next heartbeat on.`} />` : null}
    ${state === 'stale' ? html`<${Action} label="Forget" name=${`Forget ${id}`} right="administer" kind="bad"
      confirm=${`The jobs of ${id} are handed out again.`} run=${() => remove(at(id))}
      done=${`${id} is forgotten.`} />` : null}</span>`;
}
