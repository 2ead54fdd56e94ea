'use strict';
// Finds the native half: beside this package (a build of your own), else in the package for this platform.
const { existsSync } = require('node:fs');
const path = require('node:path');
const { version } = require('../package.json');

function platform() {
  const { platform, arch } = process;
  if (platform !== 'linux') return `${platform}-${arch}`;
  process.report.excludeNetwork = true; // the report would look up host names otherwise
  const glibc = process.report.getReport().header.glibcVersionRuntime;
  return `${platform}-${arch}-${glibc ? 'gnu' : 'musl'}`;
}

function load() {
  const name = platform();
  const beside = path.join(__dirname, '..', `ojs.${name}.node`);
  let native;
  try {
    native = existsSync(beside) ? require(beside) : require(`@openjobspec/sdk-${name}`);
  } catch (cause) {
    throw new Error(`@openjobspec/sdk has no native part for ${name}: install @openjobspec/sdk-${name}, or build it (scripts/node.sh)`, { cause });
  }
  if (native.version() !== version) {
    throw new Error(`@openjobspec/sdk ${version} found version ${native.version()} of its native part: install both anew`);
  }
  return native;
}

module.exports = load();
