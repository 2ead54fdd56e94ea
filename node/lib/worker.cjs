'use strict';
// The consumer's side: register handlers, run them.
const { EventEmitter } = require('node:events');
const binding = require('./native.cjs');
const { known } = require('./calls.cjs');
const { OJSClient } = require('./client.cjs');
const { JobContext, inside } = require('./context.cjs');
const { OJSValidationError, native } = require('./errors.cjs');
const { millis } = require('./durations.cjs');
const { packOutcomes, readJobs } = require('./frame.cjs');
const { checkHandler, wrap } = require('./handlers.cjs');
const { loop } = require('./loop.cjs');
const logs = require('./logs.cjs');
const { MiddlewareChain } = require('./middleware.cjs');
const { shown } = require('./options.cjs');
const outcomes = require('./outcome.cjs');
const { WORKER, workerSettings } = require('./settings.cjs');
const { onSignals } = require('./signals.cjs');
const { Slots } = require('./slots.cjs');
const { Task, asTask, setDefaults } = require('./task.cjs');
const { Transport, TransportServer, checkSettings, environment, settingsOf } = require('./transport.cjs');
const { Versions } = require('./versions.cjs');

/** Settings beside those of a connection. */
const SETTINGS = ['client', ...WORKER, 'shutdownTimeout', 'handleSignals'];
/** The most jobs taken at a time. */
const BATCH = 256;
/** What a process that ends gives its workers, in milliseconds. */
const EXIT = 2000;
// gen:node/worker_states.j2 (make gen; do not edit)
/** By number of the core. */
const STATES = ['running', 'quiet', 'terminate', 'stopped'];
// gen:end

/** Workers that run in this thread. */
const live = new Set();
let exitHook = false;

function giveBackAtExit() {
  if (exitHook) return;
  exitHook = true;
  process.on('exit', () => {
    live.forEach((worker) => worker.finish(EXIT));
    logs.carry(); // the core logs which jobs it gives back
  });
}

class OJSWorker extends EventEmitter {
  #client;
  #ownTransport;
  #settings;
  #handlers = new Map();
  #versions = new Map();
  // Queues that jobs go to by default, by type.
  #elsewhere = new Map();
  #calls;
  #native;
  #server;
  #id;
  #over;
  #signals;
  #handleSignals;
  #stopAtStart = false;
  // What runs, by the low half of its token: unique among the jobs that are held.
  #running = new Slots();
  #done = [];
  #busy = 0;
  #flushing = false;
  #full = false;
  #closed = false;

