// What every part of the page is made of. Strings in templates become text nodes, never markup.
import { h } from './vendor/preact.mjs';
import htm from './vendor/htm.mjs';

export const html = htm.bind(h);
export { render } from './vendor/preact.mjs';
export { useEffect, useMemo, useRef, useState } from './vendor/hooks.mjs';
export { signal, effect, batch } from './vendor/signals.mjs';
