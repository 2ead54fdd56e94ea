// A Worker of Cloudflare that runs jobs from a queue, and those that a server pushes to its address.
import { CloudflareHandler, NonRetryableError } from '@openjobspec/sdk/serverless';

const handler = new CloudflareHandler();

handler.register('email.send', async (ctx) => {
  const [to] = ctx.args;
  if (!to.includes('@')) throw new NonRetryableError(`${to} is no address`, { code: 'invalid_address' });
  return { sent: true };
});

export default { fetch: handler.fetch, queue: handler.queue };
