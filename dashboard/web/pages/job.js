// One job: why it is not running, what happened to it, what it carries, and what can be done.
import { html, useMemo } from '../html.js';
import { call, offers, origin, post } from '../api.js';
import { link } from '../url.js';
import { compact, pretty, span, Time } from '../format.js';
import { Action } from '../parts/act.js';
import { Arguments } from '../parts/arguments.js';
import { Attempts } from '../parts/attempts.js';
import { Copy, quoted } from '../parts/copy.js';
import { Failures } from '../parts/failure.js';
import { Loaded, useLoad } from '../parts/load.js';
import { Badge, Empty, Facts, Panel, QueueLink, View } from '../parts/view.js';

const ENDED = ['completed', 'cancelled', 'discarded'];

export function Job({ id }) {
  const { admin, own } = offers();
  const load = useLoad(`${admin ? '/admin' : ''}/jobs/${encodeURIComponent(id)}`);
  // The admin API answers with the job itself.
  const job = load.data?.job ?? load.data;
  const ended = job ? ENDED.includes(job.state) : true;
  const explain = useLoad(own && job && !ended ? `/jobs/${id}/explain` : null);
  const history = useLoad(own && job ? `/jobs/${id}/history?limit=200` : null);
  const result = useLoad(own && job?.state === 'completed' ? `/jobs/${id}/result` : null);
  return html`<${View} title=${job ? `Job ${job.type}` : 'Job'} tools=${job ? html`<${Actions} job=${job} />` : null}>
    <${Loaded} load=${load} absent="There is no such job: it may have been pruned.">${() => html`<div class="panels">
      ${ended || !own ? null : html`<${Panel}
        title=${job.state === 'active' ? 'It is running' : 'Why is it not running?'}>
        <${Loaded} load=${explain}>${(data) => html`<${Reasons} data=${data} own=${link(['jobs', id])} />`}<//><//>`}
      ${job.error ? html`<${Panel} title="Error"><${Failures} errors=${errorsOf(job)}
        fingerprint=${history.data?.attempts.findLast((attempt) => attempt.fingerprint)?.fingerprint} /><//>` : null}
      <${Panel} title="Job"><${Details} job=${job} /><//>
      ${own ? html`<${Panel} title="Attempts"><${Loaded} load=${history}>${(data) => html`<${Attempts}
        attempts=${data.attempts} />`}<//><//>` : null}
      <${Arguments} job=${job} />
      ${result.data ? html`<${Panel} title="Result"><pre tabindex="0" role="region" aria-label="Result as JSON">
        ${pretty(result.data.result)}</pre><//>` : null}
      ${Object.keys(job.meta ?? {}).length ? html`<${Panel} title="Metadata"><pre tabindex="0" role="region"
        aria-label="Metadata as JSON">${pretty(job.meta)}</pre><//>` : null}
      ${own ? html`<${Panel} title="Timeline"><${Loaded} load=${history}>${(data) => html`<${Timeline}
        events=${data.events} />`}<//><//>` : null}
    </div>`}<//><//>`;
}

/** What the server allows in this state. */
function Actions({ job }) {
  const { id, state } = job;
  const { activate, admin, dead, many } = offers();
  const again = admin ? `/admin/jobs/${id}/retry` : `/dead-letter/${id}/retry`;
  const curl = `curl -s ${quoted(`${origin}/ojs/v1/jobs/${id}`)}`;
  return html`${state === 'discarded' && (admin || dead) ? html`<${Action} label="Retry" kind="main" run=${() =>
    post(again)} done="The job starts afresh." />` : null}
    ${state === 'retryable' && many ? html`<${Action} label="Retry now" kind="main" run=${() => one('retry', id)}
      done="The job is available." />` : null}
    ${state === 'pending' && activate && !job.train && !job.workflow_id ? html`<${Action} label="Promote" kind="main"
      run=${() => post(`/jobs/${id}/activate`)} done="The job is available." />` : null}
    ${ENDED.includes(state) && many ? html`<${Action} label="Delete" right="administer" kind="bad"
      confirm="The job is deleted for good." run=${() => one('delete', id)} done="The job is deleted." />` : null}
    ${ENDED.includes(state) ? null : html`<${Action} label="Cancel" kind="bad"
      confirm="The job will not run. This cannot be undone." run=${() => call('DELETE', `/jobs/${id}`)}
      done="The job is cancelled." />`}
    <${Copy} label="Copy as CLI"
      text=${`ojs jobs enqueue ${quoted(job.type)} ${quoted(compact(job.args))} --queue ${quoted(job.queue)}`} />
    <${Copy} label="Copy as curl" text=${curl} />`;
}

