// The types of the serverless part, as an application uses them. Compiled, not run.
import { OJSWorker } from '@openjobspec/sdk';
import {
  CloudflareHandler,
  LambdaHandler,
  NonRetryableError,
  PushHandler,
  type JobContext,
} from '@openjobspec/sdk/serverless';

const lambda = new LambdaHandler({ ojsUrl: 'https://ojs.example.com', encryptionKeys: { 'k-1': new Uint8Array(32) } });
lambda
  .use(async (ctx, next) => next())
  .register<[string, number]>('email.send', async (ctx) => {
    const [to, count]: [string, number] = ctx.args;
    if (ctx.signal.aborted) throw new NonRetryableError('late', { code: 'late' });
    return { to, count };
  });
export const handler = lambda.handleSQS;
const { batchItemFailures } = await handler({ Records: [] }, { getRemainingTimeInMillis: () => 3000 });
batchItemFailures.map(({ itemIdentifier }: { itemIdentifier: string }) => itemIdentifier);

const cloudflare = new CloudflareHandler({ signingSecret: ['whsec_new', 'whsec_old'] });
export default { fetch: cloudflare.fetch, queue: cloudflare.queue };

const shared = new PushHandler(new OJSWorker('http://localhost:8080'), { unsigned: true, timeout: 25_000 });
shared.register('a', (ctx: JobContext) => ctx.id);
const answer = await shared.answer('POST', { 'x-ojs-signature': 'sha256=' }, '{}');
answer.status satisfies number;

// @ts-expect-error: no such setting
new LambdaHandler({ urls: 'https://ojs.example.com' });
// @ts-expect-error: a handler gets the context alone
lambda.register('b', (ctx: JobContext, to: string) => to);
