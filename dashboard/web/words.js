// Which words of a text are new, and which are gone. Without imports: its tests run without a browser.

/** Words that are compared; what stands behind them is one change as a whole. */
const MOST = 1000;

function split(text) { return text.match(/[\p{L}\p{N}_]+|\s+|[^\p{L}\p{N}_\s]/gu) ?? []; }

/**
 * The parts of two texts, in order: `{kind, text}` where `kind` is `same`, `gone` (only in the first) or `new`. The
 * parts that are not new are the first text, those that are not gone the second one.
 */
export function compare(before, after) {
  const [old, now] = [split(before), split(after)];
  let start = 0;
  while (start < old.length && start < now.length && old[start] === now[start]) start += 1;
  let [endOld, endNow] = [old.length, now.length];
  while (endOld > start && endNow > start && old[endOld - 1] === now[endNow - 1]) { endOld -= 1; endNow -= 1; }
  const parts = [];
  const add = (kind, words) => {
    const text = words.join('');
    if (!text) return;
    if (parts.at(-1)?.kind === kind) parts.at(-1).text += text; else parts.push({ kind, text });
  };
  add('same', old.slice(0, start));
  const [a, b] = [old.slice(start, endOld), now.slice(start, endNow)];
  if (a.length > MOST || b.length > MOST) {
    add('gone', a);
    add('new', b);
  } else {
    middle(a, b, add);
  }
  add('same', old.slice(endOld));
  return parts;
}

/** By the longest sequence of words that both have. */
function middle(a, b, add) {
  const width = b.length + 1;
  // How many words of `a` behind i and of `b` behind j are the same.
  const common = new Uint16Array((a.length + 1) * width);
  for (let i = a.length - 1; i >= 0; i -= 1) {
    for (let j = b.length - 1; j >= 0; j -= 1) {
      common[i * width + j] = a[i] === b[j] ? common[(i + 1) * width + j + 1] + 1
        : Math.max(common[(i + 1) * width + j], common[i * width + j + 1]);
    }
  }
  let [i, j] = [0, 0];
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      add('same', [a[i]]);
      i += 1;
      j += 1;
    } else if (i < a.length && (j === b.length || common[(i + 1) * width + j] >= common[i * width + j + 1])) {
      add('gone', [a[i]]);
      i += 1;
    } else {
      add('new', [b[j]]);
      j += 1;
    }
  }
}
