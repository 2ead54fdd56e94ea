// Cron entries: when they run, also over a change of the clock; switched on and off.
import { html } from '../html.js';
import { offers, patch, post, remove } from '../api.js';
import { link, path } from '../url.js';
import { clock, compact, count, short, Time } from '../format.js';
import { Action } from '../parts/act.js';
import { Loaded, useLoad } from '../parts/load.js';
import { pageOfAny, Paging } from '../parts/paging.js';
import { Badge, Facts, Panel, Table, View } from '../parts/view.js';

const PER_PAGE = 50;
const NEXT_RUNS = 10;
const at = (name) => `/cron/${encodeURIComponent(name)}`;

export function Cron() {
  const load = useLoad(path('/cron', pageOfAny(PER_PAGE)));
  return html`<${View} title="Cron"><${Panel} title="Entries"><${Loaded} load=${load}>${({ crons,
    pagination = {} }) => html`
    <${Table} label="Cron entries" rows=${crons} keyOf=${(cron) => cron.name} empty="There are no cron entries."
      columns=${[
      { name: 'Name', cell: (cron) => (offers().own ? html`<a href=${link(['cron', cron.name])}>${cron.name}</a>`
        : cron.name) },
      { name: 'Expression', cell: (cron) => html`<code>${cron.expression}</code><br /><span class="dim">
        ${cron.timezone}</span>` },
      { name: 'Job', cell: (cron) => html`<a href=${link(['jobs'], { type: cron.type })}>${cron.type}</a><br /><code>
        ${short(compact(cron.args ?? []), 80)}</code>` },
      { name: 'State', cell: (cron) => html`<${Enabled} cron=${cron} />` },
      { name: 'Next run', cell: (cron) => (cron.enabled ? html`<${Time} at=${cron.next_run_at} />` : '–') },
      { name: 'Last run', cell: (cron) => html`<${Time} at=${cron.last_run_at} />` },
      { name: 'Runs', number: true, cell: (cron) => count(cron.run_count) },
      { name: 'Change', cell: (cron) => html`<${Buttons} cron=${cron} />` },
    ]} /><${Paging} pagination=${pagination} />`}<//><//><//>`;
}

const Enabled = ({ cron: { enabled } }) => html`<${Badge} state=${enabled ? 'enabled' : 'disabled'}
  tone=${enabled ? 'good' : 'warn'} />`;

function Buttons({ cron: { name, enabled } }) {
  return html`<span class="buttons">${offers().own ? html`<${Action} label="Run now" name=${`Run now: ${name}`}
      run=${() => post(`${at(name)}/run`)} done=${({ job }) => `Job ${job.id} of ${name} is enqueued.`} />` : null}
    <${Action} label=${enabled ? 'Disable' : 'Enable'} name=${`${enabled ? 'Disable' : 'Enable'} ${name}`}
      run=${() => patch(at(name), { enabled: !enabled })} done=${`${name} is ${enabled ? 'disabled' : 'enabled'}.`} />
    <${Action} label="Delete" name=${`Delete ${name}`} kind="bad"
      confirm=${`The entry ${name} is deleted. Its jobs stay.`} run=${() => remove(at(name))}
      done=${`${name} is deleted.`} /></span>`;
}

/** How far a zone is from UTC at a time, as its clocks say it: `GMT+13`. */
function offset(ms, timeZone) {
  const parts = new Intl.DateTimeFormat('en', { timeZone, timeZoneName: 'shortOffset' }).formatToParts(ms);
  return parts.find(({ type }) => type === 'timeZoneName').value;
}

/** One entry: its next runs, by the clock of the page and by its own, with the changes of that clock. */
export function CronEntry({ id }) {
  const load = useLoad(`${at(id)}?next=${NEXT_RUNS}`);
  return html`<${View} title=${`Cron ${id}`} tools=${load.data ? html`<${Buttons} cron=${load.data.cron} />` : null}>
    <${Loaded} load=${load} absent="There is no such cron entry.">${({ cron, next_runs: runs = [] }) => html`
    <${Panel} title="Entry"><${Facts} rows=${[
      ['Expression', html`<code>${cron.expression}</code>`], ['Time zone', cron.timezone],
      ['State', html`<${Enabled} cron=${cron} />`],
      ['Job', html`<a href=${link(['jobs'], { type: cron.type })}>${cron.type}</a> <code>
        ${short(compact(cron.args ?? []), 200)}</code>`],
      ['Overlap', cron.overlap_policy],
      ['Last run', cron.last_run_at ? html`<${Time} at=${cron.last_run_at} />` : null],
      ['Runs', count(cron.run_count)], ['Description', cron.description],
    ]} /><//>
    <${Panel} title=${cron.enabled ? 'Next runs' : 'Next runs, if it were enabled'}><${Table} label="Next runs"
      rows=${runs} keyOf=${(run) => run} empty="It never runs again." columns=${[
      { name: 'When', cell: (run) => html`<${Time} at=${run} />` },
      { name: `In ${cron.timezone}`, cell: (run) => clock(Date.parse(run), cron.timezone) },
      { name: 'Clock', cell: (run) => {
        const before = runs[runs.indexOf(run) - 1] ?? run;
        const [now, last] = [run, before].map((one) => offset(Date.parse(one), cron.timezone));
        return now === last ? now : html`<${Badge} state=${`${last} → ${now}`} tone="warn" />`;
      } },
    ]} /><//>`}<//><//>`;
}
