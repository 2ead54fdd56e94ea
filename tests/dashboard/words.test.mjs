// Parts of the page that need no browser: what differs between two texts, and what a codec server is asked.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sealed } from '../../dashboard/web/codec.js';
import { compare } from '../../dashboard/web/words.js';

const without = (parts, kind) => parts.filter((part) => part.kind !== kind).map((part) => part.text).join('');

test('exactly the changed words are marked', () => {
  assert.deepEqual(compare('no answer from 10.0.0.1 after 5 s', 'no answer from 10.0.0.7 after 31 s'), [
    { kind: 'same', text: 'no answer from 10.0.0.' }, { kind: 'gone', text: '1' }, { kind: 'new', text: '7' },
    { kind: 'same', text: ' after ' }, { kind: 'gone', text: '5' }, { kind: 'new', text: '31' },
    { kind: 'same', text: ' s' },
  ]);
  assert.deepEqual(compare('', 'new'), [{ kind: 'new', text: 'new' }]);
  assert.deepEqual(compare('same', 'same'), [{ kind: 'same', text: 'same' }]);
  assert.deepEqual(compare('', ''), []);
});

test('the parts are both texts, whatever they are, also very long ones', () => {
  const long = Array.from({ length: 5000 }, (_, n) => `w${n}`).join(' ');
  const texts = ['', 'a', 'a b c', 'c b a', 'ä ö\n\tü 日本', '{"a": [1, 2]}', long, `x ${long} y`,
    long.replaceAll('3', 'q')];
  for (const before of texts) {
    for (const after of texts) {
      const parts = compare(before, after);
      assert.equal(without(parts, 'new'), before);
      assert.equal(without(parts, 'gone'), after);
    }
  }
});

test('encrypted arguments of all published forms are recognised, others are not', () => {
  const [data, nonce] = [btoa('cipher'), btoa('nonce')];
  const key = { 'ojs.codec.key_id': 'k-1' };
  const asked = { data, metadata: { encoding: 'binary/encrypted', encryption_key_id: 'k-1' } };
  assert.deepEqual(sealed({ args: [{ ojs_encoded: true, encoding: 'binary/encrypted', data }], meta: key }), asked);
  assert.deepEqual(sealed({ args: [{ ojs_encoded: true, data }], meta: key }), asked);
  assert.deepEqual(sealed({ args: [data], meta: { ...key, ojs_encoded: true } }), asked);
  assert.deepEqual(sealed({ args: [data], meta: { ...key, 'ojs.codec.encodings': ['binary/encrypted'] } }), asked);
  const detached = sealed({ args: [data], meta: { ...key, ojs_encoded: 'true', 'ojs.codec.nonce': nonce } });
  assert.equal(atob(detached.data), 'noncecipher');
  const packed = { ...key, 'ojs.codec.encodings': ['zstd', 'binary/encrypted'] };
  assert.equal(sealed({ args: [data], meta: packed }).metadata.encoding, 'binary/encrypted+zstd');
  for (const plain of [{ args: [] }, { args: ['text'], meta: {} }, { args: [{ encoding: 'utf-8' }] }, { args: [null] },
    { args: [1, 2], meta: { ojs_encoded: true } }, {}]) {
    assert.equal(sealed(plain), null, JSON.stringify(plain));
  }
});
