// Made from node/lib/middleware.cjs by scripts/edge.py (make gen); do not edit.
import errors from './errors.mjs';
// Named layers around an enqueue or a handler. The first one added is the outermost.
const { OJSMiddlewareError } = errors;

const wrong = (message) => new OJSMiddlewareError(message, { code: 'middleware' });

// gen:node/enqueue_order.j2 (make gen; do not edit)
/**
 * The layers around an enqueue whose order the specification fixes, outermost first ("Extension Interactions", section 14). Layers
 * with other names may stand anywhere.
 */
const ENQUEUE_ORDER = ['trace_inject', 'auth', 'validate', 'unique', 'rate_limit', 'encrypt'];
// gen:end

class MiddlewareChain {
  #layers = [];
  #frozen = false;
  #order;

  constructor(order = []) {
    this.#order = order;
  }

  /** Adds the innermost layer. The name may be left out. */
  add(name, layer) {
    if (typeof name === 'function') [name, layer] = [this.#freeName(name), name];
    this.#insert(this.#layers.length, name, layer);
    return this;
  }

  /** Adds the outermost layer. */
  prepend(name, layer) {
    if (typeof name === 'function') [name, layer] = [this.#freeName(name), name];
    this.#insert(0, name, layer);
    return this;
  }

  /** Adds a layer just outside another. */
  insertBefore(existing, name, layer) {
    this.#insert(this.#index(existing), name, layer);
    return this;
  }

  /** Adds a layer just inside another. */
  insertAfter(existing, name, layer) {
    this.#insert(this.#index(existing) + 1, name, layer);
    return this;
  }

  /** Takes a layer out. */
  remove(name) {
    this.#checkOpen();
    this.#layers.splice(this.#index(name), 1);
    return this;
  }

  /** The names, outermost first. */
  names() {
    return this.#layers.map(([name]) => name);
  }

  /** The layers, outermost first. The chain may not change from now on. */
  freeze() {
    this.#frozen = true;
    return this.#layers.map(([, layer]) => layer);
  }

  #insert(index, name, layer) {
    this.#checkOpen();
    if (typeof name !== 'string' || name === '') throw wrong(`a middleware needs a name, got ${String(name)}`);
    if (typeof layer !== 'function') throw wrong(`middleware '${name}' must be a function, got ${typeof layer}`);
    if (this.names().includes(name)) throw wrong(`there is a middleware named '${name}' already; remove it first`);
    this.#checkOrder(index, name);
    this.#layers.splice(index, 0, [name, layer]);
  }

  #checkOrder(index, name) {
    const own = this.#order.indexOf(name);
    if (own < 0) return;
    this.names().forEach((other, at) => {
      const its = this.#order.indexOf(other);
      if (its < 0 || (its < own) === (at < index)) return;
      throw wrong(`'${name}' must stand ${its < own ? 'after' : 'before'} '${other}': the order is ${this.#order.join(', ')}`);
    });
  }

  #index(name) {
    const index = this.names().indexOf(name);
    if (index < 0) throw wrong(`there is no middleware named '${name}'; there is: ${this.names().join(', ') || 'none'}`);
    return index;
  }

  #checkOpen() {
    if (this.#frozen) throw wrong('the chain is in use: change middleware before the first job');
  }

  #freeName(layer) {
    const base = layer.name || 'middleware';
    let name = base;
    for (let count = 2; this.names().includes(name); count += 1) name = `${base}-${count}`;
    return name;
  }
}

/** Lets a layer call `next` once: a second run of what is inside would be a second job. */
function once(inner) {
  let called = false;
  return (...args) => {
    if (called) throw wrong('a middleware called next() twice');
    called = true;
    return inner(...args);
  };
}

/** One function out of the layers and what is inside them; `next()` without an argument passes on what the layer got. */
function compose(layers, inner) {
  return layers.reduceRight(
    (call, layer) => async (subject) => layer(subject, once(async (changed) => call(changed === undefined ? subject : changed))), inner);
}

const exported = { ENQUEUE_ORDER, MiddlewareChain, compose };

export default exported;
