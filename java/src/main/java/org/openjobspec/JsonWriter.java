package org.openjobspec;

import java.lang.reflect.Array;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.RecordComponent;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.file.Path;
import java.time.Duration;
import java.time.LocalDateTime;
import java.time.OffsetDateTime;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.time.temporal.TemporalAccessor;
import java.util.Calendar;
import java.util.Date;
import java.util.Iterator;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.stream.BaseStream;

/**
 * Writes one JSON text. What JSON has no form for, or only one that loses what it was, is refused with its place and what to pass instead:
 * {@code args[0].when: …}.
 */
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

    /** A value that cannot be written, and the way to it, which grows on the way out. */
    private static final class Unfit extends RuntimeException {
        private final StringBuilder path = new StringBuilder();

        Unfit(String problem, Throwable cause) {
            super(problem, cause, false, false);
        }

        Unfit within(String step) {
            path.insert(0, step);
            return this;
        }
    }

    /** Writes a whole text; {@code name} says what it is, and may be empty. */
    JsonWriter document(String name, Object value) {
        try {
            return value(value);
        } catch (Unfit e) {
            String place = (name + e.path).replaceFirst("^\\.", "");
            throw new OJSException.Validation((place.isEmpty() ? "cannot be written as JSON" : place) + ": " + e.getMessage(),
                    "serialization_error", e.getCause());
        }
    }

    private JsonWriter value(Object value) {
        switch (value) {
            case null -> out.append("null");
            case CharSequence text -> string(text);
            case Boolean flag -> out.append(flag.booleanValue());
            case Number number -> number(number);
            case Map<?, ?> members -> object(members);
            case Path path -> throw wrong("a path has no JSON form: pass its toString()", null);
            case Iterable<?> items -> array(items);
            case Record record -> record(record);
            case Enum<?> constant -> string(constant.name());
            case Duration length -> string(length.isNegative() ? length.toString() : Durations.text(length));
            case Character letter -> string(letter.toString());
            case UUID id -> string(id.toString());
            // Their toString() leaves zero seconds out, which not everybody can read.
            case OffsetDateTime time -> string(DateTimeFormatter.ISO_OFFSET_DATE_TIME.format(time));
            case LocalDateTime time -> string(DateTimeFormatter.ISO_LOCAL_DATE_TIME.format(time));
            case ZonedDateTime time -> throw wrong("a ZonedDateTime would lose its zone: pass its toOffsetDateTime(), "
                    + "and getZone().getId() where the zone counts", null);
            case TemporalAccessor time -> string(time.toString());
            case Optional<?> perhaps -> value(perhaps.orElse(null));
            default -> other(value);
        }
        return this;
    }

    private void other(Object value) {
        if (value instanceof byte[] || !value.getClass().isArray()) {
            throw wrong("a " + value.getClass().getTypeName() + " has no JSON form: " + instead(value), null);
        }
        open('[');
        for (int i = 0, length = Array.getLength(value); i < length; i++) {
            if (i > 0) out.append(',');
            item(i, Array.get(value, i));
        }
        close(']');
    }

    /** What to pass in place of a value. */
    private static String instead(Object value) {
        return switch (value) {
            case byte[] _ -> "pass Base64.getEncoder().encodeToString(…)";
            case Date date when date.getClass().getName().equals("java.sql.Date") -> "pass its toLocalDate()";
            case Date date when date.getClass().getName().equals("java.sql.Time") -> "pass its toLocalTime()";
            case Date _ -> "pass its toInstant()";
            case Calendar _ -> "pass its toInstant()";
            case Throwable _ -> "pass its getMessage()";
            case BaseStream<?, ?> _ -> "pass its toList()";
            case Iterator<?> _ -> "pass a list";
            default -> "pass a record, a Map, or its text";
        };
    }

    private void item(int index, Object value) {
        try {
            value(value);
        } catch (Unfit e) {
            throw e.within("[" + index + "]");
        }
    }

    private void member(String name, Object value) {
        string(name);
        out.append(':');
        try {
            value(value);
        } catch (Unfit e) {
            throw e.within("." + name);
        }
    }

    private void number(Number number) {
        switch (number) {
            case Double d when !Double.isFinite(d) -> throw wrong("JSON has no form for " + d + ": pass null, or a text", null);
            case Float f when !Float.isFinite(f) -> throw wrong("JSON has no form for " + f + ": pass null, or a text", null);
            case Long n -> out.append(n.longValue());
            case Integer n -> out.append(n.intValue());
            case Double _, Float _, Short _, Byte _, BigInteger _, BigDecimal _ -> out.append(number);
            // AtomicLong and its like: text that must be a number, or nothing is written.
            default -> {
                try {
                    out.append(new BigDecimal(number.toString()));
                } catch (NumberFormatException e) {
                    throw wrong("a " + number.getClass().getName() + " that is no number of JSON: " + number, e);
                }
            }
        }
    }

    private void object(Map<?, ?> members) {
        open('{');
        boolean first = true;
        for (Map.Entry<?, ?> member : members.entrySet()) {
            if (!first) out.append(',');
            first = false;
            if (!(member.getKey() instanceof CharSequence name)) throw wrong(key(member.getKey()), null);
            member(name.toString(), member.getValue());
        }
        close('}');
    }

    private static String key(Object key) {
        if (key == null) return "a map with the key null has no JSON form: pass a Map<String, …>";
        return "a map with the key " + key + ", of " + key.getClass().getSimpleName() + ", which JSON would turn into a text: pass a Map<String, …>";
    }

    private void array(Iterable<?> items) {
        open('[');
        int index = 0;
        for (Object item : items) {
            if (index > 0) out.append(',');
            item(index++, item);
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
            member(component.getName(), read(record, component.getAccessor()));
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
        if (++depth > DEEPEST) throw wrong("more than " + DEEPEST + " levels deep: does the value contain itself?", null);
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
            throw wrong("half of a surrogate pair at character " + at + " of a text, which UTF-8 has no form for", null);
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

    private static Unfit wrong(String problem, Throwable cause) {
        return new Unfit(problem, cause);
    }
}
