// The outbox as the middleware makes it, with every driver.
import { Outbox } from '@openjobspec/sdk/outbox';
import { matrix } from './matrix.mjs';
import { defer } from './support.mjs';

matrix((t, options) => {
  const outbox = new Outbox(options);
  defer(t, () => outbox.close(0));
  return outbox;
});
