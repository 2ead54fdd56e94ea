// Job trains: what leads, who waits; hold, go on.
import { html } from '../html.js';
import { post } from '../api.js';
import { link, path, route } from '../url.js';
import { count } from '../format.js';
import { Action } from '../parts/act.js';
import { Choice } from '../parts/choice.js';
import { Copy, quoted } from '../parts/copy.js';
import { Loaded, useLoad } from '../parts/load.js';
import { pageOfAdmin, Paging } from '../parts/paging.js';
import { Badge, Facts, JobLink, Panel, Table, View } from '../parts/view.js';

const STATES = ['running', 'draining', 'held'];

export function Trains() {
  const { state } = route.value.query;
  const load = useLoad(path('/admin/trains', { state, ...pageOfAdmin(50) }));
  return html`<${View} title="Trains"><div class="filters"><${Choice} label="State" name="state"
      values=${STATES} /></div>
    <${Panel} title="Trains with jobs"><${Loaded} load=${load}>${({ items, pagination }) => html`
    <${Table} label="Trains" rows=${items} keyOf=${(train) => train.id} empty="No train has jobs." columns=${[
      { name: 'Train', cell: (train) => html`<a href=${link(['trains', train.id])}>${train.id}</a>` },
      { name: 'State', cell: (train) => html`<${Badge} state=${train.state} />` },
      { name: 'Jobs', number: true, cell: (train) => count(train.length) },
      { name: 'Leads', cell: (train) => (train.locomotive ? html`<${JobLink} id=${train.locomotive} />` : '–') },
      { name: 'Change', cell: (train) => html`<${Switch} train=${train} />` },
    ]} /><${Paging} pagination=${pagination} />`}<//><//><//>`;
}

function Switch({ train: { id, state, locomotive } }) {
  const at = `/trains/${encodeURIComponent(id)}`;
  // The job that is shown, and no other, may leave the train.
  const advance = () => post(`${at}/advance`, { confirm: true, job_id: locomotive });
  return state === 'held'
    ? html`<${Action} label="Advance" name=${`Advance ${id}`} run=${advance} done=${`Train ${id} goes on.`}
        confirm="A job that has ended and holds the train leaves it, and the next one may run." />`
    : html`<${Action} label="Hold" name=${`Hold ${id}`} run=${() => post(`${at}/hold`)}
        done=${`Train ${id} is held.`} />`;
}

export function Train({ id }) {
  const load = useLoad(`/trains/${encodeURIComponent(id)}?limit=100`);
  return html`<${View} title=${`Train ${id}`} tools=${load.data ? html`<${Switch} train=${load.data} />
      <${Copy} label="Copy as CLI" text=${`ojs trains show ${quoted(id)}`} />` : null}>
    <${Loaded} load=${load} absent="No job is in such a train.">${(train) => html`
    <${Panel} title="Now"><${Facts} rows=${[
      ['State', html`<${Badge} state=${train.state} />`], ['Jobs', count(train.length)],
      ['Leads', train.locomotive ? html`<${JobLink} id=${train.locomotive} />` : null],
    ]} /><//>
    <${Panel} title="Jobs in their order"><${Table} label="Jobs of the train" rows=${train.cars} keyOf=${(car) =>
      car.job_id} columns=${[
      { name: 'Position', number: true, cell: (car) => car.position },
      { name: 'Job', cell: (car) => html`<${JobLink} id=${car.job_id} />` },
      { name: 'State', cell: (car) => html`<${Badge} state=${car.state} />` },
    ]} /><//>`}<//><//>`;
}
