package org.openjobspec;

import java.nio.charset.StandardCharsets;

/**
 * JSON whose numbers are exact.
 *
 * <p>Objects are {@link java.util.Map}s in the order of the text, arrays {@link java.util.List}s; integers are {@link Long} or, when
 * larger, {@link java.math.BigInteger}; other numbers {@link java.math.BigDecimal}; null is {@code null}. Written are those, every
 * other {@link Number}, enums and {@link CharSequence}s as strings, times of {@code java.time} as ISO 8601, arrays, {@link Iterable}s, and
 * records as objects.
 */
public final class Json {
    private Json() {}

    /** The value of a JSON text. Throws {@link OJSException.Validation} when it is none. */
    public static Object parse(String text) {
        return new JsonReader(text).document();
    }

    /** The same of UTF-8. */
    public static Object parse(byte[] text) {
        return parse(new String(text, StandardCharsets.UTF_8));
    }

    /**
     * JSON text of a value. Throws {@link OJSException.Validation}, with the place and what to pass instead, for a value that JSON has no form
     * for, or only one that loses what it was: NaN, a map whose keys are not texts, a {@code java.util.Date}, bytes, an object that is no record.
     */
    public static String write(Object value) {
        return new JsonWriter().document("", value).toString();
    }

    static byte[] bytes(Object value) {
        return bytes("", value);
    }

    /** The same of a value that errors name so. */
    static byte[] bytes(String name, Object value) {
        return new JsonWriter().document(name, value).toString().getBytes(StandardCharsets.UTF_8);
    }
}
