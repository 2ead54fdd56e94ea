package org.openjobspec.kotlin

import java.math.BigDecimal
import java.nio.file.Path
import java.time.LocalDateTime
import java.time.OffsetDateTime
import java.time.ZonedDateTime
import java.time.format.DateTimeFormatter
import java.time.temporal.TemporalAccessor
import java.util.Calendar
import java.util.Date
import java.util.Optional
import java.util.UUID
import java.util.concurrent.Future
import java.util.stream.BaseStream
import kotlinx.coroutines.Job as CoroutineJob
import kotlinx.serialization.ExperimentalSerializationApi
import kotlinx.serialization.InternalSerializationApi
import kotlinx.serialization.SerializationException
import kotlinx.serialization.json.JsonArray
import kotlinx.serialization.json.JsonElement
import kotlinx.serialization.json.JsonNull
import kotlinx.serialization.json.JsonObject
import kotlinx.serialization.json.JsonPrimitive
import kotlinx.serialization.json.JsonUnquotedLiteral
import kotlinx.serialization.serializerOrNull

/** A value that contains itself ends here, and not with an overflow of the stack. */
private const val DEEPEST = 512

/** A value that cannot be written, and the way to it, which grows on the way out. */
private class Unfit(message: String, cause: Throwable? = null) : RuntimeException(message, cause, false, false) {
    val path = StringBuilder()

    fun within(step: String): Unfit {
        path.insert(0, step)
        return this
    }
}

/**
 * A value as JSON: the table of docs/guide/values.md. A value that JSON has no form for, or only one that loses what
 * the value was, is refused with its place and what to pass instead: `args[0].when: …`.
 *
 * @param name what the value is; may be empty
 */
internal fun jsonOf(value: Any?, name: String = ""): JsonElement = try {
    JsonWriter().element(value)
} catch (e: Unfit) {
    val place = (name + e.path).removePrefix(".").ifEmpty { "cannot be written as JSON" }
    throw OjsException.Validation("$place: ${e.message}", OjsException.About("serialization_error"), e.cause)
}

/** A value as JSON text; errors begin with the name. */
internal fun jsonText(value: Any?, name: String = ""): String = jsonOf(value, name).toString()

/** Makes one element of a value. */
private class JsonWriter {
    private var depth = 0

    fun element(value: Any?): JsonElement = when (value) {
        null, Unit -> JsonNull
        is JsonPrimitive -> literal(value)
        is CharSequence -> text(value.toString())
        is Boolean -> JsonPrimitive(value)
        is Number -> number(value)
        is Record -> element(value.members)
        is JsonForm -> element(value.toJson())
        is Map<*, *> -> members(value)
        is Char, is UUID -> text(value.toString())
        is ByteArray, is Path, is ClosedRange<*>, is ZonedDateTime -> throw refused(value)
        is Iterable<*> -> items(value)
        else -> array(value)?.let(::items) ?: time(value)?.let(::JsonPrimitive) ?: serialized(value)
    }

    private fun array(value: Any): Iterable<*>? = when (value) {
        is Array<*> -> value.asList()
        is IntArray -> value.asList()
        is LongArray -> value.asList()
        is DoubleArray -> value.asList()
        is FloatArray -> value.asList()
        is ShortArray -> value.asList()
        is BooleanArray -> value.asList()
        is CharArray -> value.asList()
        else -> null
    }

    /** Text of ISO 8601, with the seconds that toString() leaves out where they are zero. */
    private fun time(value: Any): String? = when (value) {
        is OffsetDateTime -> DateTimeFormatter.ISO_OFFSET_DATE_TIME.format(value)
        is LocalDateTime -> DateTimeFormatter.ISO_LOCAL_DATE_TIME.format(value)
        is Enum<*> -> null // DayOfWeek and Month are times of Java
        is TemporalAccessor, is java.time.Duration -> value.toString()
        else -> null
    }

