// The package as users install it: a tarball in an empty project.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { PACKAGE } from './support.mjs';

test('npm pack, npm install, a first job, in both kinds of modules', (t) => {
  const place = mkdtempSync(path.join(tmpdir(), 'ojs-install-'));
  t.after(() => rmSync(place, { recursive: true }));
  const run = (command, args, cwd = place) => execFileSync(command, args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
  const [{ filename, files }] = JSON.parse(run('npm', ['pack', '--json', '--pack-destination', place], PACKAGE));
  const names = files.map((file) => file.path);
  assert.ok(names.some((name) => name.endsWith('.node')), 'the native half is in it');
  assert.deepEqual(names.filter((name) => /^(test|node_modules)/.test(name)), []);
  writeFileSync(path.join(place, 'package.json'), '{"name":"app","private":true}');
  run('npm', ['install', '--offline', '--no-audit', '--no-fund', path.join(place, filename)]);
  const body = `
    const client = new OJSClient('sqlite:jobs.db');
    const worker = new OJSWorker({ client });
    worker.register('email.send', async (ctx) => { console.log('to', ctx.args[0]); worker.shutdown(); });
    client.enqueue('email.send', ['ada@example.com']).then(() => worker.run()).then(() => client.close());`;
  writeFileSync(path.join(place, 'app.mjs'), `import { OJSClient, OJSWorker } from '@openjobspec/sdk';${body}`);
  writeFileSync(path.join(place, 'app.cjs'), `const { OJSClient, OJSWorker } = require('@openjobspec/sdk');${body}`);
  for (const app of ['app.mjs', 'app.cjs']) assert.equal(run(process.execPath, [app]), 'to ada@example.com\n', app);
  assert.match(run('npx', ['--offline', 'ojs', '--version']), /^npx ojs \d+\.\d+\.\d+\n$/);
});
