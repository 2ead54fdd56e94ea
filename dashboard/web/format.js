// How times, spans, counts and JSON are written.
import { html, signal } from './html.js';
import { zoneName } from './settings.js';

/** The time, every ten seconds: what says `5 s ago` is written again. */
const now = signal(Date.now());
setInterval(() => { if (!document.hidden) now.value = Date.now(); }, 10_000);

const counts = new Intl.NumberFormat('en');
const formats = new Map();

function format(name) {
  if (!formats.has(name)) {
    formats.set(name, new Intl.DateTimeFormat('en-GB', {
      year: 'numeric', month: '2-digit', day: '2-digit', hour: '2-digit', minute: '2-digit', second: '2-digit',
      timeZone: name,
    }));
  }
  return formats.get(name);
}

/** Milliseconds as a date and time of the chosen zone, or of another one: `2026-11-23 14:05:09`. */
export function clock(ms, name = zoneName()) {
  const part = Object.fromEntries(format(name).formatToParts(ms).map(({ type, value }) => [type, value]));
  return `${part.year}-${part.month}-${part.day} ${part.hour}:${part.minute}:${part.second}`;
}

/** A point in time, as ISO 8601 text: when, and how long before or after now. */
export function Time({ at, relative = true }) {
  const ms = Date.parse(at ?? '');
  if (Number.isNaN(ms)) return '–';
  const utc = new Date(ms).toISOString();
  return html`<time datetime=${utc} title=${utc}><span class="when">${clock(ms)}</span>${relative ? html` <span
    class="dim">${ago(ms)}</span>` : null}</time>`;
}

/** How long before or after now. */
function ago(ms) {
  // Read, so that the text is written again; the clock itself is exact.
  const distance = Math.max(now.value, Date.now()) - ms;
  if (Math.abs(distance) < 1000) return 'now';
  return distance > 0 ? `${span(distance)} ago` : `in ${span(-distance)}`;
}

const UNITS = [['d', 86_400_000], ['h', 3_600_000], ['min', 60_000], ['s', 1000]];

/** A duration in ms, in two units at most: `1 h 5 min`. */
export function span(ms) {
  if (ms === null || ms === undefined || Number.isNaN(Number(ms))) return '–';
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 10_000) return `${(ms / 1000).toFixed(1)} s`;
  const first = UNITS.findIndex(([, size]) => ms >= size);
  const [name, size] = UNITS[first];
  const whole = Math.floor(ms / size);
  const next = UNITS[first + 1];
  const rest = next ? Math.floor((ms - whole * size) / next[1]) : 0;
  return rest ? `${whole} ${name} ${rest} ${next[0]}` : `${whole} ${name}`;
}

/** A whole number with separators. */
export function count(value) {
  return value === null || value === undefined ? '–' : counts.format(value);
}

/** A number of JSON that a JavaScript number would change, as it came. */
class Exact {
  constructor(text) { this.text = text; }
}

/** JSON that keeps numbers which JavaScript cannot hold. */
export function exact(text) {
  return JSON.parse(text, (_, value, context) => {
    const source = context?.source;
    const changed = typeof value === 'number' && source !== undefined && /^-?\d+$/.test(source)
      && !Number.isSafeInteger(value);
    return changed ? new Exact(source) : value;
  });
}

/** JSON for people: indented, short lists on one line. */
export function pretty(value, indent = '') {
  if (value instanceof Exact) return value.text;
  if (value === null || typeof value !== 'object') return JSON.stringify(value) ?? 'null';
  const inner = `${indent}  `;
  const parts = Array.isArray(value)
    ? value.map((item) => pretty(item, inner))
    : Object.entries(value).map(([name, item]) => `${JSON.stringify(name)}: ${pretty(item, inner)}`);
  const [open, close] = Array.isArray(value) ? '[]' : '{}';
  const line = `${open}${parts.join(', ')}${close}`;
  if (line.length <= 72 && !line.includes('\n')) return line;
  return `${open}\n${parts.map((part) => inner + part).join(',\n')}\n${indent}${close}`;
}

/** The same on one line, as a command wants it. */
export function compact(value) {
  if (value instanceof Exact) return value.text;
  if (value === null || typeof value !== 'object') return JSON.stringify(value) ?? 'null';
  if (Array.isArray(value)) return `[${value.map(compact).join(',')}]`;
  return `{${Object.entries(value).map(([name, item]) => `${JSON.stringify(name)}:${compact(item)}`).join(',')}}`;
}

/** The beginning of a long text. */
export function short(text, most = 80) {
  const whole = String(text);
  return whole.length > most ? `${whole.slice(0, most - 1)}…` : whole;
}
