// Bytes of texts, and of several parts.

/** The bytes of base64. Throws when the text is not base64. */
export const fromBase64 = (text) => Uint8Array.from(atob(text), (char) => char.charCodeAt(0));

/** The bytes of hexadecimal text; undefined when it is not hexadecimal. */
export const fromHex = (text) =>
  /^(?:[0-9a-f]{2})*$/i.test(text)
    ? Uint8Array.from(text.match(/../g) ?? [], (byte) => Number.parseInt(byte, 16))
    : undefined;

/** The bytes of all parts, one after the other. */
export function joined(parts) {
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  parts.reduce((at, part) => {
    whole.set(part, at);
    return at + part.length;
  }, 0);
  return whole;
}
