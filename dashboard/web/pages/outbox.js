// Relays of outboxes: what they send, what waits, what holds them up.
import { html, useEffect } from '../html.js';
import { path, route } from '../url.js';
import { count, short, span, Time } from '../format.js';
import { refresh, wanted } from '../live.js';
import { Choice } from '../parts/choice.js';
import { Loaded, useLoad } from '../parts/load.js';
import { pageOfAdmin, Paging } from '../parts/paging.js';
import { Badge, Panel, Table, View } from '../parts/view.js';

const STATES = ['running', 'stuck', 'silent'];
const TONES = { running: 'good', stuck: 'bad', silent: 'warn' };
/** As often as relays report: no event tells of it. */
const PAUSE_MS = 5000;

export function Outbox() {
  const { state } = route.value.query;
  useEffect(() => {
    const timer = setInterval(() => { if (wanted.value && !document.hidden) refresh(); }, PAUSE_MS);
    return () => clearInterval(timer);
  }, []);
  const load = useLoad(path('/admin/relays', { state, ...pageOfAdmin(50) }));
  return html`<${View} title="Outbox"><div class="filters"><${Choice} label="State" name="state"
      values=${STATES} /></div>
    <${Panel} title="Relays"><${Loaded} load=${load}
      absent="This server lists no relays.">${({ items, pagination }) => html`
    <${Table} label="Relays" rows=${items} keyOf=${(relay) => `${relay.tenant_id ?? ''} ${relay.id}`}
      empty="No relay has reported lately. Relays report to the server that they send to." columns=${[
      { name: 'Relay', cell: (relay) => html`${relay.name || relay.id}<br /><span class="id dim">${relay.id}</span>` },
      { name: 'Outbox', cell: (relay) => html`${relay.outbox}<br /><span class="dim">${relay.database}${
        relay.tenant_id ? `, of ${relay.tenant_id}` : ''}</span>` },
      { name: 'State', cell: (relay) => html`<${Badge} state=${relay.state} tone=${TONES[relay.state]} />${relay.leading
        ? html`<br /><span class="dim">it is the one that sends</span>` : null}` },
      { name: 'Waiting', number: true, cell: (relay) => html`${count(relay.waiting)}${relay.waiting_relation === 'gte'
        ? '+' : ''}${relay.waiting ? html`<br /><span class="dim">oldest ${span(relay.oldest_waiting_ms)}</span>`
        : null}` },
      { name: 'Refused', number: true, cell: (relay) => count(relay.parked) },
      { name: 'Sent', number: true, cell: (relay) => html`${count(relay.sent)}<br /><span class="dim">${
        count(relay.sent_per_minute)} a minute</span>` },
      { name: 'Held up by', cell: (relay) => (relay.error ? short(relay.error, 160) : '–') },
      { name: 'Last heard', cell: (relay) => html`<${Time} at=${relay.last_heartbeat_at} />` },
    ]} /><${Paging} pagination=${pagination} />`}<//>
    <p class="dim">Refused rows stay in the outbox: <code>ojs relay parked</code> says why.</p><//><//>`;
}
