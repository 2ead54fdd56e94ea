// Workflows, and one with the graph of its steps.
import { html } from '../html.js';
import { call } from '../api.js';
import { link, path, route } from '../url.js';
import { Time } from '../format.js';
import { Action } from '../parts/act.js';
import { Choice } from '../parts/choice.js';
import { Copy } from '../parts/copy.js';
import { Graph } from '../parts/graph.js';
import { Loaded, useLoad } from '../parts/load.js';
import { pageOfAdmin, Paging } from '../parts/paging.js';
import { Badge, Facts, JobLink, Panel, Table, View } from '../parts/view.js';

const STATES = ['pending', 'running', 'completed', 'failed', 'cancelled'];

export function Workflows() {
  const { state } = route.value.query;
  const load = useLoad(path('/admin/workflows', { state, ...pageOfAdmin(50) }));
  return html`<${View} title="Workflows"><div class="filters"><${Choice} label="State" name="state"
      values=${STATES} /></div>
    <${Panel} title="All workflows"><${Loaded} load=${load}>${({ items, pagination }) => html`
    <${Table} label="Workflows" rows=${items} keyOf=${(flow) => flow.id} empty="There are no workflows." columns=${[
      { name: 'Workflow', cell: (flow) => html`${flow.name ?? ''}<br /><a class="id" href=${link(['workflows',
        flow.id])}>${flow.id}</a>` },
      { name: 'Kind', cell: (flow) => flow.type },
      { name: 'State', cell: (flow) => html`<${Badge} state=${flow.state} />` },
      { name: 'Steps', number: true, cell: (flow) => `${flow.steps_completed} of ${flow.steps_total}` },
      { name: 'Created', cell: (flow) => html`<${Time} at=${flow.created_at} />` },
    ]} /><${Paging} pagination=${pagination} />`}<//><//><//>`;
}

export function Workflow({ id }) {
  const load = useLoad(`/workflows/${encodeURIComponent(id)}`);
  const flow = load.data?.workflow;
  const open = ['pending', 'running'].includes(flow?.state);
  return html`<${View} title=${flow ? `Workflow ${flow.name ?? flow.type}` : 'Workflow'} tools=${flow ? html`
      ${open ? html`<${Action} label="Cancel" kind="bad" confirm="Its jobs that have not ended are cancelled."
        run=${() => call('DELETE', `/workflows/${id}`)} done="The workflow is cancelled." />` : null}
      <${Copy} label="Copy as CLI" text=${`ojs workflows get ${id}`} />` : null}>
    <${Loaded} load=${load} absent="There is no such workflow.">${() => html`<${Panel} title="Workflow"><${Facts}
      rows=${[
        ['Id', html`<span class="id">${flow.id}</span>`], ['Kind', flow.type], ['State', html`<${Badge}
          state=${flow.state} />`],
        ['Steps', `${flow.steps_completed} of ${flow.steps_total} completed`], ['Created', html`<${Time}
          at=${flow.created_at} />`],
        ['Ended', flow.completed_at ? html`<${Time} at=${flow.completed_at} />` : null],
      ]} /><//>
      <${Panel} title="Graph"><${Graph} flow=${flow} /><//>
      <${Panel} title="Steps"><${Table} label="Steps" rows=${flow.steps ?? []} keyOf=${(step) => String(step.index)}
        columns=${[
        { name: 'Step', number: true, cell: (step) => step.index + 1 },
        { name: 'Type', cell: (step) => step.name ?? step.type },
        { name: 'State', cell: (step) => html`<${Badge} state=${step.state} />` },
        { name: 'Job', cell: (step) => (step.job_id ? html`<${JobLink} id=${step.job_id} />`
          : step.workflow_id ? html`<a class="id" href=${link(['workflows', step.workflow_id])}>${step.workflow_id}
            </a>` : '–') },
        { name: 'Ended', cell: (step) => html`<${Time} at=${step.completed_at} />` },
      ]} /><//>`}<//><//>`;
}
