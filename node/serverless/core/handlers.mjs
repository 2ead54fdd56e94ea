// Made from node/lib/handlers.cjs by scripts/edge.py (make gen); do not edit.
import errors from './errors.mjs';
import middleware from './middleware.mjs';
// Which functions are handlers, and what runs for one inside its middleware: in workers and in functions.
const { OJSValidationError } = errors;
const { compose } = middleware;

const UNCALLED = new Set(['GeneratorFunction', 'AsyncGeneratorFunction']);

/** Refuses what cannot be called as a handler: with the context of the job, and nothing else. */
function checkHandler(type, handler) {
  const wrong = (why) => new OJSValidationError(`the handler of '${type}' ${why}`);
  if (typeof handler !== 'function') throw wrong('must be a function, such as async (ctx) => { … ctx.args[0] … }');
  if (UNCALLED.has(handler.constructor?.name)) {
    throw wrong('is a generator function, which would not run: write async (ctx) => { … }');
  }
  if (/^class\b/.test(Function.prototype.toString.call(handler))) {
    throw wrong('is a class: pass (ctx) => new TheClass().run(ctx)');
  }
  if (handler.length > 1) {
    const called = `takes ${handler.length} parameters, and is called with the context alone`;
    throw wrong(`${called}: write async (ctx) => { const [a, b] = ctx.args; … }`);
  }
}

/** A layer that forgets to return what next() gave does not lose the result. */
function wrap(layers, handler) {
  if (layers.length === 0) return handler;
  return compose(layers, async (ctx) => {
    const result = await handler(ctx);
    if (result !== undefined) ctx.setResult(result);
    return result;
  });
}

const exported = { checkHandler, wrap };

export default exported;
