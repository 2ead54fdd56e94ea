// Jobs: found by state, queue, type, tenant and time; the address holds the filter.
import { html, signal, useEffect, useState } from '../html.js';
import { offers } from '../api.js';
import { go, path, refine, route } from '../url.js';
import { compact, short, Time } from '../format.js';
import { Action } from '../parts/act.js';
import { AllFound } from '../parts/all-found.js';
import { Choice } from '../parts/choice.js';
import { Loaded, useLoad } from '../parts/load.js';
import { Cursors } from '../parts/paging.js';
import { SearchField, STATES } from '../parts/search-field.js';
import { Selected } from '../parts/selected.js';
import { TextFilter } from '../parts/text-filter.js';
import { Badge, JobLink, Panel, QueueLink, Table, View } from '../parts/view.js';

const PER_PAGE = 50;
const ID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
const chosen = signal(new Set());

/** What the address asks for, as members of a filter. */
function filterOf({ q, state, queue, type, since, until }) {
  const given = Object.entries({ q: offers().own ? q : '', state, queue, type, since, until });
  return Object.fromEntries(given.filter(([, value]) => value));
}

/** The same as a request. */
function request(query) {
  const { tenant, order, after } = query;
  // Jobs are not counted: a count of many costs more than the page.
  const filter = { ...filterOf(query), order, cursor: after, count: 'false', per_page: PER_PAGE };
  return path(tenant ? `/admin/tenants/${encodeURIComponent(tenant)}/jobs` : '/admin/jobs', filter);
}

export function Jobs() {
  return offers().admin ? html`<${Found} />` : html`<${View} title="Jobs"><${ById} /><//>`;
}

/** Every server finds a job by its id. */
function ById() {
  const find = (event) => {
    event.preventDefault();
    go(['jobs', event.target.elements.id.value.trim()]);
  };
  return html`<form class="filters" role="search" onSubmit=${find}><label>Id of a job
      <input name="id" data-search type="search" required autocomplete="off" spellcheck="false" /></label>
    <button class="main">Open</button></form>
    <p class="dim">The manifest of this server has no admin API, so it does not list jobs.</p>`;
}

function Found() {
  const { query } = route.value;
  const load = useLoad(request(query));
  useEffect(() => { chosen.value = new Set(); }, [JSON.stringify(query)]);
  // An operation of an operator is not bound to one tenant.
  const all = offers().own && !query.tenant && load.data?.items.length ? html`<${AllFound}
    filter=${filterOf(query)} />` : null;
  return html`<${View} title="Jobs" tools=${all}><${Search} /><${Filters} query=${query} />
    <${Panel} title="Found">${offers().many ? html`<${Selected} selection=${chosen}
      label="Selected jobs">${many}<//>` : null}
      <${Loaded} load=${load}>${({ items, pagination }) => html`
      <${Table} label="Jobs" rows=${items} keyOf=${(job) => job.id} selection=${offers().many
        ? chosen : null} empty=${pagination?.complete ?? true
        ? 'No job is like this.' : 'None among the jobs that were searched.'}
        columns=${[
        { name: 'Job', cell: (job) => html`${short(job.type, 120)}<br /><${JobLink} id=${job.id} />` },
        { name: 'State', cell: (job) => html`<${Badge} state=${job.state} />` },
        { name: 'Queue', cell: (job) => html`<${QueueLink} name=${job.queue} />` },
        { name: 'Attempt', number: true, cell: (job) => attempts(job) },
        { name: 'Arguments', cell: (job) => html`<code>${short(compact(job.args), 60)}</code>` },
        { name: 'Enqueued', cell: (job) => html`<${Time} at=${job.enqueued_at ?? job.created_at} />` },
      ]} /><${Cursors} next=${pagination?.next_cursor} complete=${pagination?.complete} />`}
        <//><//><//>`;
}

/** Other servers say how often a job may run in its policy, or not at all. */
const attempts = ({ attempt, max_attempts: most }) => (most === undefined ? `${attempt ?? 0}`
  : `${attempt} of ${most}`);

/** One field for everything: an id opens the job, anything else is a search. */
function Search() {
  const [fault, setFault] = useState(null);
  const { own } = offers();
  const find = (event) => {
    event.preventDefault();
    const text = event.target.elements.q.value.trim();
    if (ID.test(text)) { go(['jobs', text.toLowerCase()]); return; }
    // Other servers know no searches, only some filters.
    const found = own ? { filter: {} } : read(text);
    setFault(found.fault ?? null);
    if (!found.fault) go(['jobs'], { ...route.value.query, after: '', q: text, ...found.filter });
  };
  return html`<form class="filters" role="search" onSubmit=${find}><${SearchField} value=${route.value.query.q ?? ''}
      describedBy="search-help" />
    <button class="main">Find</button><p id="search-help" class="dim help">${own ? html`An id, a text, or words such as
      <code>state:discarded</code> <code>args.0:42</code> <code>error:timeout</code> <code>since:2h</code>
      <code>-queue:low</code>` : 'An id, a type, or state: queue: type: tenant:'}</p>
    ${fault ? html`<div class="fault" role="alert"><p>${fault}</p></div>` : null}</form>`;
}

const WORDS = ['state', 'queue', 'type', 'tenant', 'since', 'until'];

/** The filter that a search means, or what is wrong with it: a misspelt word must not find everything. */
export function read(text) {
  const filter = {};
  for (const word of text.split(/\s+/).filter(Boolean)) {
    const [, name, value] = word.match(/^([a-z_]+):(.*)$/) ?? [null, 'type', word];
    if (!WORDS.includes(name)) return { fault: `'${name}:' is no word of the search. Use ${WORDS.join(', ')}.` };
    if (value === '') return { fault: `'${name}:' wants a value.` };
    if (filter[name] !== undefined) return { fault: `'${name}:' is there twice.` };
    if (name === 'state' && !STATES.includes(value)) {
      return { fault: `'${value}' is no state. Use ${STATES.join(', ')}.` };
    }
    filter[name] = value;
  }
  return { filter };
}

function Filters({ query }) {
  const start = { after: '' };
  const text = (name, label) => html`<${TextFilter} label=${label} name=${name} start=${start} />`;
  return html`<div class="filters" role="group" aria-label="Filters">
    <${Choice} label="State" name="state" values=${STATES} start=${start} />
    ${text('type', 'Type')}${text('queue', 'Queue')}${text('tenant', 'Tenant')}
    <label>Order<select onChange=${(event) => refine({ ...start, order: event.target.value })}>
      <option value="">newest first</option>
      <option value="asc" selected=${query.order === 'asc'}>oldest first</option></select></label></div>`;
}

const many = (bulk, jobs) => html`<${Action} label="Retry" ...${bulk('retry', 'retried')} />
  <${Action} label="Cancel" kind="bad" ...${bulk('cancel', 'cancelled')}
    confirm=${`${jobs} jobs will not run. This cannot be undone.`} />
  <${Action} label="Delete" right="administer" kind="bad" ...${bulk('delete', 'deleted')}
    confirm=${`${jobs} jobs are deleted for good.`} />
  <button type="button" onClick=${() => { chosen.value = new Set(); }}>Select none</button>`;
