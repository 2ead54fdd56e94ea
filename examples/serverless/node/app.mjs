// A function of AWS Lambda that runs jobs from SQS, and those that a server pushes to its address.
import { LambdaHandler, NonRetryableError } from '@openjobspec/sdk/serverless';

const ojs = new LambdaHandler();

ojs.register('email.send', async (ctx) => {
  const [to] = ctx.args;
  if (!to.includes('@')) throw new NonRetryableError(`${to} is no address`, { code: 'invalid_address' });
  return { sent: true };
});

export const handler = ojs.handle;
