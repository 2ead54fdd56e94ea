// What a manifest offers, without a browser.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { offersOf } from '../../dashboard/web/offers.js';

const screens = (manifest) => [...offersOf(manifest).screens].sort();

test('a manifest that is not known hides nothing, and neither does that of our own server', () => {
  const own = offersOf({ implementation: { name: 'ojs' }, conformance_level: 4 });
  assert.deepEqual(offersOf(null), own);
  assert.ok(own.own && own.admin && own.stream && own.screens.has('bulk') && own.screens.has('workflows'));
});

test('a server of level 0 has an overview and jobs; each level and extension adds its screens', () => {
  assert.deepEqual(screens({ conformance_level: 0 }), ['', 'jobs']);
  assert.deepEqual(screens({ implementation: { name: 'other' } }), ['', 'jobs']);
  assert.deepEqual(screens({ conformance_level: 1 }), ['', 'dead', 'jobs']);
  assert.deepEqual(screens({ conformance_level: 3 }), ['', 'cron', 'dead', 'jobs', 'workflows/']);
  const official = [{ name: 'admin-api' }, { uri: 'urn:ojs:ext:rate-limiting' }, { name: 'realtime' }];
  const whole = offersOf({ conformance_level: 0, extensions: { official, experimental: ['urn:ojs:ext:webhooks'] } });
  assert.deepEqual([...whole.screens].sort(), ['', 'endpoints', 'jobs', 'limits', 'queues', 'workers']);
  assert.ok(whole.stream && whole.admin && !whole.many && !whole.own);
});

test('extensions are read in every published form, and capabilities count as well', () => {
  for (const extensions of [['rate-limiting'], ['urn:ojs:ext:rate-limiting'], { official: ['rate-limiting'] },
    { experimental: [{ name: 'rate-limiting' }] }]) {
    assert.deepEqual(screens({ extensions }), ['', 'jobs', 'limits'], JSON.stringify(extensions));
  }
  assert.deepEqual(screens({ capabilities: { dead_letter: true, cron_jobs: false } }), ['', 'dead', 'jobs']);
  assert.deepEqual(screens({ conformance_level: 1, extensions: null, capabilities: null }), ['', 'dead', 'jobs']);
});
