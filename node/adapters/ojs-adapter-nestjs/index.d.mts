import type { CallHandler, DynamicModule, ExecutionContext, ModuleMetadata, NestInterceptor, OnApplicationBootstrap, OnApplicationShutdown, BeforeApplicationShutdown } from '@nestjs/common';
import type { JobDefaults, OJSWorker, WorkerOptions } from '@openjobspec/sdk';
import { Outbox } from '@openjobspec/sdk/outbox';
import type { OutboxOptions } from '@openjobspec/sdk/outbox';
import type { Observable } from 'rxjs';

export { instrument, requestContext, transaction } from '@openjobspec/sdk/outbox';

/** Settings of the module: those of the outbox, and these. */
export interface OjsModuleOptions extends OutboxOptions {
  /** Settings of the worker that runs the handlers; false where another process does. It shares the client. */
  worker?: Omit<WorkerOptions, 'client' | 'handleSignals'> | false;
  /** Who makes the request; `request.user?.id`. Asked when a job is made. */
  userId?: (request: any) => unknown;
  /** Whose request it is; without it the header `X-OJS-Tenant`. */
  tenantId?: (request: any) => unknown;
}
export interface OjsModuleAsyncOptions extends Pick<ModuleMetadata, 'imports'> {
  inject?: any[];
  useFactory: (...args: any[]) => OjsModuleOptions | Promise<OjsModuleOptions>;
}

/** Provides {@link OjsService} everywhere, runs the handlers and the relay, hands on what requests say. */
export class OjsModule {
  static forRoot(options?: OjsModuleOptions): DynamicModule;
  static forRootAsync(options: OjsModuleAsyncOptions): DynamicModule;
}
/** The options of the module, for classes that want them injected. */
export const OJS_OPTIONS: unique symbol;

/** Enqueues jobs, at once or with a transaction. Its relay starts with the application, and is flushed and stopped with it. */
export class OjsService extends Outbox implements OnApplicationBootstrap, OnApplicationShutdown {
  onApplicationBootstrap(): Promise<void>;
  onApplicationShutdown(): Promise<void>;
}
/**
 * Method decorator: the method handles jobs of this type (`*`: all others). It gets the `JobContext`; what it returns
 * is the result. `options` hold for all jobs of the type that this process enqueues, with `worker: false` too; the
 * options of a call win.
 */
export function OjsHandler(type: string, options?: JobDefaults): MethodDecorator;
/** The worker of the application; `worker` is undefined before the start, and where there are no handlers. */
export class OjsWorkerHost implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private constructor();
  readonly worker?: OJSWorker;
  onApplicationBootstrap(): Promise<void>;
  beforeApplicationShutdown(): Promise<void>;
}
/** Binds the metadata of HTTP requests; the module does so by itself. */
export class OjsInterceptor implements NestInterceptor {
  constructor(options?: Pick<OjsModuleOptions, 'userId' | 'tenantId'>);
  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown>;
}
