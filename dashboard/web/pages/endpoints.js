// Where the server sends requests itself: push endpoints get jobs, webhooks get events.
import { html } from '../html.js';
import { offers, patch, post } from '../api.js';
import { path } from '../url.js';
import { count, short, Time } from '../format.js';
import { Action } from '../parts/act.js';
import { Loaded, useLoad } from '../parts/load.js';
import { Badge, Panel, Table, View } from '../parts/view.js';

const pushAt = (id, rest = '') => `/push/endpoints/${encodeURIComponent(id)}${rest}`;
const hookAt = (id, rest = '') => `/webhooks/subscriptions/${encodeURIComponent(id)}${rest}`;

export function Endpoints() {
  const { own, push: pushed, webhooks } = offers();
  const pushes = useLoad(pushed ? '/push/endpoints?limit=100' : null);
  const hooks = useLoad(webhooks ? '/webhooks/subscriptions?limit=100' : null);
  const deliveries = useLoad(own ? path('/webhooks/deliveries', { limit: 20 }) : null);
  return html`<${View} title="Endpoints">
    ${pushed ? html`<${Panel} title="Push endpoints"><${Loaded} load=${pushes} absent="This server pushes no jobs.">
      ${({ endpoints }) => html`
      <${Table} label="Push endpoints" rows=${endpoints} keyOf=${(push) => push.id}
        empty="There are no push endpoints." columns=${[
        { name: 'Address', cell: (push) => html`${push.endpoint}<br /><span class="id dim">${push.id}</span>` },
        { name: 'State', cell: (push) => html`<${Badge} state=${push.status} tone=${push.status === 'active' ? 'good'
          : 'warn'} />` },
        { name: 'Job types', cell: (push) => push.job_types.join(', ') },
        { name: 'Failures in a row', number: true, cell: (push) => count(push.consecutive_failures) },
        { name: 'Last failure', cell: (push) => short(push.last_failure?.reason ?? '–', 120) },
        { name: 'Change', cell: (push) => html`<span class="buttons"><${Switch} at=${pushAt(push.id)}
          active=${push.active} name=${push.endpoint} />
          <${Action} label="Test" name=${`Test ${push.endpoint}`} run=${() => post(pushAt(push.id, '/test'))}
            done=${tested} /></span>` },
      ]} />`}<//><//>` : null}
    ${webhooks ? html`<${Panel} title="Webhooks"><${Loaded} load=${hooks} absent="This server has no webhooks.">
      ${({ subscriptions }) => html`
      <${Table} label="Webhooks" rows=${subscriptions} keyOf=${(hook) => hook.id} empty="There are no webhooks."
        columns=${[
        { name: 'Address', cell: (hook) => html`${hook.url}<br /><span class="id dim">${hook.id}</span>` },
        { name: 'State', cell: (hook) => html`<${Badge} state=${hook.active ? 'active' : 'paused'} tone=${hook.active
          ? 'good' : 'warn'} />` },
        { name: 'Events', cell: (hook) => hook.events.join(', ') },
        { name: 'Dropped', number: true, cell: (hook) => count(hook.dropped) },
        { name: 'Change', cell: (hook) => html`<span class="buttons"><${Switch} at=${hookAt(hook.id)}
          active=${hook.active} name=${hook.url} />
          <${Action} label="Test" name=${`Test ${hook.url}`} run=${() => post(hookAt(hook.id, '/test'))}
            done=${tested} /></span>` },
      ]} />`}<//><//>` : null}
    ${own ? html`<${Panel} title="Last deliveries"><${Loaded} load=${deliveries} absent="This server has no webhooks.">
      ${({ deliveries: rows }) => html`
      <${Table} label="Deliveries" rows=${rows} keyOf=${(row) => row.id} empty="Nothing has been delivered yet."
        columns=${[
        { name: 'Delivery', cell: (row) => html`<span class="id">${row.id}</span>` },
        { name: 'Event', cell: (row) => row.event_type },
        { name: 'State', cell: (row) => html`<${Badge} state=${row.status} tone=${{ delivered: 'good',
          dead: 'bad' }[row.status] ?? 'warn'} />` },
        { name: 'Attempts', number: true, cell: (row) => count(row.attempts) },
        { name: 'Created', cell: (row) => html`<${Time} at=${row.created_at} />` },
        { name: 'Change', cell: (row) => (row.status === 'dead' ? html`<${Action} label="Send again"
          name=${`Send again ${row.id}`}
          run=${() => post(`/webhooks/deliveries/${encodeURIComponent(row.id)}/retry`)} done="It is sent again." />`
            : '') },
      ]} />`}<//><//>` : null}<//>`;
}

function Switch({ at, active, name }) {
  return html`<${Action} label=${active ? 'Pause' : 'Resume'} name=${`${active ? 'Pause' : 'Resume'} ${name}`}
    run=${() => patch(at, { active: !active })} done=${`${name} is ${active ? 'paused' : 'active again'}.`} />`;
}

function tested({ success, status_code: status, error }) {
  if (success) return `The endpoint has taken it${status ? ` (${status})` : ''}.`;
  return `The endpoint has not taken it: ${error ?? status ?? 'no answer'}.`;
}
