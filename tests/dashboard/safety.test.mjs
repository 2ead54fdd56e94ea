// What must not happen: markup from jobs, pages from elsewhere, rights that a key has not.
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, request } from 'node:http';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { launch, open, visit } from './lib/browser.mjs';
import { HOSTILE } from './lib/seed.mjs';
import { ojs, Server } from './lib/server.mjs';

let browser; let server; let guarded; let folder; const keys = {};

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'ojs-dashboard-'));
  const file = join(folder, 'keys.json');
  for (const role of ['viewer', 'operator', 'admin']) {
    const text = await ojs('keys', 'add', role, '--role', role, '--keys', file);
    keys[role] = text.trim();
  }
  [browser, server, guarded] = await Promise.all([launch(), Server.start(), Server.start('--keys', file)]);
});

after(async () => {
  await browser?.close();
  await Promise.all([server?.stop(), guarded?.stop()]);
  await rm(folder, { recursive: true, force: true });
});

/** A request whose Host and Origin are what a test wants; the status, headers and text of its answer. */
async function raw(base, path, headers = {}, method = 'GET') {
  const { hostname, port } = new URL(base);
  const sent = request({ hostname, port, path, method, headers, setHost: false });
  sent.end();
  const [answer] = await once(sent, 'response');
  let text = '';
  for await (const part of answer) text += part;
  return { status: answer.statusCode, headers: answer.headers, text };
}

async function signIn(page, key) {
  await page.goto(guarded.page);
  await page.getByLabel('Key').fill(key);
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
}

test('text of jobs is text on every screen', async () => {
  const options = { queue: 'hostile', retry: { max_attempts: 1, on_exhaustion: 'dead_letter' } };
  const id = await server.enqueue('hostile.job', [HOSTILE, { [HOSTILE]: HOSTILE }], options,
    { meta: { note: HOSTILE } });
  await server.post('/workers/heartbeat', { worker_id: HOSTILE, queues: ['hostile'], active_jobs: [],
    hostname: HOSTILE, concurrency: 1 });
  const [job] = await server.fetch('hostile');
  await server.nack(job, { type: HOSTILE, message: HOSTILE, backtrace: [HOSTILE] });
  await server.post('/workflows', { type: 'chain', name: HOSTILE, steps: [{ type: 'hostile.step', args: [HOSTILE] }] });
  await server.enqueue('hostile.big', ['x'.repeat(1 << 20)], { queue: 'hostile' });
  const page = await open(browser);
  for (const fragment of ['', 'jobs', 'dead', 'workflows', 'workers', 'audit', `jobs/${id}`, 'queues/hostile']) {
    await visit(page, server, `#/${fragment}`);
    assert.equal(await page.evaluate(() => window.hacked), undefined, fragment);
    assert.equal(await page.locator('img[src="x"]').count(), 0, fragment);
  }
  await visit(page, server, `#/jobs/${id}`);
  const shown = await page.locator('pre[aria-label="Arguments as JSON"]').textContent();
  assert.ok(shown.includes('<img src=x onerror='), 'the text is there, as text');
  assert.deepEqual(page.faults, []);
  await page.context().close();
});

test('every answer below /ui carries the policy; a file that the browser has is not sent twice', async () => {
  const shell = await raw(server.url, '/ui/', { host: new URL(server.url).host, 'accept-encoding': 'gzip' });
  const policy = shell.headers['content-security-policy'];
  for (const part of ["default-src 'none'", "script-src 'self'", "style-src 'self'", "frame-ancestors 'none'",
    "base-uri 'none'", "form-action 'none'"]) {
    assert.ok(policy.includes(part), part);
  }
  assert.ok(!policy.includes('unsafe'));
  assert.equal(shell.headers['content-encoding'], 'gzip');
  const again = await raw(server.url, '/ui/', { host: 'localhost', 'if-none-match': shell.headers.etag });
  assert.equal(again.status, 304);
  const gone = await raw(server.url, '/ui/a/0000/main.js', { host: 'localhost' });
  assert.equal(gone.status, 404);
  for (const answer of [again, gone]) {
    assert.equal(answer.headers['content-security-policy'], policy);
    assert.equal(answer.headers['x-content-type-options'], 'nosniff');
  }
});

test('a name that is not of this server gets nothing', async () => {
  for (const path of ['/ui', '/ui/', '/ojs/v1/admin/stats', '/ojs/v1/jobs']) {
    const answer = await raw(server.url, path, { host: 'evil.example' });
    assert.equal(answer.status, 403, path);
    assert.ok(answer.text.includes('--allow-host'), 'it says what to do');
  }
  assert.equal((await raw(server.url, '/ui/', { host: '10.0.0.5:8080' })).status, 200);
});

