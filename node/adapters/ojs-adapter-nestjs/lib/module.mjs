// The module: `OjsModule.forRoot({ url, database })`.
import { Module } from '@nestjs/common';
import { APP_INTERCEPTOR, DiscoveryModule, DiscoveryService, MetadataScanner } from '@nestjs/core';
import { OjsInterceptor } from './interceptor.mjs';
import { OjsService } from './service.mjs';
import { OjsWorkerHost } from './worker.mjs';

/** The options of the module, for classes that want them injected. */
export const OJS_OPTIONS = Symbol.for('ojs-adapter-nestjs:options');

/** Provides `OjsService` everywhere, runs the handlers and the relay, hands on what requests say. */
export class OjsModule {
  /** With options that are known. */
  static forRoot(options = {}) {
    return dynamic({ provide: OJS_OPTIONS, useValue: options });
  }

  /** With options that other providers know: `{ imports, inject, useFactory }`. */
  static forRootAsync({ imports = [], inject = [], useFactory }) {
    return dynamic({ provide: OJS_OPTIONS, inject, useFactory }, imports);
  }
}
Module({})(OjsModule);

function dynamic(options, imports = []) {
  return {
    module: OjsModule,
    global: true,
    imports: [DiscoveryModule, ...imports],
    providers: [
      options,
      { provide: OjsService, inject: [OJS_OPTIONS], useFactory: ({ worker: _worker, userId: _user, tenantId: _tenant, ...outbox }) => new OjsService(outbox) },
      { provide: OjsWorkerHost, inject: [OjsService, OJS_OPTIONS, DiscoveryService, MetadataScanner], useFactory: (...parts) => new OjsWorkerHost(...parts) },
      { provide: APP_INTERCEPTOR, inject: [OJS_OPTIONS], useFactory: (given) => new OjsInterceptor(given) },
    ],
    exports: [OjsService, OJS_OPTIONS],
  };
}
