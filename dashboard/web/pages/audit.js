// What happened on the server, newest first: who did what to which job. And a check of what the store holds.
import { html, useState } from '../html.js';
import { get, may } from '../api.js';
import { path, refine, route } from '../url.js';
import { count, short, Time } from '../format.js';
import { Choice } from '../parts/choice.js';
import { Fault, Loaded, useLoad } from '../parts/load.js';
import { Badge, JobLink, Panel, Table, View } from '../parts/view.js';

const ACTORS = ['client', 'worker', 'system'];

export function Audit() {
  const { actor, cursor } = route.value.query;
  const load = useLoad(path('/history', { actor_type: actor, cursor, limit: 100 }));
  return html`<${View} title="Audit"><div class="filters"><${Choice} label="Who" name="actor" values=${ACTORS}
      any="anyone" start=${{ cursor: '' }} /></div>
    ${may('administer') ? html`<${Check} />` : null}
    <${Panel} title="What happened"><${Loaded} load=${load}>${({ events, next_cursor: next }) => html`
      <${Table} label="What happened" rows=${events} keyOf=${(event) => event.id}
        empty="Nothing was found in this part of the log." columns=${[
        { name: 'When', cell: (event) => html`<${Time} at=${event.timestamp} />` },
        { name: 'What', cell: (event) => html`${event.event_type}${event.data.to ? html`<br /><span class="dim">
          ${event.data.from ?? ''} → ${event.data.to}</span>` : null}` },
        { name: 'Job', cell: (event) => (event.job_id ? html`<${JobLink} id=${event.job_id} />` : '–') },
        { name: 'Who', cell: (event) => html`${event.actor.type}${event.actor.id ? html`<br /><span class="dim">
          ${short(event.actor.id, 60)}</span>` : null}` },
      ]} /><p class="buttons">${cursor ? html`<button type="button" onClick=${() =>
        refine({ cursor: '' })}>Newest</button>` : null}
        ${next ? html`<button type="button" onClick=${() => refine({ cursor: next })}>Older</button>` : null}</p>`}
          <//><//><//>`;
}

/** Compares the rows of the store with each other: only when asked for, because it reads all of them. */
function Check() {
  const [state, setState] = useState({});
  const check = async () => {
    setState({ busy: true });
    try { setState({ answer: await get('/admin/system/audit') }); } catch (fault) { setState({ fault }); }
  };
  const { answer } = state;
  return html`<${Panel} title="Check of the store"><p
    class="dim">Compares the rows with each other. It reads every job: on a large store that takes a while.</p>
    <p><button type="button" disabled=${state.busy} onClick=${check}>Check the store</button></p>
    <div role="status">${answer ? html`<p><${Badge} state=${answer.sound ? 'sound'
      : `${count(answer.total)} findings`} tone=${answer.sound ? 'good'
      : 'bad'} /> ${count(answer.jobs)} jobs compared</p>
      ${answer.findings.length ? html`<ul>${answer.findings.map((finding, n) => html`<li key=${n}>
        ${finding.message ?? JSON.stringify(finding)}</li>`)}</ul>` : null}` : null}</div>
    ${state.fault ? html`<${Fault} fault=${state.fault} />` : null}<//>`;
}
