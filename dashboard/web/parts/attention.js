// What an operator should look at first, from what the overview has read anyway.
import { html } from '../html.js';
import { link } from '../url.js';
import { count, span } from '../format.js';
import { isServed, slotsMissing } from './pressure.js';
import { Badge, Panel } from './view.js';

/** A queue that needs longer than this to become empty is named, milliseconds. */
const LONG_MS = 10 * 60_000;
/** Failed attempts a minute below which a share of them says nothing. */
const FEW_FAILURES = 5;
const SHOWN = 8;

/** One line for each thing: `{tone, text, to}`. The worst come first. */
export function findings({ stats, queues = [], workers, held, relays }) {
  const found = [];
  const add = (tone, text, to) => found.push({ tone, text, to });
  for (const queue of queues.filter(({ counts }) => counts.available)) {
    const to = link(['queues', queue.name]);
    const jobs = `${count(queue.counts.available)} ${queue.counts.available === 1 ? 'job waits' : 'jobs wait'}`;
    if (queue.paused) {
      add('warn', `Queue ${queue.name} is paused: ${jobs}.`, to);
    } else if (workers && !isServed(queue, workers.items)) {
      add('bad', `No worker asks for queue ${queue.name}: ${jobs}.`, to);
    } else {
      const { enqueued_per_minute: into, processed_per_minute: out } = queue.throughput;
      const drain = out > into ? (queue.counts.available / (out - into)) * 60_000 : Infinity;
      const missing = slotsMissing(queue);
      if (drain > LONG_MS && queue.counts.available > 5 * out && out > 0) {
        add('warn', `Queue ${queue.name} ${drain === Infinity ? 'grows' : `will be empty in ${span(drain)}`}: ${jobs}${
          missing ? `; about ${count(missing)} more ${missing === 1 ? 'slot' : 'slots'} would keep up` : ''}.`, to);
      }
    }
  }
  const { failed_per_minute: failed = 0, processed_per_minute: done = 0 } = stats?.throughput ?? {};
  if (failed >= FEW_FAILURES && failed > done / 4) {
    add('bad', `${Math.round((failed / (failed + done)) * 100)} % of the attempts fail: ${count(failed)} a minute.`,
      link(['errors']));
  }
  const stale = workers?.summary.stale;
  if (stale) {
    add('warn', `${count(stale)} ${stale === 1 ? 'worker has' : 'workers have'} sent no heartbeat lately.`,
      link(['workers'], { state: 'stale' }));
  }
  if (held) {
    add('warn', `${count(held)} ${held === 1 ? 'train is' : 'trains are'} held.`, link(['trains'], { state: 'held' }));
  }
  if (relays?.stuck) {
    const are = relays.stuck === 1 ? 'relay is' : 'relays are';
    add('bad', `${count(relays.stuck)} ${are} stuck: rows wait in the outbox.`,
      link(['outbox'], { state: 'stuck' }));
  }
  if (relays?.silent) {
    add('warn', `${count(relays.silent)} ${relays.silent === 1 ? 'relay has' : 'relays have'} sent no report lately.`,
      link(['outbox'], { state: 'silent' }));
  }
  return found.sort((a, b) => (a.tone === 'bad' ? 0 : 1) - (b.tone === 'bad' ? 0 : 1));
}

export function Attention(read) {
  const found = findings(read);
  return html`<${Panel} title="Needs attention">${found.length ? html`<ul class="findings">${found.slice(0, SHOWN)
    .map(({ tone, text, to }) => html`<li key=${text}><${Badge} state=${tone === 'bad' ? 'now' : 'look'} tone=${tone} />
      <a href=${to}>${text}</a></li>`)}
    ${found.length > SHOWN ? html`<li class="dim">and ${count(found.length - SHOWN)} more</li>` : null}</ul>`
    : html`<p><${Badge} state="nothing" tone="good" /> <span class="dim">Nothing on this page needs attention.
      <code>ojs doctor</code> looks at more: the store, clocks, settings.</span></p>`}<//>`;
}
