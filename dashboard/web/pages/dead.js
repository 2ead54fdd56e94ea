// Dead letters: what was given up; retried or deleted, one or all that the filter finds.
import { html, signal, useEffect, useState } from '../html.js';
import { offers, post } from '../api.js';
import { path, refine, route } from '../url.js';
import { count, short, Time } from '../format.js';
import { Action } from '../parts/act.js';
import { begin, BEGUN } from '../parts/all-found.js';
import { Loaded, useLoad } from '../parts/load.js';
import { pageOfAdmin, pageOfAny, Paging } from '../parts/paging.js';
import { foretell, Preview } from '../parts/preview.js';
import { Selected } from '../parts/selected.js';
import { TextFilter } from '../parts/text-filter.js';
import { JobLink, Panel, QueueLink, Table, View } from '../parts/view.js';

const PER_PAGE = 50;
const chosen = signal(new Set());

/** The page of a list that the address names: the admin API counts pages, every server jobs. */
function listed(filter) {
  return offers().admin ? path('/admin/dead-letter', { ...filter, ...pageOfAdmin(PER_PAGE) })
    : path('/dead-letter', { ...filter, ...pageOfAny(PER_PAGE) });
}

export function Dead() {
  const { many, own } = offers();
  const { queue, type, error_type } = route.value.query;
  const filter = Object.fromEntries(Object.entries({ queue, type, error_type }).filter(([, value]) => value));
  const load = useLoad(listed(filter));
  const stats = useLoad('/dead-letter/stats');
  const [previewed, preview] = useState(null);
  useEffect(() => { chosen.value = new Set(); preview(null); }, [JSON.stringify(route.value.query)]);
  const { total = 0, total_relation: relation } = load.data?.pagination ?? {};
  const found = `${relation === 'gte' ? 'At least ' : ''}${count(total)}`;
  const all = Object.keys(filter).length ? 'that the filter finds' : 'of all queues';
  return html`<${View} title="Dead letters" tools=${total && own ? html`
      <button type="button" onClick=${() => preview(filter)}>Preview a retry</button>
      <${Action} label=${relation === 'gte' ? 'Retry all' : `Retry all ${found}`}
        confirm=${async () => `${found} dead letters ${all} start afresh.
          Those that the server refuses stay here. ${await foretell(filter)}`}
        run=${() => begin('retry', { ...filter, dead_letters: true })} done=${BEGUN} />
      <${Action} label=${relation === 'gte' ? 'Delete all' : `Delete all ${found}`} right="administer" kind="bad"
        confirm=${`${found} dead letters ${all} are deleted for good.`}
        run=${() => begin('delete', { ...filter, dead_letters: true })} done=${BEGUN} />` : null}>
    <${Filters} />
    ${previewed ? html`<${Preview} which=${previewed} onClose=${() => preview(null)} />` : null}
    <div class="panels"><${Groups} title="By error" name="error_type" groups=${stats.data?.by_error_type} /><${Groups}
      title="By queue" name="queue" groups=${stats.data?.by_queue} /></div>
    <${Panel} title="Found">${many ? html`<${Selected} selection=${chosen}
      label="Selected dead letters">${(...given) => html`${own ? html`<button type="button"
        onClick=${() => preview({ job_ids: [...chosen.value].join() })}>Preview selected</button>` : null}
      ${selected(...given)}`}<//>` : null}
      <${Loaded} load=${load}>${({ items, jobs = [], pagination = {} }) => html`
      <${Table} label="Dead letters" rows=${items ?? jobs} keyOf=${(job) => job.id} selection=${many
        ? chosen : null} empty="There are no dead letters." columns=${[
        { name: 'Job', cell: (job) => html`${short(job.type, 120)}<br /><${JobLink} id=${job.id} />` },
        { name: 'Queue', cell: (job) => html`<${QueueLink} name=${job.queue} />` },
        { name: 'Error', cell: (job) => html`<b>${job.error?.type ?? job.error?.code ?? ''}
          </b> ${short(job.error?.message ?? '–', 160)}` },
        { name: 'Attempts', number: true, cell: (job) => job.attempt },
        { name: 'Given up', cell: (job) => html`<${Time} at=${job.discarded_at ?? job.completed_at} />` },
        { name: 'Change', cell: (job) => html`<${Action} label="Retry" name=${`Retry ${job.id}`} run=${() =>
          post(`/dead-letter/${job.id}/retry`)} done="The job starts afresh." />` },
      ]} /><${Paging} pagination=${pagination} />`}<//><//><//>`;
}

function Filters() {
  return html`<div class="filters" role="group" aria-label="Filters">
    <${TextFilter} label="Error" name="error_type" search=${true} />
    <${TextFilter} label="Queue" name="queue" /><${TextFilter} label="Type" name="type" /></div>`;
}

/** How many there are of each, as filters. */
function Groups({ title, name, groups }) {
  const rows = Object.entries(groups ?? {}).toSorted((a, b) => b[1] - a[1]).slice(0, 10);
  if (!rows.length) return null;
  return html`<${Panel} title=${title}><${Table} label=${title} rows=${rows} keyOf=${([key]) => key} columns=${[
    { name: 'Name', cell: ([key]) => html`<button type="button" class="plain" onClick=${() => refine({ [name]: key,
      page: '', after: '' })}>${short(key, 120)}</button>` },
    { name: 'Jobs', number: true, cell: ([, jobs]) => count(jobs) },
  ]} /><//>`;
}

const selected = (bulk, jobs) => html`<${Action} label="Retry selected" ...${bulk('retry', 'retried')} />
  <${Action} label="Delete selected" right="administer" kind="bad" ...${bulk('delete', 'deleted')}
    confirm=${`${jobs} jobs are deleted for good.`} />`;