test('a page of another origin changes nothing, and reads nothing', async () => {
  await server.enqueue('report.build', [1], { queue: 'foreign' });
  const target = `${server.url}/ojs/v1/admin/queues/foreign/pause`;
  const evil = createServer((_, answer) => {
    answer.setHeader('content-type', 'text/html');
    answer.end(`<form method="post" action="${target}"><button>go</button></form>`);
  });
  evil.listen(0, '127.0.0.1');
  await once(evil, 'listening');
  try {
    const page = await open(browser);
    await page.goto(`http://127.0.0.1:${evil.address().port}/`);
    const [answer] = await Promise.all([page.waitForResponse((got) => got.url() === target),
      page.getByRole('button').click()]);
    assert.equal(answer.status(), 403);
    await page.goto(`http://127.0.0.1:${evil.address().port}/`);
    const tried = await page.evaluate(async (base) => {
      const send = (path, options) => fetch(base + path, options).then((got) => `read: ${got.type}`, () => 'refused');
      const image = new Promise((done) => {
        const element = new Image();
        element.onload = () => done('read');
        element.onerror = () => done('refused');
        element.src = `${base}/ui/a/x/icon.svg`;
      });
      const stream = new Promise((done) => {
        const source = new EventSource(`${base}/ojs/v1/events/stream`);
        source.onmessage = () => done('read');
        source.onerror = () => { source.close(); done('refused'); };
      });
      return [await send('/ojs/v1/admin/queues/foreign/pause', { method: 'POST', mode: 'no-cors' }),
        await send('/ojs/v1/admin/jobs', {}), await image, await stream];
    }, server.url);
    // The first one was sent, and its answer is opaque: what counts is below.
    assert.deepEqual(tried.slice(1), ['refused', 'refused', 'refused']);
    assert.equal((await server.get('/admin/queues/foreign')).paused, false);
    await page.context().close();
  } finally {
    evil.closeAllConnections();
    evil.close();
  }
});

test('a wrong key is refused, a right one opens the view that was asked for, and the page keeps none', async () => {
  const page = await open(browser);
  await page.goto(`${guarded.page}#/jobs?state=discarded`);
  await page.getByLabel('Key').fill('wrong');
  await page.keyboard.press('Enter');
  await page.getByRole('alert').waitFor();
  await page.getByLabel('Key').fill(keys.operator);
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Jobs', exact: true }).waitFor();
  assert.equal(await page.getByLabel('State').inputValue(), 'discarded');
  const kept = await page.evaluate(() => JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie]));
  assert.ok(!kept.includes(keys.operator) && !kept.includes('ojs_session'), kept);
  await page.reload();
  await page.getByRole('heading', { name: 'Jobs', exact: true }).waitFor();
  await visit(page, guarded, '#/jobs?queue=told');
  const { job } = await guarded.post('/jobs', { type: 'report.build', args: [], options: { queue: 'told' } },
    { key: keys.admin });
  // Only the stream tells the page of it, and the stream has only the cookie.
  await page.locator(`tr[data-row="${job.id}"]`).waitFor();
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByLabel('Key').waitFor();
  await page.reload();
  await page.getByLabel('Key').waitFor();
  await page.context().close();
});

test('a viewer sees everything and no button that the server would refuse; what is replayed is refused', async () => {
  const call = { key: keys.admin };
  const { job } = await guarded.post('/jobs', { type: 'report.build', args: [], options: { queue: 'looked-at' } },
    call);
  const page = await open(browser);
  await signIn(page, keys.viewer);
  for (const fragment of ['queues', 'jobs', `jobs/${job.id}`, 'dead', 'cron', 'workers', 'trains', 'tenants',
    'endpoints', 'queues/looked-at']) {
    await visit(page, guarded, `#/${fragment}`);
    for (const name of [/^Pause/, /^Resume/, /^Retry/, /^Cancel/, /^Delete/, /^Suspend/, /^Hold/, /^Quiet/, /^Stop/]) {
      assert.equal(await page.locator('main').getByRole('button', { name }).count(), 0, `${fragment}: ${name}`);
    }
  }
  const statuses = await page.evaluate(async (id) => {
    const send = (method, path, body) => fetch(`../ojs/v1${path}`, { method,
      headers: { 'content-type': 'application/json' }, body: body && JSON.stringify(body) });
    const answers = [await send('POST', '/admin/queues/looked-at/pause', {}), await send('DELETE', `/jobs/${id}`),
      await send('POST', '/jobs/bulk/delete', { job_ids: [id] }), await send('POST', '/dead-letter/retry',
        { confirm: true })];
    return answers.map((answer) => answer.status);
  }, job.id);
  assert.deepEqual(statuses, [403, 403, 403, 403]);
  await page.context().close();

  const other = await open(browser);
  await signIn(other, keys.operator);
  await visit(other, guarded, '#/queues');
  await other.getByRole('button', { name: 'Pause looked-at' }).click();
  await other.getByRole('button', { name: 'Resume looked-at' }).waitFor();
  await visit(other, guarded, `#/jobs/${job.id}`);
  assert.equal(await other.getByRole('button', { name: 'Delete' }).count(), 0, 'deleting is for administrators');
  await other.context().close();
});

test('without the page there is none', async () => {
  const bare = await Server.start('--no-ui');
  try {
    assert.equal((await raw(bare.url, '/ui/', { host: 'localhost' })).status, 404);
  } finally {
    await bare.stop();
  }
});

test('the page works under a prefix that a proxy cuts off', async () => {
  await server.enqueue('report.build', [1], { queue: 'proxied' });
  const { hostname, port } = new URL(server.url);
  const proxy = createServer((asked, answer) => {
    const path = asked.url.replace(/^\/tools\/jobs/, '');
    const forward = request({ hostname, port, path, method: asked.method, headers: asked.headers, setHost: false });
    forward.on('response', (got) => {
      answer.writeHead(got.statusCode, got.headers);
      got.pipe(answer);
    });
    asked.pipe(forward);
    forward.on('error', () => answer.destroy());
    answer.on('close', () => forward.destroy());
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  try {
    const page = await open(browser);
    await page.goto(`http://127.0.0.1:${proxy.address().port}/tools/jobs/ui#/queues`);
    await page.getByRole('button', { name: 'Pause proxied' }).click();
    await page.getByRole('button', { name: 'Resume proxied' }).waitFor();
    assert.equal((await server.get('/admin/queues/proxied')).paused, true);
    assert.deepEqual(page.faults, []);
    await page.context().close();
  } finally {
    proxy.closeAllConnections();
    proxy.close();
  }
});
