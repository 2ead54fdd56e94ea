// Error groups: failures that differ only in ids, numbers and quoted text; from a group to its jobs.
import { html } from '../html.js';
import { post } from '../api.js';
import { link, path, route } from '../url.js';
import { count, short, Time } from '../format.js';
import { Action } from '../parts/act.js';
import { Choice } from '../parts/choice.js';
import { Loaded, useLoad } from '../parts/load.js';
import { pageOfAdmin, Paging } from '../parts/paging.js';
import { outcome } from '../parts/selected.js';
import { TextFilter } from '../parts/text-filter.js';
import { Badge, Facts, JobLink, Panel, QueueLink, Table, View } from '../parts/view.js';

const PER_PAGE = 50;
const FILTERS = [['error_type', 'Error type'], ['queue', 'Queue'], ['type', 'Job type'], ['tenant', 'Tenant']];
const ABSENT = 'This server puts no errors together.';

/** The filter of the address, without empty members. */
function filter() {
  const { query } = route.value;
  return Object.fromEntries(FILTERS.map(([name]) => [name, query[name]]).filter(([, value]) => value));
}

export function Errors() {
  const { sort } = route.value.query;
  const load = useLoad(path('/admin/errors', { ...filter(), sort, ...pageOfAdmin(PER_PAGE) }));
  return html`<${View} title="Errors"><${Filters} />
    <${Panel} title="Groups"><${Loaded} load=${load} absent=${ABSENT}>${({ items, pagination = {} }) => html`
    <${Table} label="Error groups" rows=${items} keyOf=${(group) => group.fingerprint}
      empty="No attempt has failed lately." columns=${[
      { name: 'Error', cell: (group) => html`<a href=${link(['errors', group.fingerprint], filter())}>
        ${short(group.error_type, 120)}</a><br />${short(group.message, 160)}` },
      { name: 'Failures', number: true, cell: (group) => count(group.count) },
      { name: 'Queues', cell: (group) => short(group.queues.join(', '), 120) },
      { name: 'Job types', cell: (group) => short(group.types.join(', '), 120) },
      { name: 'First', cell: (group) => html`<${Time} at=${group.first_seen_at} />` },
      { name: 'Last', cell: (group) => html`<${Time} at=${group.last_seen_at} />` },
    ]} /><${Paging} pagination=${pagination} />`}<//><//><//>`;
}

function Filters() {
  return html`<div class="filters" role="group" aria-label="Filters">${FILTERS.map(([name, label], n) => html`
    <${TextFilter} key=${name} label=${label} name=${name} search=${n === 0} />`)}
    <${Choice} label="Order" name="sort" values=${['count', 'first_seen_at']} any="last_seen_at" /></div>`;
}

export function ErrorGroup({ id }) {
  const load = useLoad(path(`/admin/errors/${encodeURIComponent(id)}`, filter()));
  const again = (load.data?.jobs ?? []).filter(({ state }) => ['discarded', 'retryable'].includes(state));
  const ids = again.map((job) => job.id);
  return html`<${View} title=${load.data ? `Error ${short(load.data.error_type, 80)}` : 'Error'} tools=${ids.length
    ? html`<${Action} label=${`Retry these ${count(ids.length)}`} kind="main"
      confirm=${`${count(ids.length)} jobs run again: of the newest ones of this group, those that have failed for good
        or wait for their next attempt.`}
      run=${() => post('/jobs/bulk/retry', { job_ids: ids })}
      done=${(answer) => outcome(answer, 'retried', ids.length)} />` : null}>
    <${Loaded} load=${load} absent="There is no such group: it may be older than a month.">${(group) => html`
      <div class="panels"><${Panel} title="Error"><p><b>${group.error_type}</b></p><pre tabindex="0" role="region"
        aria-label="Error message">${group.message}</pre><${Facts} rows=${[
        ['Failures', count(group.count)],
        ['First', html`<${Time} at=${group.first_seen_at} />`],
        ['Last', html`<${Time} at=${group.last_seen_at} />`],
        ['Fingerprint', html`<span class="id">${group.fingerprint}</span>`],
      ]} /><//>
      <${Panel} title="Where"><${Table} label="Queues and job types" rows=${group.places}
        keyOf=${(place) => `${place.queue} ${place.type}`} columns=${[
        { name: 'Queue', cell: (place) => html`<${QueueLink} name=${place.queue} />` },
        { name: 'Job type', cell: (place) => html`<a href=${link(['jobs'], { type: place.type })}>${place.type}</a>` },
        { name: 'Failures', number: true, cell: (place) => count(place.count) },
        { name: 'Last', cell: (place) => html`<${Time} at=${place.last_seen_at} />` },
      ]} /><//></div>
      <${Panel} title="Newest jobs"><${Table} label="Jobs of the group" rows=${group.jobs} keyOf=${(job) => job.id}
        empty="None of its jobs is left." columns=${[
        { name: 'Job', cell: (job) => html`<${JobLink} id=${job.id} />` },
        { name: 'Type', cell: (job) => short(job.type, 120) },
        { name: 'State', cell: (job) => html`<${Badge} state=${job.state} />` },
        { name: 'Queue', cell: (job) => html`<${QueueLink} name=${job.queue} />` },
        { name: 'Attempt', number: true, cell: (job) => `${job.attempt} of ${job.max_attempts}` },
      ]} /><//>`}<//><//>`;
}
