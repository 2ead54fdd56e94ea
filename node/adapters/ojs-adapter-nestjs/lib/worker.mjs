// The handlers of an application, found by their decorator, and the worker that runs them.
import { Logger, SetMetadata } from '@nestjs/common';
import { OJSValidationError, OJSWorker } from '@openjobspec/sdk';
import { requestContext } from '@openjobspec/sdk/outbox';

const HANDLER = 'ojs:handler';
const NO_HANDLERS = 'OjsModule has settings of a worker, and no method of a provider or controller has @OjsHandler: '
  + 'no worker was started. Is the class with the handlers among the providers of a module?';

/**
 * Method decorator: the method handles jobs of this type. It gets the `JobContext`; what it returns is the result.
 * Options hold for all jobs of the type that this process enqueues, also where its worker does not run; the options of
 * a call win.
 */
export const OjsHandler = (type, options) => SetMetadata(HANDLER, { type, options });

/** Starts a worker with the application where there are handlers, and stops it before anything that they use. */
export class OjsWorkerHost {
  #ojs;
  #options;
  #wanted; // The application has said something of a worker.
  #discovery;
  #scanner;

  constructor(ojs, { worker }, discovery, scanner) {
    this.#ojs = ojs;
    this.#options = worker ?? {};
    this.#wanted = Boolean(worker);
    this.#discovery = discovery;
    this.#scanner = scanner;
  }

  /** Called by Nest. */
  async onApplicationBootstrap() {
    const handlers = this.#handlers();
    if (handlers.length === 0) {
      if (this.#wanted) new Logger('OjsModule').warn(NO_HANDLERS);
      return;
    }
    const worker = new OJSWorker({ client: this.#ojs.client, ...(this.#options || undefined) });
    worker.use('ojs-request-context', requestContext.restored);
    // Registered in any case: that is what sets the defaults of the types.
    for (const [type, handler, options] of handlers) worker.register(type, handler, options);
    if (this.#options !== false) this.worker = await worker.start();
  }

  /** Called by Nest: running handlers may finish, for as long as the worker's `shutdownTimeout`. */
  async beforeApplicationShutdown() {
    await this.worker?.stop();
  }

  #handlers() {
    return this.#discovery.getProviders().concat(this.#discovery.getControllers()).flatMap((wrapper) => {
      const { metatype, instance } = wrapper;
      const prototype = typeof metatype === 'function' ? metatype.prototype : undefined;
      if (!prototype) return [];
      const found = this.#scanner.getAllMethodNames(prototype).map((name) => [Reflect.getMetadata(HANDLER, prototype[name]), name])
        .filter(([handler]) => handler !== undefined);
      if (found.length > 0 && !wrapper.isDependencyTreeStatic()) {
        throw new OJSValidationError(`${metatype.name} has handlers of jobs and belongs to a request: a job comes without one, so make it a singleton`);
      }
      return found.map(([{ type, options }, name]) => [type, (ctx) => instance[name](ctx), options]);
    });
  }
}
