// The point in time at which a function has to have answered.

/**
 * A platform's limit less a margin for the answer, both in milliseconds, on a clock that only grows. The margin
 * is at most half of the limit: a function with three seconds works for one and a half.
 */
export class Deadline {
  #clock;
  #end;

  constructor(limit, margin, clock = () => performance.now()) {
    this.#clock = clock;
    this.#end = limit === undefined ? undefined : clock() + limit - Math.min(margin, limit / 2);
  }

  /**
   * The deadline of an invocation of AWS Lambda. It has no limit when the context names none, as in tests of an
   * application.
   */
  static ofLambda(context, margin) {
    return new Deadline(context?.getRemainingTimeInMillis?.(), margin);
  }

  /** Milliseconds that are left, `most` at most; undefined without a limit. */
  left(most) {
    if (this.#end === undefined) return most;
    const left = Math.max(this.#end - this.#clock(), 0);
    return most === undefined ? left : Math.min(left, most);
  }

  get passed() {
    return this.left() === 0;
  }
}
