// Bulk operations on the rows of a list of jobs that are selected.
import { html } from '../html.js';
import { post } from '../api.js';
import { count } from '../format.js';

/**
 * How many rows are selected, and buttons: `children` gets `bulk(action, name)`, what an `Action` needs for one of the
 * bulk operations (`name` is its count in the answer), and the number of rows.
 */
export function Selected({ selection, label, children }) {
  const ids = [...selection.value];
  if (!ids.length) return null;
  const bulk = (action, name) => ({
    run: async () => {
      const answer = await post(`/jobs/bulk/${action}`, { job_ids: ids });
      selection.value = new Set();
      return answer;
    },
    done: (answer) => outcome(answer, name, ids.length),
  });
  return html`<p class="buttons" role="group" aria-label=${label}><span>${count(ids.length)} selected</span>
    ${children(bulk, ids.length)}</p>`;
}

/** What a bulk operation has done, and why not more. */
export function outcome(answer, name, asked) {
  const why = answer.items?.find((item) => item.error || item.reason);
  const reason = why ? `: ${why.error?.message ?? why.reason}` : '';
  const skipped = answer.skipped ? `, ${count(answer.skipped)} skipped${reason}` : '';
  return `${count(answer[name] ?? asked)} ${name}${skipped}.`;
}
