'use strict';
// Calls to the core from one thread of JavaScript: each waits under a ticket, the core rings once for many answers.
const { setInterval } = require('node:timers'); // not the global one: tests replace it
const binding = require('./native.cjs');
const { fromNative, fromText } = require('./errors.cjs');

const FOR_EVER = 0x7fffffff;

class Loop {
  #replies = new binding.Replies(() => this.#drain());
  #waiting = new Map();
  #next = 1;
  // The bell does not keep the process alive; this does, while an answer is awaited.
  #alive = setInterval(() => {}, FOR_EVER).unref();

  /** `submit(replies, ticket)` starts a call of the core; the promise is its answer. */
  call(submit, signal) {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) {
        reject(signal.reason);
        return;
      }
      const ticket = this.#next++;
      const entry = { resolve, reject, signal, abort: undefined };
      this.#add(ticket, entry);
      if (signal) {
        entry.abort = () => this.#take(ticket)?.reject(signal.reason);
        signal.addEventListener('abort', entry.abort, { once: true });
      }
      try {
        submit(this.#replies, ticket);
      } catch (error) {
        this.#take(ticket).reject(fromNative(error));
      }
    });
  }

  #add(ticket, entry) {
    if (this.#waiting.size === 0) this.#alive.ref();
    this.#waiting.set(ticket, entry);
  }

  #take(ticket) {
    const entry = this.#waiting.get(ticket);
    if (entry === undefined) return undefined;
    this.#waiting.delete(ticket);
    if (this.#waiting.size === 0) this.#alive.unref();
    if (entry.abort) entry.signal.removeEventListener('abort', entry.abort);
    return entry;
  }

  #drain() {
    for (const { ticket, ok, text, number } of this.#replies.take()) {
      const entry = this.#take(ticket);
      if (entry === undefined) continue; // given up
      if (ok) entry.resolve(text ?? number);
      else entry.reject(fromText(text));
    }
  }
}

/** Nothing starts when the module is loaded. */
let shared;
const loop = () => (shared ??= new Loop());

module.exports = { loop };
