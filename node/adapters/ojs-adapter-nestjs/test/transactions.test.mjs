// The injected service, with every driver: what the outbox promises holds behind Nest's life cycle too.
import 'reflect-metadata';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { matrix } from '../../ojs-adapter-express/test/matrix.mjs';
import { defer } from '../../ojs-adapter-express/test/support.mjs';
import { OjsModule, OjsService } from '../index.mjs';

matrix(async (t, options) => {
  class App {}
  Module({ imports: [OjsModule.forRoot(options)] })(App);
  const app = await NestFactory.createApplicationContext(App, { logger: false, abortOnError: false });
  defer(t, () => app.close());
  return app.get(OjsService);
});
