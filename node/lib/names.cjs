'use strict';
// Names that do not exist, refused with the one that was probably meant: the sentence and the rule are the core's.

const bare = (name) => name.replace(/[^A-Za-z0-9]/g, '').toLowerCase();

/** How many letters must change to make one word the other. */
function distance(a, b) {
  let row = Array.from({ length: b.length + 1 }, (_, at) => at);
  for (let i = 0; i < a.length; i += 1) {
    const next = [i + 1];
    for (let j = 0; j < b.length; j += 1) next.push(Math.min(row[j] + (a[i] === b[j] ? 0 : 1), row[j + 1] + 1, next[j] + 1));
    row = next;
  }
  return row[b.length];
}

/** The name that was probably meant: at most half of its letters differ. */
function nearest(wrong, names) {
  const word = bare(wrong);
  if (word.length > 64) return undefined;
  let best;
  for (const name of names) {
    const far = distance(word, bare(name));
    if (best === undefined || far < best.far || (far === best.far && name < best.name)) best = { far, name };
  }
  return best && best.far * 2 <= Math.max(word.length, bare(best.name).length) ? best.name : undefined;
}

/** What is said of a name that is none of `names`: `kind` is what it should be, `of` what it is in. */
function unknownName(kind, name, names, of) {
  const near = nearest(name, names);
  const there = near === undefined ? '; there are' : `; did you mean '${near}'? There are`;
  return `unknown ${kind} '${name}'${of === undefined ? '' : ` of ${of}`}${there} ${names.join(', ')}`;
}

module.exports = { unknownName };
