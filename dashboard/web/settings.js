// What a person has chosen, kept in this browser.
import { effect, signal } from './html.js';

function kept(name, fallback, allowed) {
  let value = fallback;
  try {
    value = localStorage.getItem(`ojs.${name}`) ?? fallback;
  } catch { /* Storage is switched off: choices last as long as the page. */ }
  const choice = signal(allowed.includes(value) ? value : fallback);
  effect(() => {
    const now = choice.value;
    try { localStorage.setItem(`ojs.${name}`, now); } catch { /* as above */ }
  });
  return choice;
}

/** `system`, `light` or `dark`. */
export const theme = kept('theme', 'system', ['system', 'light', 'dark']);
/** Every zone that this browser knows, by its name: `Pacific/Auckland`. */
export const zones = Intl.supportedValuesOf?.('timeZone') ?? [];
/** `local`, `utc`, or one of `zones`. */
export const zone = kept('zone', 'local', ['local', 'utc', ...zones]);
/** The zone of all times on the page, as `Intl` names it; unset for that of this computer. */
export function zoneName() {
  if (zone.value === 'local') return undefined;
  return zone.value === 'utc' ? 'UTC' : zone.value;
}

effect(() => { document.documentElement.dataset.theme = theme.value; });
