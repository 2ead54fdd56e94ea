// Bulk operations on everything that a list finds, not only on the rows of one page.
import { html } from '../html.js';
import { post } from '../api.js';
import { go } from '../url.js';
import { count } from '../format.js';
import { Action } from './act.js';

export const BEGUN = 'The operation has begun.';

/** How many jobs an operation would change, in words; a refusal of the server is thrown. */
async function preview(action, filter) {
  const found = await post('/admin/bulk', { action, filter, dry_run: true });
  const how = { eq: '', about: 'about ', gte: 'at least ' }[found.relation] ?? '';
  const states = Object.entries(found.by_state).map(([state, jobs]) => `${count(jobs)} ${state}`).join(', ');
  const end = { retry: 'start afresh', cancel: 'will not run', delete: 'are deleted for good' }[action];
  const jobs = found.matched === 1 ? 'job' : 'jobs';
  const text = `${how}${count(found.matched)} ${jobs}${states ? ` (${states})` : ''} ${end}.`;
  if (!found.matched) throw new Error(`No job that is found can be changed: ${action} finds none.`);
  return text[0].toUpperCase() + text.slice(1);
}

/** Begins the operation: the server goes on by itself, and its screen shows how far it is. */
export async function begin(action, filter) {
  const operation = await post('/admin/bulk', { action, filter, confirm: true });
  go(['bulk', operation.id]);
  return operation;
}

/** Buttons for what a filter finds; none for a filter that names nothing, which would mean all jobs. */
export function AllFound({ filter }) {
  if (!Object.keys(filter).length) return null;
  const button = (action, label, more = {}) => html`<${Action} label=${label} name=${`${label} that are found`}
    confirm=${() => preview(action, filter)} run=${() => begin(action, filter)} done=${BEGUN} ...${more} />`;
  return html`<span class="buttons" role="group" aria-label="All that are found">
    ${button('retry', 'Retry all')}${button('cancel', 'Cancel all', { kind: 'bad' })}
    ${button('delete', 'Delete all', { kind: 'bad', right: 'administer' })}</span>`;
}
