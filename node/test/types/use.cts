import { OJSClient, OJSWorker } from '@openjobspec/sdk';
import sdk = require('@openjobspec/sdk');

const client: OJSClient = new sdk.OJSClient('memory:');
const worker: OJSWorker = new sdk.OJSWorker({ client });
worker.register('*', (ctx) => ctx.job.maxAttempts);
