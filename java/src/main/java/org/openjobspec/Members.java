package org.openjobspec;

import java.math.BigDecimal;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.List;
import java.util.Map;

/** Reading JSON objects that came from elsewhere. */
final class Members {
    private Members() {}

    @SuppressWarnings("unchecked") // the reader makes such maps
    static Map<String, Object> of(Object value) {
        if (value instanceof Map<?, ?> members) return (Map<String, Object>) members;
        throw unexpected("expected an object in the answer, got " + (value == null ? "null" : value.getClass().getSimpleName()));
    }

    /** A member that must be there. */
    static Object need(Object value, String name) {
        Map<String, Object> members = of(value);
        if (!members.containsKey(name)) throw unexpected("the answer has no '" + name + "'");
        return members.get(name);
    }

    static String text(Map<String, Object> members, String name) {
        return members.get(name) instanceof String text ? text : null;
    }

    static String text(Map<String, Object> members, String name, String otherwise) {
        return members.get(name) instanceof String text ? text : otherwise;
    }

    /** An object inside of another. */
    static Map<String, Object> object(Map<String, Object> members, String name, Map<String, Object> otherwise) {
        return members.get(name) == null ? otherwise : of(members.get(name));
    }

    /** The error of one item of an answer about many, by the core's own rules; null when the item has none. */
    static OJSException error(Map<String, Object> members, String name) {
        return members.get(name) == null ? null : Native.refusal(0, Json.bytes(members.get(name)));
    }

    static Instant time(Map<String, Object> members, String name) {
        String text = text(members, name);
        try {
            return text == null ? null : OffsetDateTime.parse(text).toInstant();
        } catch (DateTimeException e) {
            throw unexpected("'" + name + "' of the answer is not a time: " + text, e);
        }
    }

    static int number(Map<String, Object> members, String name, int otherwise) {
        if (!(members.get(name) instanceof Number number)) return otherwise;
        long whole = whole(members, name);
        if (whole != (int) whole) throw unexpected("'" + name + "' of the answer is no number of this kind: " + number);
        return (int) whole;
    }

    /** A whole number that may need 64 bits; 0 when it is not there. */
    static long whole(Map<String, Object> members, String name) {
        if (!(members.get(name) instanceof Number number)) return 0;
        try {
            return new BigDecimal(number.toString()).longValueExact();
        } catch (ArithmeticException e) {
            throw unexpected("'" + name + "' of the answer is no number of this kind: " + number);
        }
    }

    @SuppressWarnings("unchecked")
    static List<Object> list(Map<String, Object> members, String name) {
        return members.get(name) instanceof List<?> list ? (List<Object>) list : List.of();
    }

    static OJSException unexpected(String message) {
        return unexpected(message, null);
    }

    static OJSException unexpected(String message, Throwable cause) {
        return new OJSException.Api(message, OJSException.About.code("unexpected_answer"), cause);
    }
}
