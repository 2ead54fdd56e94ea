package org.openjobspec;

import java.time.Duration;

/** Lengths of time as the wire has them: ISO 8601, in the spelling of the core. */
final class Durations {
    private Durations() {}

    /** {@code P1DT2H}, {@code PT1M30S}, {@code PT0.5S}. ({@link Duration#toString} knows no days.) */
    static String text(Duration length) {
        notNegative("a duration", length);
        StringBuilder out = new StringBuilder("P");
        if (length.toDaysPart() > 0) out.append(length.toDaysPart()).append('D');
        Duration rest = length.minusDays(length.toDaysPart());
        if (out.length() == 1 || !rest.isZero()) out.append(rest.toString().substring(1));
        return out.toString();
    }

    /** Milliseconds; 0, which stands for the default, of null. */
    static long millis(String name, Duration length) {
        if (length == null) return 0;
        return notNegative(name, length).isZero() ? 0 : Math.max(1, length.toMillis());
    }

    /** The same for a length that may be zero: to the engine, zero means that nothing was said. */
    static long evenNone(String name, Duration length) {
        return length == null ? 0 : Math.max(1, millis(name, length));
    }

    /** A length that may be zero. */
    static Duration notNegative(String name, Duration length) {
        if (Given.some(name, length).isNegative()) {
            throw new OJSException.Validation(name + " must be zero or more, got " + length);
        }
        return length;
    }

    /** A length that must not be zero: a setting that means nothing is refused, not left out. */
    static Duration longerThanNone(String name, Duration length) {
        if (notNegative(name, length).isZero()) {
            throw new OJSException.Validation(name + " must be longer than 0, got " + length + "; leave it out for the default");
        }
        return length;
    }

    /** Whole milliseconds on the wire: what is shorter than one is one, for 0 would mean none. */
    static long wireMillis(String name, Duration length) {
        return Math.max(1, longerThanNone(name, length).toMillis());
    }

    /** Whole seconds on the wire, rounded up. */
    static long wireSeconds(String name, Duration length) {
        return notNegative(name, length).plusNanos(999_999_999).toSeconds();
    }
}
