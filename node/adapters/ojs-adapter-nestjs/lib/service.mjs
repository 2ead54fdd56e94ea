// The injectable: an outbox that lives as long as the application.
import { Injectable } from '@nestjs/common';
import { Outbox } from '@openjobspec/sdk/outbox';

/** Enqueues jobs, at once or with a transaction. Its relay starts with the application, and is flushed and stopped with it. */
export class OjsService extends Outbox {
  /** Called by Nest: rows that an earlier process left are sent now. */
  async onApplicationBootstrap() {
    await this.start();
  }

  /** Called by Nest, after the worker has stopped. */
  async onApplicationShutdown() {
    await this.close();
  }
}
Injectable()(OjsService);
