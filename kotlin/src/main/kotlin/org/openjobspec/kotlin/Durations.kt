package org.openjobspec.kotlin

import java.time.Instant
import kotlin.time.Duration
import kotlin.time.Duration.Companion.days
import kotlin.time.Duration.Companion.seconds
import kotlin.time.toJavaDuration

/** ISO 8601, in the spelling of the core: `P1DT2H`, `PT1M30S`, `PT0.5S`. */
internal fun durationText(length: Duration): String {
    val all = notNegative("a duration", length)
    val days = all.inWholeDays
    val rest = all - days.days
    val out = StringBuilder("P")
    if (days > 0) out.append(days).append('D')
    if (days == 0L || rest != Duration.ZERO) out.append(rest.toJavaDuration().toString().substring(1))
    return out.toString()
}

/** A length that may be zero. */
internal fun notNegative(name: String, length: Duration): Duration {
    if (
        length.isNegative() || length.isInfinite()
    ) throw OjsException.Validation("$name must be zero or more, got $length")
    return length
}

/** A length that must not be zero: what means nothing is refused, not left out. */
internal fun longerThanNone(name: String, length: Duration): Duration {
    if (notNegative(name, length) == Duration.ZERO) {
        throw OjsException.Validation("$name must be longer than 0, got $length; leave it out for the default")
    }
    return length
}

/** Whole milliseconds on the wire: what is shorter than one is one, for 0 would mean none. */
internal fun wireMillis(name: String, length: Duration): Long =
    longerThanNone(name, length).inWholeMilliseconds.coerceAtLeast(1)

/** Whole seconds on the wire, rounded up. */
internal fun wireSeconds(name: String, length: Duration): Long =
    (notNegative(name, length) + 0.999999999.seconds).inWholeSeconds

/** The time that is so far away. */
internal fun after(name: String, length: Duration): String =
    Instant.now().plus(notNegative(name, length).toJavaDuration()).toString()

/** A setting, in seconds as the core reads it. */
internal fun seconds(name: String, length: Duration, zero: Boolean): Double =
    (if (zero) notNegative(name, length) else longerThanNone(name, length)).inWholeNanoseconds / 1e9

internal fun atLeastOne(name: String, number: Number) {
    if (number.toLong() < 1) throw OjsException.Validation("$name must be at least 1, got $number")
}
