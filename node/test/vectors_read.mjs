// Reads the vectors for the tests of Node.js, and refuses members that no test compares.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

// The package's own reader: JSON.parse would round long integers.
const json = createRequire(import.meta.url)('../lib/json.cjs');

/** The object, which must have only these members: what another one says would not be tested. */
export function known(object, members, where) {
  const unknown = Object.keys(object).filter((name) => !members.split(' ').includes(name));
  assert.deepEqual(unknown, [], `${where}: members that these tests do not know: compare them or remove them`);
  return object;
}

/** The vectors of a kind, which have only these members. `inside` names those of a member that holds objects. */
export function vectors(kind, members, inside = {}, file = 'vectors.json') {
  const cases = json.parse(readFileSync(new URL(`../../tests/vectors/${file}`, import.meta.url), 'utf8'))[kind];
  assert.ok(cases.length > 0, `there are no vectors of ${kind}`);
  for (const vector of cases) {
    const where = `${kind}: ${vector.name}`;
    known(vector, members, where);
    for (const [member, names] of Object.entries(inside)) {
      for (const object of [vector[member] ?? []].flat()) known(object, names, `${where}, in ${member}`);
    }
  }
  return cases;
}