    @OptIn(InternalSerializationApi::class)
    private fun serialized(value: Any): JsonElement {
        if (value is Throwable) throw refused(value)
        val type = if (value is Enum<*>) value.declaringJavaClass else value::class.java
        val serializer = try {
            serializerOrNull(type)
        } catch (e: IllegalArgumentException) { // generic classes have no serializer without their arguments
            null
        }
        if (serializer == null) {
            if (value is Enum<*>) return JsonPrimitive(value.name)
            throw refused(value)
        }
        val written = try {
            json.encodeToJsonElement(serializer, value)
        } catch (e: SerializationException) {
            throw Unfit("a ${type.typeName} cannot be written as JSON: ${e.message}", e)
        } catch (e: StackOverflowError) {
            throw Unfit("a ${type.typeName} is nested too deep: does it contain itself?")
        }
        return element(written)
    }

    @OptIn(ExperimentalSerializationApi::class)
    private fun number(value: Number): JsonPrimitive = when (value) {
        is Double -> finite(value, value.isFinite())
        is Float -> finite(value, value.isFinite())
        is BigDecimal -> JsonUnquotedLiteral(value.toString())
        else -> JsonPrimitive(value)
    }

    private fun finite(value: Number, isFinite: Boolean): JsonPrimitive =
        if (isFinite) JsonPrimitive(value) else throw Unfit("JSON has no form for $value: pass null, or a text")

    private fun literal(value: JsonPrimitive): JsonPrimitive {
        if (value.isString) return text(value.content)
        if (value.content == "NaN" || value.content.endsWith("Infinity")) {
            throw Unfit("JSON has no form for ${value.content}: pass null, or a text")
        }
        return value
    }

    private fun members(value: Map<*, *>): JsonObject = deeper {
        val out = LinkedHashMap<String, JsonElement>()
        for ((name, member) in value) {
            if (name !is String) throw Unfit(keyProblem(name))
            try {
                out[text(name).content] = element(member)
            } catch (e: Unfit) {
                throw e.within(".$name")
            }
        }
        JsonObject(out)
    }

    private fun keyProblem(name: Any?): String {
        if (name == null) return "a map with the key null has no JSON form: pass a Map<String, …>"
        val type = name::class.java.simpleName
        return "a map with the key $name, of $type, which JSON would turn into a text: pass a Map<String, …>"
    }

    private fun items(value: Iterable<*>): JsonArray = deeper {
        JsonArray(
            value.mapIndexed { index, item ->
                try {
                    element(item)
                } catch (e: Unfit) {
                    throw e.within("[$index]")
                }
            },
        )
    }

    private inline fun <T> deeper(inside: () -> T): T {
        if (++depth > DEEPEST) throw Unfit("more than $DEEPEST levels deep: does the value contain itself?")
        return inside().also { depth-- }
    }

    private fun text(text: String): JsonPrimitive {
        for (at in text.indices) {
            val letter = text[at]
            val broken = (letter.isHighSurrogate() && !(at + 1 < text.length && text[at + 1].isLowSurrogate())) ||
                (letter.isLowSurrogate() && !(at > 0 && text[at - 1].isHighSurrogate()))
            if (broken) {
                throw Unfit("half of a surrogate pair at character $at of a text, which UTF-8 has no form for")
            }
        }
        return JsonPrimitive(text)
    }
}

private fun refused(value: Any) = Unfit("a ${value::class.java.typeName} has no JSON form: ${instead(value)}")

/** What to pass in place of a value. */
private fun instead(value: Any): String = when (value) {
    is ByteArray -> "pass Base64.getEncoder().encodeToString(…)"
    is Path -> "pass its toString()"
    is ZonedDateTime -> "pass its toOffsetDateTime(), and its zone.id where the zone counts"
    is java.sql.Date -> "pass its toLocalDate()"
    is java.sql.Time -> "pass its toLocalTime()"
    is Date, is Calendar -> "pass its toInstant()"
    is ClosedRange<*>, is Sequence<*>, is BaseStream<*, *> -> "pass its toList()"
    is Iterator<*> -> "pass a list"
    is Pair<*, *>, is Triple<*, *, *> -> "pass its toList(), or a class that is @Serializable"
    is Optional<*> -> "pass its orElse(null)"
    is Throwable -> "pass its message"
    is Regex -> "pass its pattern"
    is CoroutineJob, is Future<*> -> "await it, and pass what it gives"
    is Function<*> -> "pass what it returns"
    else -> "make its class @Serializable, or pass a Map"
}
