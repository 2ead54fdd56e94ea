// Open pages and a busy server: what one costs the other.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { launch, open, visit } from './lib/browser.mjs';
import { Server } from './lib/server.mjs';

const TABS = 7;
const SECONDS = Number(process.env.OJS_BUSY_SECONDS ?? 8);
let browser; let server;

before(async () => { [browser, server] = await Promise.all([launch(), Server.start()]); });
after(async () => {
  await browser?.close();
  await server?.stop();
});

/** How many streams the server serves, by its own count. */
async function streams(target) {
  const text = await (await fetch(`${target.url}/metrics`)).text();
  return Number(text.match(/^ojs_event_streams(?:\{[^}]*\})? (\d+)/m)?.[1] ?? 0);
}

/** Waits until the server serves so many streams. */
async function served(target, wanted) {
  const deadline = Date.now() + 60_000;
  while (await streams(target) !== wanted) {
    assert.ok(Date.now() < deadline, `${await streams(target)} streams, ${wanted} are wanted`);
    await new Promise((done) => { setTimeout(done, 50); });
  }
}

test('seven tabs are told of a job by one stream, also when the first tab is closed', async () => {
  const first = await open(browser);
  const context = first.context();
  const tabs = [first];
  while (tabs.length < TABS) tabs.push(await context.newPage());
  for (const tab of tabs) await visit(tab, server, '#/jobs?queue=tabs');
  await served(server, 1);
  const shown = async (id, all) => Promise.all(all.map((tab) => tab.locator(`tr[data-row="${id}"]`).waitFor()));
  await shown(await server.enqueue('report.build', [1], { queue: 'tabs' }), tabs);
  await first.close();
  await shown(await server.enqueue('report.build', [2], { queue: 'tabs' }), tabs.slice(1));
  assert.equal(await streams(server), 1);
  await context.close();
  await served(server, 0);
});

test('a tab that wants no updates is told of nothing, and the last one ends the stream', async () => {
  const page = await open(browser);
  await visit(page, server, '#/queues');
  await served(server, 1);
  await page.getByRole('button', { name: 'Live' }).click();
  await served(server, 0);
  await page.getByRole('button', { name: 'Live' }).click();
  await served(server, 1);
  await page.context().close();
});

test('thousands of jobs a second: the page stays quick, keeps its memory, and is told once a second', async () => {
  const page = await open(browser);
  await visit(page, server, '#/jobs?queue=busy');
  const session = await page.context().newCDPSession(page);
  // In time of the processor: a busy machine makes any task long.
  await session.send('Performance.enable', { timeDomain: 'threadTicks' });
  const worked = async () => (await session.send('Performance.getMetrics')).metrics
    .find(({ name }) => name === 'TaskDuration').value;
  const heap = async () => {
    await session.send('HeapProfiler.collectGarbage');
    return (await session.send('Runtime.getHeapUsage')).usedSize;
  };
  const control = new AbortController();
  const stream = await fetch(`${server.url}/ojs/v1/events/stream?summary=true`, { signal: control.signal });
  let frames = 0;
  const words = new TextDecoder();
  const reading = (async () => {
    for await (const part of stream.body) frames += words.decode(part).match(/^event: changed$/gm)?.length ?? 0;
  })().catch(() => { /* Ended below. */ });
  const [before_, idle] = [await heap(), await worked()];
  let lists = 0;
  page.on('request', (request) => { if (request.url().includes('/admin/jobs?')) lists += 1; });
  const job = (n) => ({ type: 'load.job', args: [n, 'x'.repeat(100)], options: { queue: 'busy' } });
  const jobs = Array.from({ length: 500 }, (_, n) => job(n));
  const began = Date.now();
  let sent = 0;
  while (Date.now() - began < SECONDS * 1000) {
    await server.post('/jobs/batch', { jobs });
    sent += jobs.length;
  }
  const seconds = (Date.now() - began) / 1000;
  assert.ok(sent / seconds >= 1000, `a load of ${Math.round(sent / seconds)} jobs a second is none`);
  assert.ok(frames >= 2 && frames <= seconds + 2, `${frames} frames in ${seconds} s`);
  assert.ok(lists >= 2 && lists <= seconds + 2, `${lists} readings in ${seconds} s`);
  control.abort();
  await reading;
  const each = ((await worked()) - idle) / lists;
  assert.ok(each < 0.2, `${each} s of work for each reading`);
  const grown = (await heap()) - before_;
  assert.ok(grown < 20_000_000, `the heap has grown by ${grown} bytes`);
  assert.deepEqual(page.faults, []);
  await page.context().close();
});
