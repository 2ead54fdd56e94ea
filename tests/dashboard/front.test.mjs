// The page in front of another server: `ojs server --ui-server URL`.
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { findings, launch, open, settled, visit } from './lib/browser.mjs';
import { ojs, Server } from './lib/server.mjs';

const ID = '01890000-0000-7000-8000-000000000001';
let browser; let folder; let keysFile; let key;

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'ojs-front-'));
  keysFile = join(folder, 'keys.json');
  key = (await ojs('keys', 'add', 'ada', '--role', 'operator', '--keys', keysFile)).trim();
  browser = await launch();
});

after(async () => {
  await browser?.close();
  await rm(folder, { recursive: true, force: true });
});

/** A server of levels 0 and 1 with one dead letter. `asked` grows by every request, `unknown` by what it lacks. */
async function small() {
  const job = { id: ID, type: 'card.charge', queue: 'billing', state: 'discarded', attempt: 3, args: ['tok_1'],
    created_at: '2026-01-01T00:00:00Z', error: { code: 'handler_error', message: 'the card was declined' } };
  const answers = {
    'GET /ojs/manifest': { specversion: '1.0', implementation: { name: 'ojs-small', version: '0.9' },
      conformance_level: 1, backend: 'paper', protocols: ['http'] },
    'GET /ojs/v1/health': { status: 'ok', version: '1.0' },
    'GET /ojs/v1/queues': { queues: [{ name: 'billing', status: 'active' }] },
    [`GET /ojs/v1/jobs/${ID}`]: { job },
    'GET /ojs/v1/dead-letter/stats': { total: 1, by_queue: { billing: 1 }, by_error_type: {} },
  };
  const [asked, unknown, dead] = [[], [], [job]];
  const server = createServer((request, answer) => {
    const called = `${request.method} ${request.url.split('?')[0]}`;
    asked.push({ called, headers: request.headers });
    request.resume();
    let body = answers[called];
    if (called === 'GET /ojs/v1/dead-letter') {
      body = { jobs: dead, pagination: { total: dead.length, has_more: false } };
    }
    if (called === `POST /ojs/v1/dead-letter/${ID}/retry`) body = { job: { ...dead.pop(), state: 'available' } };
    if (!body) unknown.push(called);
    answer.writeHead(body ? 200 : 404, { 'content-type': 'application/json' });
    answer.end(JSON.stringify(body ?? { error: { code: 'not_found', message: 'no such path' } }));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const stop = () => { server.closeAllConnections(); server.close(); };
  return { url: `http://127.0.0.1:${server.address().port}`, asked, unknown, stop };
}

test('a person signs in with a key of the other server; neither the page nor the browser keeps the key', async () => {
  const guarded = await Server.start('--keys', keysFile);
  const front = await Server.start('--ui-server', guarded.url);
  const page = await open(browser);
  try {
    await guarded.post('/jobs', { type: 'report.build', args: [1], options: { queue: 'far' } }, { key });
    await page.goto(`${front.page}#/queues`);
    await page.getByLabel('Key').fill('wrong');
    await page.keyboard.press('Enter');
    await page.getByRole('alert').filter({ hasText: 'does not accept this key' }).waitFor();
    await page.getByLabel('Key').fill(key);
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Pause far' }).click();
    await page.getByRole('button', { name: 'Resume far' }).waitFor();
    assert.equal((await guarded.get('/admin/queues/far', { key })).paused, true);
    const cookies = await page.context().cookies();
    assert.deepEqual(cookies.map(({ name, httpOnly, sameSite }) => [name, httpOnly, sameSite]),
      [['ojs_ui_session', true, 'Strict']]);
    const kept = await page.evaluate(() => JSON.stringify({ ...localStorage, ...sessionStorage }) + document.cookie);
    assert.ok(!`${kept}${JSON.stringify(cookies)}`.includes(key));
    // Live: what a program tells the other server shows by itself.
    await guarded.post('/jobs', { type: 'report.build', args: [2], options: { queue: 'appeared' } }, { key });
    await page.getByRole('link', { name: 'appeared' }).waitFor();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByLabel('Key').waitFor();
    await page.reload();
    await page.getByLabel('Key').waitFor();
  } finally {
    await page.context().close();
    await Promise.all([front.stop(), guarded.stop()]);
  }
});

test('in front of a server of level 1, the page shows what the manifest offers, hides the rest, and asks for no more',
  async () => {
  const other = await small();
  const front = await Server.start('--ui-server', other.url);
  const page = await open(browser);
  try {
    await visit(page, front);
    const links = page.getByRole('navigation', { name: 'Screens' }).getByRole('link');
    assert.deepEqual(await links.allTextContents(), ['Overview', 'Jobs', 'Dead letters']);
    await page.getByText('ojs-small').waitFor();
    await page.getByRole('table', { name: 'Queues' }).getByText('billing').waitFor();
    assert.deepEqual(await findings(page), []);
    await page.keyboard.press('?');
    assert.equal(await page.getByRole('dialog').getByText('go to Workers').count(), 0);
    await page.keyboard.press('Escape');
    await visit(page, front, '#/jobs');
    await page.getByLabel('Id of a job').fill(ID);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Job card.charge' }).waitFor();
    await page.getByText('the card was declined').waitFor();
    assert.deepEqual(await findings(page), []);
    for (const hidden of ['queues', 'workers', 'bulk', 'audit', 'workflows', 'queues/billing']) {
      await visit(page, front, `#/${hidden}`);
      await page.getByRole('heading', { name: 'Not offered' }).waitFor();
    }
    await visit(page, front, '#/dead');
    assert.deepEqual(await findings(page), []);
    assert.equal(await page.getByRole('checkbox').count(), 0, 'it has no operations on many jobs');
    await page.getByRole('button', { name: `Retry ${ID}` }).click();
    await page.getByText('There are no dead letters.').waitFor();
    assert.deepEqual(page.faults, []);
    assert.deepEqual(other.unknown.filter((called) => called !== 'GET /ojs/v1/session'), []);
    const retried = other.asked.find(({ called }) => called.startsWith('POST'));
    const browsers = ['cookie', 'origin', 'referer', 'sec-fetch-site'];
    for (const name of browsers) assert.equal(retried.headers[name], undefined, name);
    assert.equal(retried.headers.host, new URL(other.url).host);
  } finally {
    await page.context().close();
    await front.stop();
    other.stop();
  }
});

test('the other server goes away and comes back: the page says so, and catches up', async () => {
  const other = await Server.start();
  const { port } = new URL(other.url);
  const front = await Server.start('--ui-server', other.url);
  const page = await open(browser);
  let again;
  try {
    await visit(page, front, '#/queues');
    await other.stop();
    await page.getByText('The connection is lost').waitFor();
    await page.reload();
    await page.getByRole('alert').filter({ hasText: `${other.url} cannot be reached` }).first().waitFor();
    again = await Server.start('--listen', `127.0.0.1:${port}`);
    await again.enqueue('report.build', [], { queue: 'back-again' });
    await page.getByRole('link', { name: 'back-again' }).waitFor();
    await settled(page, 'queues');
  } finally {
    await page.context().close();
    await Promise.all([front.stop(), again?.stop()]);
  }
});
