// What every part of the page is made of. Strings in templates become text nodes, never markup.
import { h, Fragment } from './vendor/preact.mjs';
import htm from './vendor/htm.mjs';

export const html = htm.bind(h);
export { Fragment };
export { render } from './vendor/preact.mjs';
export { useEffect, useLayoutEffect, useMemo, useRef, useState, useCallback } from './vendor/hooks.mjs';
export { signal, computed, effect, batch } from './vendor/signals.mjs';
