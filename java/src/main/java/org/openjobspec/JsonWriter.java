package org.openjobspec;

import java.lang.reflect.Array;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.RecordComponent;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.time.Duration;
import java.time.temporal.TemporalAccessor;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;

/** Writes one JSON text. */
final class JsonWriter {
    /** A value that contains itself ends here, and not with an overflow of the stack. */
    private static final int DEEPEST = 512;
    private static final char[] HEX = "0123456789abcdef".toCharArray();

    private final StringBuilder out = new StringBuilder(128);
    private int depth;

    @Override
    public String toString() {
        return out.toString();
    }

    JsonWriter value(Object value) {
        switch (value) {
            case null -> out.append("null");
            case CharSequence text -> string(text);
            case Boolean flag -> out.append(flag.booleanValue());
            case Number number -> number(number);
            case Map<?, ?> members -> object(members);
            case Iterable<?> items -> array(items);
            case Record record -> record(record);
            case Enum<?> constant -> string(constant.name());
            case Duration length -> string(Durations.text(length));
            case Character letter -> string(letter.toString());
            case UUID id -> string(id.toString());
            case TemporalAccessor time -> string(time.toString());
            case Optional<?> perhaps -> value(perhaps.orElse(null));
            default -> other(value);
        }
        return this;
    }

    private void other(Object value) {
        if (!value.getClass().isArray()) throw wrong("a " + value.getClass().getName() + " has no JSON form", null);
        open('[');
        for (int i = 0, length = Array.getLength(value); i < length; i++) {
            if (i > 0) out.append(',');
            value(Array.get(value, i));
        }
        close(']');
    }

    private void number(Number number) {
        switch (number) {
            case Double d when !Double.isFinite(d) -> throw wrong(d + " has no JSON form", null);
            case Float f when !Float.isFinite(f) -> throw wrong(f + " has no JSON form", null);
            case Long n -> out.append(n.longValue());
            case Integer n -> out.append(n.intValue());
            case Double _, Float _, Short _, Byte _, BigInteger _, BigDecimal _ -> out.append(number);
            // AtomicLong and its like: text that must be a number, or nothing is written.
            default -> out.append(new BigDecimal(number.toString()));
        }
    }

    private void object(Map<?, ?> members) {
        open('{');
        boolean first = true;
        for (Map.Entry<?, ?> member : members.entrySet()) {
            if (!first) out.append(',');
            first = false;
            if (member.getKey() == null) throw wrong("a map with the key null has no JSON form", null);
            string(member.getKey().toString());
            out.append(':');
            value(member.getValue());
        }
        close('}');
    }

    private void array(Iterable<?> items) {
        open('[');
        boolean first = true;
        for (Object item : items) {
            if (!first) out.append(',');
            first = false;
            value(item);
        }
        close(']');
    }

    private void record(Record record) {
        if (record instanceof JsonForm form) {
            value(form.toJson());
            return;
        }
        open('{');
        boolean first = true;
        for (RecordComponent component : record.getClass().getRecordComponents()) {
            if (!first) out.append(',');
            first = false;
            string(component.getName());
            out.append(':');
            value(read(record, component.getAccessor()));
        }
        close('}');
    }

    private static Object read(Record record, Method accessor) {
        try {
            accessor.setAccessible(true); // records of a method or a private class
            return accessor.invoke(record);
        } catch (InvocationTargetException e) {
            throw wrong(accessor + " threw " + e.getCause(), e.getCause());
        } catch (ReflectiveOperationException | RuntimeException e) {
            throw wrong("cannot read " + accessor + ": " + e.getMessage(), e);
        }
    }

    private void open(char bracket) {
        if (++depth > DEEPEST) throw wrong("more than " + DEEPEST + " levels", null);
        out.append(bracket);
    }

    private void close(char bracket) {
        depth--;
        out.append(bracket);
    }

    private void string(CharSequence text) {
        out.append('"');
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c >= ' ' && c != '"' && c != '\\') {
                if (Character.isSurrogate(c)) i = pair(text, i);
                else out.append(c);
            } else {
                escape(c);
            }
        }
        out.append('"');
    }

    private int pair(CharSequence text, int at) {
        if (at + 1 >= text.length() || !Character.isSurrogatePair(text.charAt(at), text.charAt(at + 1))) {
            throw wrong("half of a surrogate pair at character " + at + " of a text", null);
        }
        out.append(text.charAt(at)).append(text.charAt(at + 1));
        return at + 1;
    }

    private void escape(char c) {
        out.append('\\');
        switch (c) {
            case '"', '\\' -> out.append(c);
            case '\n' -> out.append('n');
            case '\r' -> out.append('r');
            case '\t' -> out.append('t');
            default -> out.append("u00").append(HEX[c >> 4]).append(HEX[c & 15]);
        }
    }

    private static OJSException wrong(String what, Throwable cause) {
        return new OJSException.Validation("cannot be written as JSON: " + what, "serialization_error", cause);
    }
}
