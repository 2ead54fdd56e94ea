package org.openjobspec;

import java.math.BigDecimal;
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

    static int number(Map<String, Object> members, String name, int otherwise) {
        if (!(members.get(name) instanceof Number number)) return otherwise;
        try {
            return new BigDecimal(number.toString()).intValueExact();
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
