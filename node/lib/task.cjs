'use strict';
// A registered handler with its job type, as those who enqueue its jobs see it; and what defaults may be.
const { OJSValidationError } = require('./errors.cjs');
const { JobRequest } = require('./job.cjs');

/** A job type that has a handler: `enqueue('ada@example.com')` sends a job of it, with these arguments. */
class Task {
  #worker;
  #options;

  constructor(worker, type, options = {}) {
    this.#worker = worker;
    this.#options = options;
    this.type = type;
  }

  /** Sends a job with these arguments, through the worker's client. */
  enqueue(...args) {
    return this.#worker.client.enqueue(this.type, args, this.#options);
  }

  /** The job, not sent: for a batch, a workflow, an outbox or another client. */
  request(...args) {
    return new JobRequest(this.type, args, this.#options);
  }

  /** The same task with options for its next jobs: `sendEmail.options({ delay: '5m' }).enqueue('ada@example.com')`. */
  options(options) {
    const next = new Task(this.#worker, this.type, { ...this.#options, ...options });
    next.request().toJSON(); // refuses what is wrong
    return next;
  }
}

const MEMBERS = ['type', 'enqueue', 'request', 'options'];

/** The worker with the members of a task beside its own: register() can be chained, and what it returns enqueues. */
function asTask(worker, task) {
  return new Proxy(worker, {
    get(target, name) {
      const owner = MEMBERS.includes(name) ? task : target;
      const member = Reflect.get(owner, name, owner);
      // Private members are the object's own, not the proxy's.
      return typeof member === 'function' && name !== 'constructor' ? member.bind(owner) : member;
    },
    set: (target, name, value) => Reflect.set(target, name, value, target),
    has: (target, name) => MEMBERS.includes(name) || Reflect.has(target, name),
  });
}

/** Options that belong to one job, and not to all of a type. */
const OF_ONE_JOB = ['id', 'meta', 'schema', 'delayUntil', 'delay_until', 'expiresAt', 'expires_at', 'tenant', 'signal'];

/** Options for all jobs of a type that this process enqueues, but where a job says otherwise. */
function setDefaults(type, options) {
  const own = OF_ONE_JOB.find((name) => Object.hasOwn(options, name));
  if (own !== undefined) throw new OJSValidationError(`'${own}' belongs to one job, and register() sets defaults for all of '${type}': give it to enqueue()`);
  if (type === '*') throw new OJSValidationError("'*' stands for types without a name, and defaults belong to one type: register that type");
  JobRequest.setDefaults(type, options);
}

module.exports = { Task, asTask, setDefaults };
