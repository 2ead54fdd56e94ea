// Bulk operations: how far each is, what it could not change and why; paused, resumed, cancelled.
import { html } from '../html.js';
import { post } from '../api.js';
import { link, path, route } from '../url.js';
import { compact, count, short, Time } from '../format.js';
import { Action } from '../parts/act.js';
import { Choice } from '../parts/choice.js';
import { Loaded, useLoad } from '../parts/load.js';
import { Cursors } from '../parts/paging.js';
import { Badge, Facts, JobLink, Panel, Table, View } from '../parts/view.js';

const STATES = ['running', 'paused', 'completed', 'cancelled', 'failed'];
const PER_PAGE = 50;
const at = (id) => `/admin/bulk/${id}`;

export function Operations() {
  const { state, after } = route.value.query;
  const load = useLoad(path('/admin/bulk', { state, cursor: after, per_page: PER_PAGE }));
  return html`<${View} title="Bulk operations"><div class="filters" role="group" aria-label="Filters">
      <${Choice} label="State" name="state" values=${STATES} start=${{ after: '' }} /></div>
    <${Panel} title="Operations"><${Loaded} load=${load}>${({ items, pagination }) => html`
    <${Table} label="Bulk operations" rows=${items} keyOf=${(operation) => operation.id}
      empty="No change of many jobs has been asked for." columns=${[
      { name: 'Operation', cell: (operation) => html`<a href=${link(['bulk', operation.id])}>${operation.action}
        </a><br /><code>${short(compact(operation.filter), 80)}</code>` },
      { name: 'State', cell: (operation) => html`<${Badge} state=${operation.state} />` },
      { name: 'Progress', cell: (operation) => html`<${Progress} operation=${operation} />` },
      { name: 'Refused', number: true, cell: (operation) => count(operation.counts.refused) },
      { name: 'Began', cell: (operation) => html`<${Time} at=${operation.created_at} />` },
      { name: 'By', cell: (operation) => operation.created_by ?? '–' },
      { name: 'Change', cell: (operation) => html`<${Buttons} operation=${operation} />` },
    ]} /><${Cursors} next=${pagination.next_cursor} complete />`}<//><//><//>`;
}

export function Operation({ id }) {
  const load = useLoad(at(id));
  return html`<${View} title="Bulk operation"><${Loaded} load=${load} absent="There is no such operation.">
    ${(operation) => html`<${Panel} title="Now"><${Facts} rows=${[
      ['Action', operation.action], ['State', html`<${Badge} state=${operation.state} />`],
      ['Progress', html`<${Progress} operation=${operation} />`],
      ['Filter', html`<code>${compact(operation.filter)}</code>`],
      ['Reason', operation.reason], ['Tenant', operation.tenant_id], ['By', operation.created_by],
      ['Began', html`<${Time} at=${operation.created_at} />`],
      ['Ended', operation.finished_at && html`<${Time} at=${operation.finished_at} />`],
      ['Error', operation.error],
    ]} /><p><${Buttons} operation=${operation} /></p><//>
    <${Panel} title="Refused"><${Table} label="Refused jobs by reason" rows=${operation.refusals}
      keyOf=${({ reason }) => reason} empty="No job was refused." columns=${[
      { name: 'Reason', cell: ({ reason }) => reason },
      { name: 'Jobs', number: true, cell: (refusal) => count(refusal.count) },
      { name: 'First', cell: ({ job_id }) => html`<${JobLink} id=${job_id} />` },
      { name: 'Message', cell: ({ message }) => short(message, 200) },
    ]} /><//>`}<//><//>`;
}

/** How far an operation is: a bar, where it is known how many jobs there are, and the number. */
function Progress({ operation: { id, counts, progress } }) {
  const { fraction, expected, relation } = progress;
  const of = { eq: ` of ${count(expected)}`, about: ` of about ${count(expected)}` }[relation] ?? '';
  return html`${fraction === null ? null : html`<progress max="1" value=${fraction}
    aria-label=${`Progress of ${id}`}></progress><br />`}${count(counts.seen)}${of}`;
}

function Buttons({ operation: { id, state, action } }) {
  const say = (word) => () => post(`${at(id)}/${word}`);
  const right = action === 'delete' ? 'administer' : 'operate';
  return html`<span class="buttons">
    ${state === 'running' ? html`<${Action} label="Pause" name=${`Pause ${id}`} run=${say('pause')}
      done="The operation is paused." />` : null}
    ${['paused', 'failed'].includes(state) ? html`<${Action} label="Resume" name=${`Resume ${id}`} right=${right}
      run=${say('resume')} done="The operation goes on." />` : null}
    ${['running', 'paused', 'failed'].includes(state) ? html`<${Action} label="Cancel" name=${`Cancel ${id}`}
      kind="bad" confirm="Jobs that it has changed stay changed." run=${say('cancel')}
      done="The operation is cancelled." />` : null}</span>`;
}
