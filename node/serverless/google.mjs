// Google Cloud Functions: HTTP, and CloudEvents of Pub/Sub.
import platform from '#core/platform';
import { fromBase64 } from './bytes.mjs';
import { deliveryOf, invalid, read } from './delivery.mjs';
import { withDefaults } from './handler.mjs';
import { PushHandler } from './push.mjs';

/** See index.d.mts. */
export class GoogleHandler extends PushHandler {
  constructor(worker, settings) {
    // First-generation functions say their limit in the environment.
    const said = Number(platform.variables().FUNCTION_TIMEOUT_SEC);
    const limit = said > 0 ? { timeout: said * 1000 } : {};
    super(...withDefaults(limit, worker, settings));
  }

  /**
   * Runs the job in the data of a Pub/Sub message, or the job that is the event's data itself, and reports its
   * outcome.
   */
  async handleCloudEvent(event) {
    await this.finish(deliveryOf(dataOf(event)), this.within());
  }
}

function dataOf({ data }) {
  const encoded = data?.message?.data;
  if (encoded === undefined) return data;
  let body;
  try {
    body = fromBase64(encoded);
  } catch {
    throw invalid("'data' of the Pub/Sub message is not base64");
  }
  return read(body);
}
