#!/usr/bin/env node
'use strict';
// `npx ojs server` and `npx ojs worker FILE`. The core reads the command line and the environment.
const path = require('node:path');
const { pathToFileURL } = require('node:url');
const { OJSServer, OJSWorker, setLogger } = require('../index.cjs');
const { native } = require('../lib/errors.cjs');
const binding = require('../lib/native.cjs');

async function server({ test_mode: testMode, ...settings }) {
  // Before the first line is printed: who reads it may send a signal at once.
  const stopped = new Promise((resolve) => {
    let stops = 0;
    for (const [signal, number] of [['SIGTERM', 15], ['SIGINT', 2]]) {
      process.on(signal, () => ((stops += 1) > 1 ? process.exit(128 + number) : resolve()));
    }
  });
  const running = await OJSServer.start({ ...settings, testMode });
  process.stdout.write(`listening on ${running.url}\n`);
  await stopped;
  await running.stop();
}

async function worker(settings, target) {
  const [, file, name] = /^(.*?)(?::([A-Za-z_$][\w$]*))?$/.exec(target);
  let found;
  try {
    found = await import(pathToFileURL(path.resolve(file)).href);
  } catch (cause) {
    throw new Error(`cannot load ${file}: ${cause.message}`, { cause });
  }
  const wanted = name ? [name] : ['worker', 'default'];
  const exported = wanted.map((key) => found[key] ?? found.default?.[key]).find((value) => value instanceof OJSWorker);
  if (exported === undefined) throw new Error(`${file} exports no OJSWorker as ${wanted.join(' or ')}`);
  exported.configure(settings);
  await exported.run();
}

/** Writes one line per record to stderr. */
function logger(format) {
  const write = (level) => (message) => {
    const timestamp = new Date().toISOString();
    const line = format === 'json' ? JSON.stringify({ timestamp, level, message }) : `${timestamp} ${level} ${message}`;
    process.stderr.write(`${line}\n`);
  };
  return { error: write('ERROR'), warn: write('WARN'), info: write('INFO'), debug: write('DEBUG') };
}

async function main() {
  const invocation = { program: 'npx ojs', target: 'FILE[:NAME]', arguments: process.argv.slice(2),
    about_target: "the OJSWorker that a module exports as 'worker', as default, or under NAME" };
  const said = JSON.parse(native(() => binding.readCommand(JSON.stringify(invocation))));
  if ('exit' in said) {
    process.stdout.write(said.out);
    process.stderr.write(said.err);
    process.exitCode = said.exit;
    return;
  }
  setLogger(logger(said.log_format), { level: said.log_level });
  await (said.command === 'server' ? server(said.settings) : worker(said.settings, said.target));
}

main().catch((error) => {
  process.stderr.write(`ojs: ${error.message}\n`);
  process.exitCode = 2;
});
