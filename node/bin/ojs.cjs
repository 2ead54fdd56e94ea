#!/usr/bin/env node
'use strict';
// `npx ojs server` and `npx ojs worker FILE`.
const path = require('node:path');
const { pathToFileURL } = require('node:url');
const { parseArgs } = require('node:util');
const { OJSServer, OJSWorker, version } = require('../index.cjs');

const USAGE = `usage: ojs server [--listen ADDRESS] [--store URL] [--keys FILE | --insecure] [--test-mode]
       ojs worker FILE[:NAME] [--url URL] [--queues A,B] [--concurrency N]
       ojs --version

server  a job server in this process
  --listen ADDRESS   address and port; port 0 takes any free one (OJS_LISTEN, 127.0.0.1:8080)
  --store URL        sqlite:PATH, postgres://…, or memory: (OJS_STORE, sqlite:ojs.db)
  --keys FILE        ask callers for a key of this file (OJS_KEYS; ojs keys add)
  --insecure         listen on other addresses than loopback without keys (OJS_INSECURE)
  --test-mode        anyone who can connect can delete all jobs
worker  the OJSWorker that a module exports as 'worker', as default, or under NAME
`;

/** Wrong usage, or a setting that cannot work. */
class Usage extends Error {}

async function server(options) {
  // Before the first line is printed: who reads it may send a signal at once.
  const stopped = new Promise((resolve) => {
    let stops = 0;
    for (const [signal, number] of [['SIGTERM', 15], ['SIGINT', 2]]) {
      process.on(signal, () => ((stops += 1) > 1 ? process.exit(128 + number) : resolve()));
    }
  });
  const store = options.store ?? process.env.OJS_STORE ?? 'sqlite:ojs.db';
  const listen = options.listen ?? process.env.OJS_LISTEN ?? '127.0.0.1:8080';
  const keys = options.keys ?? process.env.OJS_KEYS;
  const insecure = options.insecure || /^(1|true|yes|on|y|t)$/i.test(process.env.OJS_INSECURE ?? '');
  const running = await OJSServer.start({ store, listen, testMode: options['test-mode'], keys, insecure });
  process.stdout.write(`listening on ${running.url}\n`);
  await stopped;
  await running.stop();
}

async function worker(options, target) {
  if (target === undefined) throw new Usage('which file? ojs worker FILE');
  const [, file, name] = /^(.*?)(?::([A-Za-z_$][\w$]*))?$/.exec(target);
  let found;
  try {
    found = await import(pathToFileURL(path.resolve(file)).href);
  } catch (cause) {
    throw new Usage(`cannot load ${file}: ${cause.message}`, { cause });
  }
  const wanted = name ? [name] : ['worker', 'default'];
  const exported = wanted.map((key) => found[key] ?? found.default?.[key]).find((value) => value instanceof OJSWorker);
  if (exported === undefined) throw new Usage(`${file} exports no OJSWorker as ${wanted.join(' or ')}`);
  const { url, queues, concurrency } = options;
  exported.configure({ url, queues, concurrency });
  await exported.run();
}

async function main() {
  const text = { type: 'string' };
  const flag = { type: 'boolean', default: false };
  let parsed;
  try {
    parsed = parseArgs({ allowPositionals: true, options: { listen: text, store: text, 'test-mode': flag, keys: text, insecure: flag, url: text, queues: text,
      concurrency: text, version: flag, help: { ...flag, short: 'h' } } });
  } catch (error) {
    throw new Usage(error.message);
  }
  const { values, positionals: [command, target, ...rest] } = parsed;
  if (values.version) process.stdout.write(`ojs (Node.js package) ${version}\n`);
  else if (values.help) process.stdout.write(USAGE);
  else if (rest.length > 0) throw new Usage(`what is ${rest.join(' ')}?`);
  else if (command === 'server') await server(values);
  else if (command === 'worker') await worker(values, target);
  else throw new Usage(command === undefined ? 'which command?' : `unknown command ${command}`);
}

main().catch((error) => {
  process.stderr.write(`ojs: ${error.message}\n${error instanceof Usage ? `\n${USAGE}` : ''}`);
  process.exitCode = 2;
});
