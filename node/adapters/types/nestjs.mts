import { Controller, Module, Post } from '@nestjs/common';
import { OjsHandler, OjsModule, OjsService } from 'ojs-adapter-nestjs';
import type { JobContext } from '@openjobspec/sdk';

@Controller('signup')
class Signup {
  constructor(private readonly ojs: OjsService) {}

  @Post()
  async create(): Promise<string> {
    return (await this.ojs.transaction(() => this.ojs.enqueueAfterCommit('email.welcome', [1]))).id;
  }

  @OjsHandler('email.welcome', { queue: 'mail', retry: 5, timeout: '30s' })
  async welcome(ctx: JobContext<[number]>): Promise<number> {
    return ctx.args[0];
  }
}

@Module({ imports: [OjsModule.forRoot({ url: 'memory:', worker: { concurrency: 5 } })], controllers: [Signup] })
export class AppModule {}

@Module({ imports: [OjsModule.forRootAsync({ inject: ['URL'], useFactory: (url: string) => ({ url, worker: false }) })] })
export class Other {}

// @ts-expect-error there is no such option
OjsHandler('email.welcome', { retries: 5 });
// @ts-expect-error a type is a text
OjsHandler(7);
