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
/** `local` or `utc`. */
export const zone = kept('zone', 'local', ['local', 'utc']);

effect(() => { document.documentElement.dataset.theme = theme.value; });
