'use strict';
// Versions of the arguments of a job type: what a worker says about them, and the functions that change old arguments.
// Which jobs the worker takes and which changes are made is decided by the core; here the functions are called.
const binding = require('./native.cjs');
const { inside } = require('./context.cjs');
const { NonRetryableError, OJSValidationError, native } = require('./errors.cjs');

/** What a worker says about the versions of one job type. */
class Versions {
  #version;
  #ranges;
  #changes = [];

  /** What a registration says: the version that the handler is written for, and other ranges. */
  take(version, ranges) {
    if (version !== undefined && version !== null) this.#version = String(version);
    if (ranges !== undefined && ranges !== null) this.#ranges = typeof ranges === 'string' ? [ranges] : [...ranges];
  }

  /** A further change. The core refuses it when the worker starts, should it contradict the others. */
  add(type, from, to, change) {
    if (typeof change !== 'function') {
      throw new OJSValidationError(`transform('${type}', from, to, change) needs a function`);
    }
    this.#changes.push({ from: String(from), to: String(to), change });
  }

  /** As the core reads it. */
  said() {
    const transforms = this.#changes.map(({ from, to }) => [from, to]);
    return { version: this.#version, versions: this.#ranges, transforms };
  }

  /** The call of the type, with the arguments changed before it runs. */
  around(call) {
    if (this.#changes.length === 0) return call;
    const said = JSON.stringify(this.said());
    return async (ctx) => {
      const envelope = Buffer.from(inside.envelope(ctx));
      const numbers = native(() => binding.versionChanges(ctx.type, said, envelope));
      for (const number of JSON.parse(numbers)) await changed(ctx, this.#changes[number]);
      return call(ctx);
    };
  }
}

const wrong = (message, cause) => new NonRetryableError(message, { code: 'version_transform', cause });

async function changed(ctx, { to, change }) {
  let args;
  try {
    args = await change(ctx.args);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw wrong(`The arguments cannot become those of version ${to}: ${why}`, error);
  }
  if (!Array.isArray(args)) {
    throw wrong(`The transform to version ${to} must return an array of arguments.`);
  }
  Object.assign(ctx.job, { args, version: to });
}

module.exports = { Versions };
