// What differs between Node.js and edge runtimes, here of Web APIs; ../../lib/platform.cjs has the same of Node.js.
const tag = (value) => Object.prototype.toString.call(value).slice(8, -1);
const is =
  (...names) =>
  (value) =>
    typeof value === 'object' && value !== null && names.includes(tag(value));

/** The tests of values that Node.js has in `util.types`. */
const types = {
  isAnyArrayBuffer: is('ArrayBuffer', 'SharedArrayBuffer'),
  isBoxedPrimitive: (value) => [Boolean, Number, String, Symbol, BigInt].some((kind) => value instanceof kind),
  isDataView: is('DataView'),
  isDate: (value) => value instanceof Date,
  isMap: is('Map'),
  isNativeError: (value) => value instanceof Error,
  isPromise: (value) => value instanceof Promise,
  isRegExp: is('RegExp'),
  isSet: is('Set'),
  isWeakMap: is('WeakMap'),
  isWeakSet: is('WeakSet'),
};

/** Text that UTF-8 has a form for. */
const clean = (value) => new TextDecoder().decode(new TextEncoder().encode(value));
const isBuffer = () => false;
/** Whether a line of a stack is of this package: a bundle does not show that. */
const isOwnFrame = () => false;
/** Asks for randomness when it is called: edge runtimes may have none before the first request. */
function randomUUID() {
  return globalThis.crypto.randomUUID();
}
/** Environment variables, where the runtime has some. */
const variables = () => globalThis.process?.env ?? {};

export default { clean, isBuffer, isOwnFrame, randomUUID, types, variables, webcrypto: globalThis.crypto };
