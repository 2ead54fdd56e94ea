// What a request hands on to the jobs it makes.
import { requestContext } from '@openjobspec/sdk/outbox';
import { Observable } from 'rxjs';

const header = (request, name) => {
  const value = request.headers?.[name];
  return Array.isArray(value) ? value[0] : value;
};

/** Binds the metadata of HTTP requests; guards have run by then, so the user is known. */
export class OjsInterceptor {
  #userId;
  #tenantId;

  constructor({ userId = (request) => request.user?.id, tenantId } = {}) {
    this.#userId = userId;
    this.#tenantId = tenantId;
  }

  /** Called by Nest. */
  intercept(context, next) {
    if (context.getType() !== 'http') return next.handle();
    const request = context.switchToHttp().getRequest();
    const meta = () => requestContext.ofRequest((name) => header(request, name), {
      userId: this.#userId(request), tenantId: this.#tenantId?.(request),
    });
    return new Observable((subscriber) => requestContext.run(meta, () => next.handle().subscribe(subscriber)));
  }
}
