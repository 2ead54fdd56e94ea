// Cron entries: when they run, switched on and off.
import { html } from '../html.js';
import { offers, patch, post, remove } from '../api.js';
import { link, path } from '../url.js';
import { compact, count, short, Time } from '../format.js';
import { Action } from '../parts/act.js';
import { Loaded, useLoad } from '../parts/load.js';
import { pageOf, Paging } from '../parts/paging.js';
import { Badge, Panel, Table, View } from '../parts/view.js';

const PER_PAGE = 50;
const at = (name) => `/cron/${encodeURIComponent(name)}`;

export function Cron() {
  const load = useLoad(path('/cron', { limit: PER_PAGE, offset: (pageOf() - 1) * PER_PAGE }));
  return html`<${View} title="Cron"><${Panel} title="Entries"><${Loaded} load=${load}>${({ crons,
    pagination = {} }) => html`
    <${Table} label="Cron entries" rows=${crons} keyOf=${(cron) => cron.name} empty="There are no cron entries."
      columns=${[
      { name: 'Name', cell: (cron) => cron.name },
      { name: 'Expression', cell: (cron) => html`<code>${cron.expression}</code><br /><span class="dim">
        ${cron.timezone}</span>` },
      { name: 'Job', cell: (cron) => html`<a href=${link(['jobs'], { type: cron.type })}>${cron.type}</a><br /><code>
        ${short(compact(cron.args ?? []), 80)}</code>` },
      { name: 'State', cell: (cron) => html`<${Badge} state=${cron.enabled ? 'enabled' : 'disabled'}
        tone=${cron.enabled ? 'good' : 'warn'} />` },
      { name: 'Next run', cell: (cron) => (cron.enabled ? html`<${Time} at=${cron.next_run_at} />` : '–') },
      { name: 'Last run', cell: (cron) => html`<${Time} at=${cron.last_run_at} />` },
      { name: 'Runs', number: true, cell: (cron) => count(cron.run_count) },
      { name: 'Change', cell: (cron) => html`<span class="buttons">${offers().own ? html`<${Action} label="Run now"
          name=${`Run now: ${cron.name}`} run=${() => post(`${at(cron.name)}/run`)} done=${({ job }) =>
            `Job ${job.id} of ${cron.name} is enqueued.`} />` : null}
        <${Action} label=${cron.enabled ? 'Disable'
        : 'Enable'} name=${`${cron.enabled ? 'Disable' : 'Enable'} ${cron.name}`}
          run=${() => patch(at(cron.name), { enabled: !cron.enabled })} done=${`${cron.name} is ${cron.enabled
            ? 'disabled' : 'enabled'}.`} />
        <${Action} label="Delete" name=${`Delete ${cron.name}`} kind="bad"
          confirm=${`The entry ${cron.name} is deleted. Its jobs stay.`} run=${() => remove(at(cron.name))}
          done=${`${cron.name} is deleted.`} /></span>` },
    ]} /><${Paging} more=${pagination.has_more} total=${pagination.total} />`}<//><//><//>`;
}
