// Errors: put together over jobs, compared between attempts; encrypted arguments, opened in the browser only.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, before, test } from 'node:test';
import { findings, launch, open, visit } from './lib/browser.mjs';
import { binary, ojs, Server } from './lib/server.mjs';

let browser; let server;

before(async () => { [browser, server] = await Promise.all([launch(), Server.start()]); });
after(async () => {
  await browser?.close();
  await server?.stop();
});

/** A job that has failed once; its id. */
async function failed(queue, error, options = { retry: { max_attempts: 1, on_exhaustion: 'dead_letter' } }) {
  const id = await server.enqueue('card.charge', [queue], { queue, ...options });
  const [job] = await server.fetch(queue);
  await server.nack(job, error);
  return id;
}

test('from a group of errors to its jobs, and all of them are retried', async () => {
  const ids = [];
  for (const address of ['10.0.0.1', '10.0.0.2']) {
    ids.push(await failed('billing', { type: 'Timeout', message: `no answer from ${address}` }));
  }
  await failed('other', { type: 'Refused', message: 'connection refused' });
  const page = await open(browser);
  await visit(page, server);
  await page.keyboard.press('g');
  await page.keyboard.press('r');
  const groups = page.getByRole('table', { name: 'Error groups' });
  await groups.getByText('connection refused').waitFor();
  await page.getByLabel('Queue', { exact: true }).fill('billing');
  await page.keyboard.press('Enter');
  await groups.getByText('connection refused').waitFor({ state: 'detached' });
  assert.ok(page.url().includes('queue=billing'), 'the filter is part of the address');
  await groups.getByRole('link', { name: 'Timeout' }).click();
  await page.getByRole('heading', { name: 'Error Timeout' }).waitFor();
  const jobs = page.getByRole('table', { name: 'Jobs of the group' });
  for (const id of ids) await jobs.getByRole('link', { name: id }).waitFor();
  await page.getByRole('button', { name: 'Retry these 2' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Retry these 2' }).click();
  await page.getByText('2 retried.').waitFor();
  for (const id of ids) assert.equal((await server.get(`/jobs/${id}`)).job.state, 'available');
  await page.getByRole('button', { name: 'Retry these 2' }).waitFor({ state: 'detached' });
  assert.deepEqual(page.faults, []);
  await page.context().close();
});

test('the words that differ between the errors of two attempts are marked, and lead to the same errors', async () => {
  const id = await failed('diff', { type: 'Timeout', message: 'row 7 of orders is locked' },
    { retry: { max_attempts: 5, initial_interval: 'PT1H' } });
  await server.post('/jobs/bulk/retry', { job_ids: [id] });
  const [again] = await server.fetch('diff');
  await server.nack(again, { type: 'Timeout', message: 'row 9 of invoices is locked' });
  const page = await open(browser);
  await visit(page, server, `#/jobs/${id}`);
  const marked = (name) => page.getByRole('region', { name: 'What differs' }).locator(name).evaluateAll((found) =>
    found.map((element) => element.lastChild.textContent));
  await page.getByText('What differs from attempt 1').waitFor();
  assert.deepEqual(await marked('del'), ['7', 'orders']);
  assert.deepEqual(await marked('ins'), ['9', 'invoices']);
  assert.deepEqual(await findings(page), []);
  await page.getByLabel('Error of').selectOption('0');
  await page.getByLabel('Compared with').selectOption('1');
  await page.getByText('What differs from attempt 2').waitFor();
  assert.deepEqual(await marked('ins'), ['7', 'orders']);
  await page.getByRole('link', { name: 'Same errors of other jobs' }).click();
  await page.getByRole('heading', { name: 'Error Timeout' }).waitFor();
  assert.deepEqual(page.faults, []);
  await page.context().close();
});

/** A codec server for pages of this origin; its address, and how to stop it. */
async function codecServer(folder, key, origin) {
  const token = (await ojs('keys', 'add', 'ada', '--role', 'operator', '--keys', join(folder, 'viewers.json'))).trim();
  const child = spawn(binary(), ['codec-server', '--listen', '127.0.0.1:0', '--keys', join(folder, 'viewers.json'),
    '--origin', origin], { env: { ...process.env, OJS_ENCRYPTION_KEYS: `k-1:${key}` },
    stdio: ['ignore', 'pipe', 'ignore'] });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const url = (await lines.next()).value.replace('listening on ', '');
  const stop = async () => {
    const ended = once(child, 'close');
    child.kill('SIGTERM');
    await ended;
  };
  return { url, token, stop };
}

/** A port that leads to another one, which is named later: two servers have to know each other's address. */
async function detour() {
  let port;
  const through = createServer((socket) => {
    const onward = connect(port, '127.0.0.1');
    for (const end of [socket, onward]) end.on('error', () => { socket.destroy(); onward.destroy(); });
    socket.pipe(onward).pipe(socket);
  });
  through.listen(0, '127.0.0.1');
  await once(through, 'listening');
  return { url: `http://127.0.0.1:${through.address().port}`, lead: (to) => { port = new URL(to).port; },
    stop: () => through.close() };
}

test('encrypted arguments open in the browser; the job server never has the plain text', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'ojs-codec-'));
  const key = randomBytes(32).toString('hex');
  const way = await detour();
  const guarded = await Server.start('--codec-server-url', way.url);
  const codec = await codecServer(folder, key, guarded.url);
  way.lead(codec.url);
  try {
    const sent = { payloads: [{ data: btoa('["4111 1111",{"n":9007199254740993}]') }] };
    const answer = await fetch(`${codec.url}/codec/encode`, { method: 'POST', body: JSON.stringify(sent),
      headers: { authorization: `Bearer ${codec.token}` } });
    const { payloads: [{ data }] } = await answer.json();
    const { job } = await guarded.post('/jobs', { type: 'card.charge', options: { queue: 'closed' },
      args: [{ ojs_encoded: true, encoding: 'binary/encrypted', data }], meta: { 'ojs.codec.key_id': 'k-1' } });
    const page = await open(browser);
    const asked = [];
    page.on('request', (request) => asked.push(`${request.method()} ${request.url()} ${request.postData() ?? ''}`));
    await visit(page, guarded, `#/jobs/${job.id}`);
    await page.getByText('They are encrypted').waitFor();
    assert.equal(await page.getByText('4111').count(), 0);
    await page.getByLabel('Token of the codec server').fill('wrong');
    // The browser itself writes a refused request to the console, and the codec server is no part of the page.
    page.removeAllListeners('console');
    await page.getByRole('button', { name: 'Decrypt here' }).click();
    await page.getByRole('alert').filter({ hasText: 'The codec server refused' }).waitFor();
    await page.getByLabel('Token of the codec server').fill(codec.token);
    await page.getByRole('button', { name: 'Decrypt here' }).click();
    await page.getByText('"4111 1111"').waitFor();
    await page.getByText('9007199254740993').waitFor();
    assert.deepEqual(await findings(page), []);
    const elsewhere = asked.filter((line) => !line.includes(guarded.url));
    assert.ok(elsewhere.length > 0 && elsewhere.every((line) => line.includes(`${way.url}/codec/decode`)), elsewhere);
    assert.ok(!asked.some((line) => line.includes('4111') || line.includes(btoa('["4111'))), 'it is sent nowhere');
    const tried = await page.evaluate((url) => fetch(url, { mode: 'no-cors' }).then(() => 'sent', () => 'refused'),
      `${server.url}/ojs/v1/health`);
    assert.equal(tried, 'refused', 'the policy allows the codec server and nothing else');
    await page.getByRole('button', { name: 'Close again' }).click();
    await page.getByText('"4111 1111"').waitFor({ state: 'detached' });
    await page.context().close();
  } finally {
    way.stop();
    await Promise.all([guarded.stop(), codec.stop()]);
    await rm(folder, { recursive: true, force: true });
  }
});
