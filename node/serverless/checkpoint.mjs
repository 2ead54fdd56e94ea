// What a run keeps for later attempts: the document of core/sdk/src/worker/durable.rs. Without steps it is what the
// handler has saved; with steps it is { "$ojs.state": …, "$ojs.steps": { name: result } }.
import errors from '#core/errors';
import json from '#core/json';
import { isObject } from './delivery.mjs';

const STATE = '$ojs.state';
const STEPS = '$ojs.steps';
const MAX_NAME = 255;

function documentOf(state, steps) {
  // A document of the handler that looks like one with steps is put into one, or it would be read as one.
  const reserved = isObject(state) && (STATE in state || STEPS in state);
  if (state !== undefined && Object.keys(steps).length === 0 && !reserved) return state;
  return { ...(state === undefined ? {} : { [STATE]: state }), [STEPS]: steps };
}

/** The document of one run. Every save goes to the server, and is kept when the server has confirmed it. */
export class Checkpoint {
  #state;
  #steps = {};
  // Saves of one run come one after the other.
  #turn = Promise.resolve();

  constructor(delivered) {
    const document = delivered?.state ?? undefined;
    const both = isObject(document) && isObject(document[STEPS]);
    this.#state = both ? document[STATE] : document;
    if (both) this.#steps = { ...document[STEPS] };
  }

  /** What was saved, as JSON text; undefined when there is nothing. */
  saved(step) {
    if (step === undefined) return this.#state === undefined ? undefined : json.stringify(this.#state);
    return Object.hasOwn(this.#steps, step) ? json.stringify(this.#steps[step]) : undefined;
  }

  /** Sends the document with this change by `put`; resolves to what that resolves to, the sequence. */
  save(step, text, put) {
    const saving = this.#turn.then(() => this.#save(step, json.parse(text), put));
    this.#turn = saving.catch(() => {});
    return saving;
  }

  async #save(step, value, put) {
    if (step === undefined && value === null)
      throw new errors.OJSValidationError('a checkpoint must not be null: delete it instead');
    const length = step === undefined ? 1 : new TextEncoder().encode(step).length;
    if (length < 1 || length > MAX_NAME)
      throw new errors.OJSValidationError(`the name of a step has 1 to ${MAX_NAME} bytes`);
    const state = step === undefined ? value : this.#state;
    const steps = step === undefined ? this.#steps : { ...this.#steps, [step]: value };
    const sequence = await put(documentOf(state, steps));
    this.#state = state;
    this.#steps = steps;
    return sequence;
  }
}
