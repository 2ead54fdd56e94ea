export { OjsInterceptor } from './lib/interceptor.mjs';
export { OJS_OPTIONS, OjsModule } from './lib/module.mjs';
export { OjsService } from './lib/service.mjs';
export { OjsHandler, OjsWorkerHost } from './lib/worker.mjs';
export { instrument, requestContext, transaction } from '@openjobspec/sdk/outbox';
