import { OJSWorker } from '@openjobspec/sdk';

const worker = new OJSWorker({ queues: ['mail'] });
const sendEmail = worker.register<[to: string]>('email.send', async (ctx) => {
  console.log('to', ctx.args[0]);
}, { queue: 'mail', retry: 5, timeout: '30s' });

await sendEmail.enqueue('ada@example.com');
await sendEmail.options({ delay: '5m' }).enqueue('bob@example.com');
await worker.client.enqueueBatch([sendEmail.request('a@example.com'), sendEmail.request('b@example.com')]);
