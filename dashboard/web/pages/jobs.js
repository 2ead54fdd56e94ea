// Jobs: found by state, queue, type, tenant and time; the address holds the filter.
import { html, signal, useEffect, useState } from '../html.js';
import { offers } from '../api.js';
import { go, path, refine, route } from '../url.js';
import { compact, short, Time } from '../format.js';
import { Action } from '../parts/act.js';
import { Choice } from '../parts/choice.js';
import { Loaded, useLoad } from '../parts/load.js';
import { Cursors } from '../parts/paging.js';
import { Selected } from '../parts/selected.js';
import { TextFilter } from '../parts/text-filter.js';
import { Badge, JobLink, Panel, QueueLink, Table, View } from '../parts/view.js';

const STATES = ['scheduled', 'available', 'pending', 'active', 'completed', 'retryable', 'cancelled', 'discarded'];
const PER_PAGE = 50;
const ID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
const chosen = signal(new Set());

/** What the address asks for, as a request. */
function request({ tenant, state, queue, type, since, until, order, after }) {
  // Jobs are not counted: a count of many costs more than the page.
  const filter = { state, queue, type, since, until, order, cursor: after, count: 'false', per_page: PER_PAGE };
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
  return html`<${View} title="Jobs"><${Search} /><${Filters} query=${query} />
    <${Panel} title="Found">${offers().many ? html`<${Selected} selection=${chosen}
      label="Selected jobs">${many}<//>` : null}
      <${Loaded} load=${load}>${({ items, pagination }) => html`
      <${Table} label="Jobs" rows=${items} keyOf=${(job) => job.id} selection=${offers().many
        ? chosen : null} empty=${pagination?.complete ?? true
        ? 'No job is like this.' : 'None among the jobs that were searched.'}
        columns=${[
        { name: 'Job', cell: (job) => html`<${JobLink} id=${job.id} />` },
        { name: 'Type', cell: (job) => short(job.type, 120) },
        { name: 'State', cell: (job) => html`<${Badge} state=${job.state} />` },
        { name: 'Queue', cell: (job) => html`<${QueueLink} name=${job.queue} />` },
        { name: 'Attempt', number: true, cell: (job) => attempts(job) },
        { name: 'Arguments', cell: (job) => html`<code>${short(compact(job.args), 80)}</code>` },
        { name: 'Enqueued', cell: (job) => html`<${Time} at=${job.enqueued_at ?? job.created_at} />` },
      ]} /><${Cursors} next=${pagination?.next_cursor} complete=${pagination?.complete} />`}
        <//><//><//>`;
}

/** Other servers say how often a job may run in its policy, or not at all. */
const attempts = ({ attempt, max_attempts: most }) => (most === undefined ? `${attempt ?? 0}`
  : `${attempt} of ${most}`);

/**
 * One field for everything: an id opens the job; `state:… queue:… type:… tenant:…` are filters, another text is a
 * type.
 */
function Search() {
  const [fault, setFault] = useState(null);
  const find = (event) => {
    event.preventDefault();
    const text = event.target.elements.q.value.trim();
    if (ID.test(text)) { go(['jobs', text.toLowerCase()]); return; }
    const found = read(text);
    setFault(found.fault ?? null);
    if (!found.fault) { refine({ state: '', queue: '', type: '', tenant: '', after: '', q: text, ...found.filter }); }
  };
  return html`<form class="filters" role="search" onSubmit=${find}><label>Search
      <input name="q" data-search type="search" value=${route.value.query.q ?? ''} aria-describedby="search-help"
        autocomplete="off" spellcheck="false" /></label>
    <button class="main">Find</button><span id="search-help"
      class="dim">an id, a type, or state: queue: type: tenant:</span>
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
  const start = { after: '', q: '' };
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
