'use strict';

/**
 * Values by small whole numbers that are used again. A Map would be slower: when it has replaced its table, the old
 * table refers to the new one, and V8 then keeps all that has been in the Map until it collects the whole heap.
 */
class Slots {
  #values = [];
  #size = 0;

  /** How many there are. */
  get size() {
    return this.#size;
  }

  get(slot) {
    return this.#values[slot];
  }

  set(slot, value) {
    if (this.#values[slot] === undefined) this.#size += 1;
    this.#values[slot] = value;
  }

  /** Removes a value; says which it was. */
  take(slot) {
    const value = this.#values[slot];
    if (value !== undefined) {
      this.#values[slot] = undefined;
      this.#size -= 1;
    }
    return value;
  }
}

module.exports = { Slots };
