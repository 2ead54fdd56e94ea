// Which push deliveries have been answered lately: one that arrives twice gets the first answer, and runs once.

/** Deliveries that are remembered at most, and the length of their answers. */
const ENTRIES = 4096;
const SIZE = 8 * 1024 * 1024;

/** Answers by delivery, bounded in number, size and time (milliseconds). */
export class Replays {
  #known = new Map();
  #size = 0;
  #age;
  #clock;
  #entries;
  #most;

  constructor(age, { clock = () => performance.now(), entries = ENTRIES, size = SIZE } = {}) {
    this.#age = age;
    this.#clock = clock;
    this.#entries = entries;
    this.#most = size;
  }

  /**
   * The answer of a delivery: that of its first arrival, else what `run` resolves to. A delivery whose run rejects is
   * forgotten.
   */
  once(delivery, run) {
    const old = this.#clock() - this.#age;
    this.#forget(({ since }) => since <= old || this.#size > this.#most);
    const known = this.#known.get(delivery);
    if (known !== undefined) return known.answer;
    this.#forget(() => this.#known.size >= this.#entries);
    const entry = { since: this.#clock(), size: 0, answer: run() };
    this.#known.set(delivery, entry);
    entry.answer.then(
      (answer) => this.#settled(delivery, entry, answer.body.length),
      () => this.#known.delete(delivery),
    );
    return entry.answer;
  }

  get count() {
    return this.#known.size;
  }

  #settled(delivery, entry, size) {
    if (this.#known.get(delivery) !== entry) return;
    entry.size = size;
    this.#size += size;
  }

  /** Drops the oldest delivery as long as `isOver` is true for its entry. */
  #forget(isOver) {
    for (const [delivery, entry] of this.#known) {
      if (!isOver(entry)) return;
      this.#known.delete(delivery);
      this.#size -= entry.size;
    }
  }
}
