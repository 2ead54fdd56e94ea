// An edge function of Vercel that runs jobs which a server pushes to its address.
import { NonRetryableError, VercelHandler } from '@openjobspec/sdk/serverless';

export const config = { runtime: 'edge' };

const handler = new VercelHandler();

handler.register('email.send', async (ctx) => {
  const [to] = ctx.args;
  if (!to.includes('@')) throw new NonRetryableError(`${to} is no address`, { code: 'invalid_address' });
  return { sent: true };
});

export default handler.fetch;
