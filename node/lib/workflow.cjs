'use strict';
// Workflows: pure functions that describe what belongs together. `client.workflow(…)` sends the description.
const { JobRequest } = require('./job.cjs');
const { OJSValidationError } = require('./errors.cjs');

const CALLBACKS = { on_complete: 'on_complete', onComplete: 'on_complete', on_success: 'on_success', onSuccess: 'on_success',
  on_failure: 'on_failure', onFailure: 'on_failure' };

/** A description, ready to be sent. May be a step of another one. */
class Workflow {
  constructor(type, steps, { name, callbacks, options } = {}) {
    if (steps.length === 0) throw new OJSValidationError('a workflow needs at least one job', { code: 'invalid_payload' });
    this.type = type;
    this.steps = steps.map((given) => (type === 'graph' ? nodeOf(given) : stepOf(given)));
    this.name = name;
    this.callbacks = callbacks;
    this.options = options;
  }

  /** The same with a name. */
  named(name) {
    return new Workflow(this.type, this.steps, { ...this, name });
  }

  /** The same with options for the workflow as a whole, by their names on the wire. */
  with(options) {
    return new Workflow(this.type, this.steps, { ...this, options: { ...this.options, ...options } });
  }

  /** The description as the wire has it. */
  toJSON() {
    const wire = { type: this.type };
    if (this.name !== undefined) wire.name = this.name;
    wire[this.type === 'chain' || this.type === 'graph' ? 'steps' : 'jobs'] = this.steps.map((step) => step.toJSON());
    if (this.callbacks) wire.callbacks = Object.fromEntries(Object.entries(this.callbacks).map(([name, job]) => [name, job.toJSON()]));
    if (this.options) wire.options = this.options;
    return wire;
  }
}

const refused = (why) => new OJSValidationError(why, { code: 'invalid_payload' });

/** A step of a graph, made by node(). */
class Node {
  constructor(id, step, { after = [] } = {}) {
    if (typeof id !== 'string') throw refused("a node has a name: node('report', step, { after: ['orders'] })");
    this.id = id;
    this.step = stepOf(step);
    this.after = typeof after === 'string' ? [after] : [...after];
  }

  /** The step as the wire has it. */
  toJSON() {
    const wire = { ...this.step.toJSON(), id: this.id };
    if (this.after.length > 0) wire.depends_on = this.after;
    return wire;
  }
}

function stepOf(given) {
  if (given instanceof Node) throw refused('a node is a step of a graph: pass it to graph(…)');
  return given instanceof Workflow ? given : JobRequest.of(given);
}

function nodeOf(given) {
  if (given instanceof Node) return given;
  throw refused('a graph is made of nodes: node(id, step, { after: […] })');
}

const flat = (steps) => (steps.length === 1 && Array.isArray(steps[0]) ? steps[0] : steps);

/** One after the other; every step sees the results of those before it as `ctx.parentResults`. */
const chain = (...steps) => new Workflow('chain', flat(steps));

/** A step of a graph: `id` is its name there, `after` names the nodes that must have completed before it begins. */
const node = (id, step, options) => new Node(id, step, options);

/** Each node runs as soon as those before it have completed, and sees their results as `ctx.parentResults`. */
const graph = (...nodes) => new Workflow('graph', flat(nodes));

/** All at the same time, in no order. */
const group = (...jobs) => new Workflow('group', flat(jobs));

/** All at the same time, then callbacks: `on_complete` in any case, `on_success` when all succeeded, `on_failure` when any failed. */
function batch(jobs, callbacks = {}) {
  const wanted = {};
  for (const [name, job] of Object.entries(callbacks)) {
    if (!Object.hasOwn(CALLBACKS, name)) {
      throw new OJSValidationError(`unknown callback '${name}': there are on_complete, on_success, on_failure`);
    }
    if (job !== undefined) wanted[CALLBACKS[name]] = JobRequest.of(job);
  }
  return new Workflow('batch', jobs, { callbacks: Object.keys(wanted).length > 0 ? wanted : undefined });
}

module.exports = { Workflow, Node, chain, group, batch, graph, node };
