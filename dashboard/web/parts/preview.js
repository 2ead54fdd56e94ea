// What would come of running dead letters again.
import { html } from '../html.js';
import { get } from '../api.js';
import { path } from '../url.js';
import { count, short } from '../format.js';
import { Loaded, useLoad } from './load.js';
import { Badge, JobLink, Panel, Table } from './view.js';

const ADDRESS = '/dead-letter/preview';
const TONE = { refused: 'bad', waits: 'warn', warning: 'warn' };

/** In one sentence. */
export function told(found) {
  const seen = found.complete ? '' : `Of the newest ${count(found.looked_at)}: `;
  const warned = found.with_warnings ? `, ${count(found.with_warnings)} with a warning` : '';
  return `${seen}${count(found.would_run)} would run, ${count(found.would_wait)} would wait, ${
    count(found.would_be_refused)} would be refused${warned}.`;
}

/** The same, read now; empty when the server does not say. */
export async function foretell(which) {
  try {
    return told(await get(path(ADDRESS, which)));
  } catch { return ''; }
}

/** The sentence, and a row for each reason. `which` is a filter, or `{job_ids}`. */
export function Preview({ which, onClose }) {
  const load = useLoad(path(ADDRESS, which));
  return html`<${Panel} title="If they ran again"><${Loaded} load=${load}
    absent="This server does not say what would come of it.">${(found) => html`<p>${told(found)}
    <button type="button" class="plain" onClick=${onClose}>Close</button></p>
    <${Table} label="Reasons" rows=${found.reasons} keyOf=${(reason) => `${reason.code} ${reason.message}`}
      empty="Nothing stands in the way." columns=${[
      { name: 'What happens', cell: (reason) => html`<${Badge} state=${reason.effect} tone=${TONE[reason.effect]} />` },
      { name: 'Jobs', number: true, cell: (reason) => count(reason.jobs) },
      { name: 'Why', cell: (reason) => html`${short(reason.message, 300)}${reason.command
        ? html`<br /><code>${reason.command}</code>` : null}` },
      { name: 'First job', cell: (reason) => html`<${JobLink} id=${reason.job_id} />` },
    ]} />`}<//><//>`;
}
