import { ojsMiddleware } from 'ojs-adapter-express';
import adapter = require('ojs-adapter-express');

const middleware: adapter.OjsMiddleware = ojsMiddleware({ url: 'memory:' });
middleware.outbox.wake();