/** A bulk operation on one job, whose refusal is thrown like any other. */
async function one(action, id) {
  const answer = await post(`/jobs/bulk/${action}`, { job_ids: [id] });
  const [item] = answer.items ?? [];
  if (item && !['retried', 'deleted', 'cancelled'].includes(item.status)) {
    throw Object.assign(new Error(item.error?.message ?? item.reason), { hint: item.error?.hint });
  }
}

function Details({ job }) {
  return html`<${Facts} rows=${[
    ['Id', html`<span class="id">${job.id}</span>`],
    ['State', html`<${Badge} state=${job.state} />`],
    ['Queue', html`<${QueueLink} name=${job.queue} />`],
    ['Type', html`<a href=${link(['jobs'], { type: job.type })}>${job.type}</a>`],
    ['Attempt', job.max_attempts === undefined ? job.attempt : `${job.attempt} of ${job.max_attempts}`],
    ['Priority', job.priority],
    ['Tenant', job.meta?.tenant_id ? html`<a href=${link(['jobs'], { tenant: job.meta.tenant_id })}>
      ${job.meta.tenant_id}</a>` : null],
    ['Train', job.train?.id ? html`<a href=${link(['trains', job.train.id])}>${job.train.id}</a>, ${job.train.role}`
      : null],
    ['Workflow', job.workflow_id ? html`<a class="id" href=${link(['workflows', job.workflow_id])}>${job.workflow_id}
      </a>` : null],
    ['Tags', job.tags?.join(', ')],
    ['Created', html`<${Time} at=${job.created_at} />`],
    ['Scheduled for', job.scheduled_at ? html`<${Time} at=${job.scheduled_at} />` : null],
    ['Next attempt', job.next_attempt_at ? html`<${Time} at=${job.next_attempt_at} />` : null],
    ['Started', job.started_at ? html`<${Time} at=${job.started_at} />` : null],
    ['Ended', ENDED.includes(job.state) ? html`<${Time}
      at=${job.completed_at ?? job.cancelled_at ?? job.discarded_at} />` : null],
  ]} />`;
}

/** The screen of what a path of the API names. */
function screenOf(path) {
  const [, kind, name] = path?.match(/^(?:\/ojs\/v1)?(?:\/admin)?\/(queues|jobs|trains|workflows|rate-limits|tenants|workers)\/([^/?]+)/) ?? [];
  if (!kind) return null;
  const own = decodeURIComponent(name);
  return { queues: link(['queues', own]), jobs: link(['jobs', own]), trains: link(['trains', own]),
    workflows: link(['workflows', own]),
    'rate-limits': link(['limits']), tenants: link(['tenants']), workers: link(['workers']) }[kind];
}

function Reasons({ data, own }) {
  const cause = (reason) => { const screen = screenOf(reason.link); return screen === own ? null : screen; };
  if (!data.reasons.length) return html`<p>${data.summary}</p>`;
  return html`<ol class="reasons">${data.reasons.map((reason) => html`<li key=${reason.code}><b>${reason.message}
    </b> <span class="dim">${reason.code}</span>
    ${reason.since ? html`<br />since <${Time} at=${reason.since} />` : null}${reason.until
      ? html`<br />until <${Time} at=${reason.until} />` : null}
    ${cause(reason) ? html`<br /><a href=${cause(reason)}>What holds it</a>` : null}
    ${reason.command ? html`<br /><code>${reason.command}</code> <${Copy} label="Copy" text=${reason.command} />`
      : null}</li>`)}</ol>`;
}

/** The errors of all attempts, the current one last. */
function errorsOf({ error, errors }) { return errors?.length ? errors : [error]; }

const NAMES = { 'job.created': 'enqueued', 'job.state_changed': 'state', 'job.attempt_started': 'attempt started' };

function Timeline({ events }) {
  const rows = useMemo(() => events.toReversed(), [events]);
  if (!rows.length) return html`<${Empty}>The server keeps no history of this job.<//>`;
  return html`<ul class="timeline">${rows.map((event) => html`<li key=${event.id}><${Time} at=${event.timestamp} />
    <br />
    <b>${NAMES[event.event_type] ?? event.event_type.replace(/^job\./, '').replaceAll('_', ' ')}</b> ${words(event)}
    ${event.actor?.id ? html` <span class="dim">by ${event.actor.type} ${event.actor.id}</span>` : null}</li>`)}</ul>`;
}

function words({ data }) {
  if (data.to) return data.from ? `${data.from} → ${data.to}` : data.to;
  const said = [data.attempt ? `attempt ${data.attempt}` : '', data.duration_ms !== undefined ? span(data.duration_ms)
    : '',
    data.error ? `${data.error.type ?? ''}: ${data.error.message ?? ''}` : ''];
  return said.filter(Boolean).join(', ');
}
