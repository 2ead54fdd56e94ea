// Bytes of streams, read up to a limit.
import { joined } from './bytes.mjs';

/**
 * The bytes of a stream or another iterable of chunks; undefined, and reading has ended, when there are more than
 * `most`.
 */
export async function collected(chunks, most) {
  const parts = [];
  let size = 0;
  for await (const chunk of iterable(chunks)) {
    const part = typeof chunk === 'string' ? new TextEncoder().encode(chunk) : chunk;
    size += part.length;
    if (size > most) return undefined;
    parts.push(part);
  }
  return joined(parts);
}

/** The same; too many bytes are an error. */
export async function bounded(chunks, most) {
  const bytes = await collected(chunks, most);
  if (bytes === undefined) throw new RangeError(`more than ${most} bytes`);
  return bytes;
}

/** Not every runtime can iterate over a ReadableStream. */
async function* iterable(chunks) {
  if (typeof chunks?.getReader !== 'function') {
    yield* chunks ?? [];
    return;
  }
  const reader = chunks.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield value;
    }
  } finally {
    await reader.cancel().catch(() => {});
  }
}
