// The point in time at which a function has to have answered.

/**
 * A platform's limit less a margin for the answer, both in milliseconds, on a clock that only grows. Of a short limit
 * half is kept as a margin at most: a function with three seconds works one and a half.
 */
export class Deadline {
  #clock;
  #end;

  constructor(limit, margin, clock = () => performance.now()) {
    this.#clock = clock;
    this.#end = limit === undefined ? undefined : clock() + limit - Math.min(margin, limit / 2);
  }

  /** That of an invocation of AWS Lambda; without one where the context does not say (a test of the application's). */
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
