// Shortcuts. None fires while a person types.
import { signal } from './html.js';
import { offers } from './api.js';
import { go } from './url.js';
import { refresh } from './live.js';

/** Screens by their letter after `g`. */
export const SCREENS = [
  ['o', [], 'Overview'], ['q', ['queues'], 'Queues'], ['j', ['jobs'], 'Jobs'],
  ['y', ['types'], 'Job types'], ['r', ['errors'], 'Errors'], ['d', ['dead'], 'Dead letters'],
  ['w', ['workflows'], 'Workflows'], ['c', ['cron'], 'Cron'], ['h', ['workers'], 'Workers'], ['t', ['trains'],
    'Trains'],
  ['l', ['limits'], 'Limits'], ['n', ['tenants'], 'Tenants'], ['e', ['endpoints'], 'Endpoints'], ['a', ['audit'],
    'Audit'], ['x', ['outbox'], 'Outbox'], ['b', ['bulk'], 'Bulk operations'],
];

/** Those that the server offers. */
export const offered = () => SCREENS.filter(([, [name = '']]) => offers().screens.has(name));

export const help = () => [
  ...offered().map(([letter, , name]) => [`g ${letter}`, `go to ${name}`]),
  ['/', 'search'], ['j', 'next row'], ['k', 'row before'], ['Enter', 'open the row'], ['x', 'select the row'],
  ['u', 'read again'], ['?', 'this help'], ['Esc', 'close'],
];
export const helpShown = signal(false);
let awaited = false;

function typing(target) {
  return target.closest?.('input:not([type=checkbox]), textarea, select, dialog, [contenteditable]') !== null;
}

/** Moves the focus to the link of another row; the first one, when no row has it. */
function move(step) {
  const rows = [...document.querySelectorAll('main tr[data-row]')];
  const at = rows.indexOf(document.activeElement?.closest?.('tr[data-row]'));
  const next = at < 0 ? rows[0] : rows[Math.min(rows.length - 1, Math.max(0, at + step))];
  (next?.querySelector('a') ?? next?.querySelector('button, input'))?.focus();
}

const ACTIONS = {
  '/': () => {
    const field = document.querySelector('main [data-search]');
    if (field) field.focus(); else go(['jobs']);
  },
  '?': () => { helpShown.value = true; },
  j: () => move(1),
  k: () => move(-1),
  x: () => document.activeElement?.closest?.('tr[data-row]')?.querySelector('input[type=checkbox]')?.click(),
  u: refresh,
};

function press(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || typing(event.target)) return;
  if (awaited) {
    awaited = false;
    const screen = offered().find(([letter]) => letter === event.key);
    if (screen) { event.preventDefault(); go(screen[1]); }
    return;
  }
  if (event.key === 'g') { awaited = true; return; }
  const action = ACTIONS[event.key];
  if (action) { event.preventDefault(); action(); }
}

export function listen() { addEventListener('keydown', press); }