  constructor(options = {}, ...more) {
    super();
    const given = settingsOf(options, more, 'queues');
    const connection = Object.fromEntries(Object.entries(given).filter(([name]) => !SETTINGS.includes(name)));
    checkSettings(connection, SETTINGS);
    const { client, queues, concurrency, shutdownTimeout, handleSignals = false } = given;
    this.#client = client;
    this.#ownTransport = client ? undefined : new Transport(connection);
    this.#handleSignals = handleSignals;
    this.middleware = new MiddlewareChain();
    const said = environment();
    this.#settings = {
      queues: names(queues ?? said.queues),
      concurrency: slots(concurrency ?? said.concurrency),
      ...workerSettings({ ...given, gracePeriod: given.gracePeriod ?? shutdownTimeout }, said),
    };
  }

  // --- before the start ---

  /**
   * Registers the handler of a job type; `*` stands for every other type. `defaults` are options for all jobs of the type that this process
   * enqueues: `{ queue: 'mail', retry: 5, timeout: '30s' }`. Returns the worker, which enqueues jobs of this type, too: see Task.
   *
   * `version: '2.1'` is one of them, and says for which version of the arguments the handler is written as well:
   * where the server has job versioning, it gives this worker jobs of version 2, those without a version, and those
   * whose arguments a transform brings to version 2. `versions: ['>=2.0 <4.0']` names other ranges.
   */
  register(type, handler, defaults) {
    this.#checkNew('register handlers');
    if (typeof type !== 'string' || type === '') throw new OJSValidationError('register(type, handler) needs a job type');
    checkHandler(type, handler);
    if (this.#handlers.has(type)) throw new OJSValidationError(`a handler for '${type}' is registered already`);
    const { versions, ...options } = defaults ?? {};
    if (defaults !== undefined) setDefaults(type, options);
    if (versions !== undefined || options.version !== undefined) this.#versionsOf(type).take(options.version, versions);
    this.#handlers.set(type, handler);
    if (defaults?.queue !== undefined) this.#elsewhere.set(type, defaults.queue);
    return asTask(this, new Task(this, type));
  }

  /**
   * Registers how arguments of version `from` become those of version `to`: `change` gets the array of arguments, and
   * returns one or a promise of one. Changes are made one after the other, before the middleware and the handler see
   * the job, as long as there is one for the version that the arguments have then. One that throws ends the job with
   * the code `version_transform`. A job that no change brings to a version of its handler fails with the code
   * `unsupported_version`, or goes back to its queue (`unknownTypes: 'release'`).
   */
  transform(type, from, to, change) {
    this.#checkNew('register transforms');
    this.#versionsOf(type).add(type, from, to, change);
    return this;
  }

  /** What tasks enqueue with: the client that the worker was given, else one on the worker's own connection. */
  get client() {
    return (this.#client ??= new OJSClient(this.#ownTransport));
  }

  /** Adds a layer around every handler: `use([name,] async (ctx, next) => next())`. */
  use(name, layer) {
    this.middleware.add(name, layer);
    return this;
  }

  /** Changes what was given at creation, before the start: what a command line overrides. */
  configure(settings = {}) {
    const { url, queues, concurrency } = known('setting', settings, ['url', 'queues', 'concurrency']);
    this.#checkNew('configure the worker');
    if (url !== undefined) {
      this.#client = undefined;
      this.#ownTransport = new Transport({ url });
    }
    if (queues !== undefined) this.#settings.queues = names(queues);
    if (concurrency !== undefined) this.#settings.concurrency = slots(concurrency);
    return this;
  }

  // --- running ---

  /** Connects and begins to work; resolves when it does. The process stays alive until the worker is over. */
  async start() {
    if (this.#native !== undefined) throw new OJSValidationError('a worker can be started once; make another one');
    if (this.#handlers.size === 0) throw new OJSValidationError('the worker has no handlers: register some before it starts');
    // Before the first job: what fails at once is a record already.
    logs.start();
    const calls = this.calls();
    const types = [...calls.keys()].filter((type) => type !== '*');
    const weak = new WeakRef(this);
    const settings = JSON.stringify({ types, fallback: calls.has('*'), versions: this.#said(), ...this.#settings });
    const core = native(() => new binding.Worker(this.#connection(), settings, () => weak.deref()?.#drain()));
    this.#native = core;
    this.#warnOfQueues();
    if (this.#handleSignals) this.#signals = onSignals(this);
    // Before the start: the first handler may end the process before the start is answered.
    live.add(this);
    giveBackAtExit();
    try {
      this.#id = await loop().call((replies, ticket) => core.start(replies, ticket));
    } catch (error) {
      this.#cleanUp();
      throw error;
    }
    this.#over = loop().call((replies, ticket) => core.wait(replies, ticket)).then(() => this.#ended());
    if (this.#stopAtStart) core.stop();
    return this;
  }

  /** Works until SIGTERM, SIGINT, stop(), or a directive of the server; resolves when it is over. */
  async run() {
    this.#handleSignals = true;
    await this.start();
    await this.#over;
  }

  /** Stops gracefully; resolves when it is over. `grace` instead of the grace period. May be called again. */
  async stop(grace) {
    if (this.#over === undefined) return;
    if (this.#native.phase < 2) native(() => this.#native.stop(millis('grace', grace)));
    await this.#over;
  }

  /** Begins to stop. A second call ends the grace period. */
  shutdown(grace) {
    if (this.#id === undefined) this.#stopAtStart = true;
    else native(() => this.#native.stop(millis('grace', grace)));
  }

  /** Fetches no more; what runs goes on. */
  quiet() {
    native(() => this.#core().quiet());
  }

  /** Fetches again after quiet(). */
  resume() {
    native(() => this.#core().resume());
  }

  /** Resolves when the worker is over. */
  async wait() {
    this.#core();
    await this.#over;
  }

  /** The worker's name on the server, once started. */
  get id() {
    return this.#id;
  }

  /** `new`, `running`, `quiet`, `terminate` or `stopped`. */
  get state() {
    return this.#native === undefined ? 'new' : STATES[this.#native.phase];
  }

  /** The queues, in order of preference. */
  get queues() {
    return [...this.#settings.queues];
  }

  /** Handlers that run now. */
  get activeJobs() {
    return this.#running.size;
  }

  async [Symbol.asyncDispose ?? Symbol.for('nodejs.asyncDispose')]() {
    await this.stop();
  }

  // --- for the package itself ---

  /** One function per job type, out of the handler and the middleware. */
  calls() {
    if (this.#calls === undefined) {
      const layers = this.middleware.freeze();
      this.#calls = new Map([...this.#handlers].map(([type, handler]) => {
        const call = wrap(layers, handler);
        return [type, this.#versions.get(type)?.around(call) ?? call];
      }));
    }
    return this.#calls;
  }

  /** At the end of the process: what still runs goes back to the queue. */
  finish(limit) {
    this.#native.finish(limit);
  }

  heartbeat(low, high) {
    return loop().call((replies, ticket) => this.#native.heartbeat(replies, ticket, low, high));
  }

  progress(low, high, fraction, message, data) {
    this.#native.progress(low, high, fraction, message, data);
  }

  save(low, high, step, text) {
    return loop().call((replies, ticket) => this.#native.save(replies, ticket, low, high, step, text));
  }

  saved(low, high, step) {
    return this.#native.saved(low, high, step);
  }

  // --- inside ---

  #versionsOf(type) {
    if (!this.#versions.has(type)) this.#versions.set(type, new Versions());
    return this.#versions.get(type);
  }

  /** What the versions of the handlers are, as the core reads it. */
  #said() {
    return Object.fromEntries([...this.#versions].map(([type, versions]) => [type, versions.said()]));
  }

  #warnOfQueues() {
    for (const [type, queue] of this.#elsewhere) {
      if (!this.#settings.queues.includes(queue)) {
        logs.warn(`jobs of type '${type}' go to the queue '${queue}', and this worker asks for ${this.#settings.queues.join(', ')} only`);
      }
    }
  }

  #checkNew(what) {
    if (this.#native !== undefined) throw new OJSValidationError(`${what} before the worker starts`);
  }

  #core() {
    if (this.#over === undefined) throw new OJSValidationError('the worker has not been started');
    return this.#native;
  }

  #connection() {
    const { connection, custom } = this.#client ? OJSClient.transportOf(this.#client) : this.#ownTransport;
    if (connection) return connection;
    this.#server = new TransportServer(custom);
    return this.#server.connection;
  }

  /** Called when there is something: cancellations, jobs, the end. */
  #drain() {
    const cancels = this.#native.cancels();
    for (let at = 0; at < cancels.length; at += 3) {
      const ctx = this.#running.get(cancels[at]);
      if (ctx && inside.high(ctx) === cancels[at + 1]) inside.cancel(ctx, cancels[at + 2]);
    }
    if (this.#closed) return;
    const free = this.#settings.concurrency - this.#running.size;
    const wanted = Math.min(free, BATCH);
    const frame = this.#native.drain(wanted);
    if (frame === null) {
      this.#closed = true;
      return;
    }
    const count = readJobs(frame, (head, envelope) => this.#begin(new JobContext(this, head, envelope)));
    this.#full = free <= BATCH && count === wanted;
    // More may wait, but others use this thread too.
    if (count === BATCH) setImmediate(() => this.#drain());
  }

  #begin(ctx) {
    const slot = inside.low(ctx);
    this.#running.set(slot, ctx);
    const began = performance.now();
    this.#attempt(ctx).then((outcome) => {
      this.#running.take(slot);
      this.#busy += performance.now() - began;
      this.#done.push(outcome);
      if (!this.#flushing) {
        this.#flushing = true;
        setImmediate(() => this.#flush());
      }
    });
  }

  async #attempt(ctx) {
    try {
      const call = this.#calls.get(ctx.type) ?? this.#calls.get('*');
      const outcome = outcomes.success(ctx, await call(ctx));
      this.#tell('completed', ctx);
      return outcome;
    } catch (error) {
      this.#tell('failed', ctx, error);
      return outcomes.failure(ctx, error);
    }
  }

  /** A listener that throws harms only itself. */
  #tell(event, ctx, error) {
    if (this.listenerCount(event) === 0) return;
    try {
      this.emit(event, ctx, error);
    } catch (thrown) {
      process.emitWarning(`a listener of '${event}' threw: ${thrown}`, 'OJSWarning');
    }
  }

  #flush() {
    this.#flushing = false;
    const done = this.#done;
    const busy = this.#busy;
    this.#done = [];
    this.#busy = 0;
    try {
      this.#native.complete(packOutcomes(done), busy);
    } catch (error) {
      // One of them is wrong: only that one fails.
      if (done.length > 1) done.forEach((outcome) => this.#completeAlone(outcome));
      else done.forEach((outcome) => this.#native.complete(packOutcomes([outcomes.unreadable(outcome.ctx, error)]), busy));
    }
    if (this.#full) {
      this.#full = false;
      this.#drain();
    }
  }

  #completeAlone(outcome) {
    try {
      this.#native.complete(packOutcomes([outcome]), 0);
    } catch (error) {
      this.#native.complete(packOutcomes([outcomes.unreadable(outcome.ctx, error)]), 0);
    }
  }

  #ended() {
    this.#cleanUp();
    this.emit('stopped');
  }

  #cleanUp() {
    live.delete(this);
    this.#signals?.();
    this.#signals = undefined;
    this.#server?.close();
  }
}

function names(queues) {
  const given = typeof queues === 'string' ? queues.split(',') : queues;
  if (!Array.isArray(given) || given.some((name) => typeof name !== 'string')) {
    throw new OJSValidationError(`queues is a list of names, such as ['mail', 'default']; got ${shown(queues)}`);
  }
  const list = given.map((name) => name.trim()).filter(Boolean);
  if (list.length === 0) throw new OJSValidationError('a worker needs at least one queue');
  return list;
}

function slots(concurrency) {
  const number = typeof concurrency === 'boolean' ? NaN : Number(concurrency);
  if (!Number.isInteger(number) || number < 1) throw new OJSValidationError(`concurrency must be at least 1, got ${concurrency}`);
  return number;
}

module.exports = { OJSWorker };
