package org.openjobspec.kotlin

import java.math.BigDecimal
import java.time.Instant
import java.time.OffsetDateTime
import java.time.format.DateTimeParseException
import kotlinx.serialization.ExperimentalSerializationApi
import kotlinx.serialization.InternalSerializationApi
import kotlinx.serialization.SerializationException
import kotlinx.serialization.json.Json
import kotlinx.serialization.json.JsonArray
import kotlinx.serialization.json.JsonElement
import kotlinx.serialization.json.JsonNull
import kotlinx.serialization.json.JsonObject
import kotlinx.serialization.json.JsonPrimitive
import kotlinx.serialization.json.JsonUnquotedLiteral
import kotlinx.serialization.serializerOrNull

/** What has a form of its own on the wire. */
public interface JsonForm {
    /** The members on the wire. */
    public fun toJson(): Map<String, Any?>
}

/** What a workflow is made of: a job, or another workflow. */
public sealed interface Step : JsonForm

@PublishedApi
internal val json: Json = Json { ignoreUnknownKeys = true }

/** Members in order, without those that are null. */
internal fun given(vararg members: Pair<String, Any?>): Map<String, Any?> {
    val kept = LinkedHashMap<String, Any?>()
    for ((name, value) in members) if (value != null) kept[name] = value
    return kept
}

/**
 * A value as JSON: text, numbers, booleans, null, lists, arrays, maps with text as keys, enums by their names, times in
 * RFC 3339, whatever kotlinx.serialization has a serializer for, and its own `JsonElement`.
 */
@OptIn(InternalSerializationApi::class, ExperimentalSerializationApi::class)
internal fun jsonOf(value: Any?): JsonElement = when (value) {
    null -> JsonNull
    is JsonElement -> value
    is String -> JsonPrimitive(value.also(::checkText))
    is Boolean -> JsonPrimitive(value)
    is Double -> if (value.isFinite()) JsonPrimitive(value) else throw unwritable("$value is no number of JSON")
    is Float -> if (value.isFinite()) JsonPrimitive(value) else throw unwritable("$value is no number of JSON")
    is BigDecimal -> JsonUnquotedLiteral(value.toString())
    is Number -> JsonPrimitive(value)
    is Record -> jsonOf(value.members)
    is JsonForm -> jsonOf(value.toJson())
    is Map<*, *> -> JsonObject(value.entries.associate { (name, one) -> keyOf(name) to jsonOf(one) })
    is Iterable<*> -> JsonArray(value.map(::jsonOf))
    is Array<*> -> JsonArray(value.map(::jsonOf))
    is IntArray -> JsonArray(value.map(::JsonPrimitive))
    is LongArray -> JsonArray(value.map(::JsonPrimitive))
    is DoubleArray -> JsonArray(value.map(::jsonOf))
    is Instant -> JsonPrimitive(value.toString())
    is Enum<*> -> JsonPrimitive(value.name)
    is Unit -> JsonNull
    else -> {
        val serializer = serializerOrNull(value::class.java)
            ?: throw unwritable("a ${value::class.java.name} has no JSON form; make its class @Serializable")
        json.encodeToJsonElement(serializer, value)
    }
}

private fun keyOf(name: Any?): String = name as? String ?: throw unwritable("the keys of a map must be text, got $name")

private fun checkText(text: String) {
    for (at in text.indices) {
        val letter = text[at]
        val broken = (letter.isHighSurrogate() && !(at + 1 < text.length && text[at + 1].isLowSurrogate())) ||
            (letter.isLowSurrogate() && !(at > 0 && text[at - 1].isHighSurrogate()))
        if (broken) throw unwritable("text with half of a surrogate pair cannot be sent")
    }
}

private fun unwritable(message: String) = OjsException.Validation(message, OjsException.About("serialization_error"))

/** A value as JSON text. */
internal fun jsonText(value: Any?, what: String = "value"): String = try {
    jsonOf(value).toString()
} catch (e: OjsException.Validation) {
    throw OjsException.Validation("$what: ${e.message}", e.about, e)
} catch (e: SerializationException) {
    throw OjsException.Validation(
        "$what cannot be written as JSON: ${e.message}",
        OjsException.About("serialization_error"),
        e,
    )
} catch (e: StackOverflowError) {
    throw OjsException.Validation(
        "$what cannot be written as JSON: it holds itself, or is nested too deep",
        OjsException.About("serialization_error"),
    )
}

internal fun parsed(text: String): JsonElement = try {
    json.parseToJsonElement(text)
} catch (e: SerializationException) {
    throw unexpected("the answer is not JSON: ${e.message}", e)
}

/**
 * A value in the forms of JSON as Kotlin has them: maps, lists, text, `Long`, `Double` (others where those would lose
 * digits).
 */
internal fun plain(element: JsonElement): Any? = when (element) {
    is JsonNull -> null
    is JsonObject -> element.mapValuesTo(LinkedHashMap()) { (_, member) -> plain(member) }
    is JsonArray -> element.map(::plain)
    is JsonPrimitive -> when {
        element.isString -> element.content
        element.content == "true" -> true
        element.content == "false" -> false
        else -> number(element.content)
    }
}

private fun number(text: String): Number {
    if (text.none { it == '.' || it == 'e' || it == 'E' }) return text.toLongOrNull() ?: text.toBigInteger()
    val double = text.toDouble()
    val exact = BigDecimal(text)
    return if (double.isFinite() && BigDecimal(double.toString()).compareTo(exact) == 0) double else exact
}

internal fun plain(bytes: ByteArray): Any? = if (bytes.isEmpty()) null else plain(parsed(bytes.decodeToString()))

// --- reading what a server said ---

internal fun unexpected(message: String, cause: Throwable? = null): OjsException =
    OjsException.Api(message, OjsException.About("unexpected_answer"), cause)

@Suppress("UNCHECKED_CAST") // plain() makes such maps
internal fun membersOf(value: Any?): Map<String, Any?> =
    value as? Map<String, Any?> ?: throw unexpected(
        "expected an object in the answer, got ${value?.let { it::class.simpleName }}",
    )

internal fun itemsOf(value: Any?): List<Any?> = value as? List<Any?> ?: emptyList()

internal fun textOf(value: Any?): String = value as? String ?: throw unexpected("expected text in the answer")

/** A member that must be there. */
internal fun Map<String, Any?>.need(name: String): Any? {
    if (name !in this) throw unexpected("the answer has no '$name'")
    return get(name)
}

internal fun Map<String, Any?>.text(name: String): String? = get(name) as? String

internal fun Map<String, Any?>.truth(name: String): Boolean = get(name) == true

internal fun Map<String, Any?>.whole(name: String): Long? {
    val value = get(name) as? Number ?: return null
    return try {
        BigDecimal(value.toString()).longValueExact()
    } catch (e: ArithmeticException) {
        throw unexpected("'$name' of the answer is no number of this kind: $value", e)
    }
}

internal fun Map<String, Any?>.number(name: String): Int? {
    val value = whole(name) ?: return null
    if (value != value.toInt().toLong()) throw unexpected("'$name' of the answer is no number of this kind: $value")
    return value.toInt()
}

internal fun Map<String, Any?>.items(name: String): List<Any?> = itemsOf(get(name))

internal fun Map<String, Any?>.inner(name: String): Map<String, Any?>? = get(name)?.let(::membersOf)

internal fun Map<String, Any?>.time(name: String): Instant? {
    val text = text(name) ?: return null
    return try {
        OffsetDateTime.parse(text).toInstant()
    } catch (e: DateTimeParseException) {
        throw unexpected("'$name' of the answer is not a time: $text", e)
    }
}

/** The error of one item of an answer about many, by the core's own rules. */
internal fun Map<String, Any?>.refusal(name: String): OjsException? = get(name)?.let { Core.refusal(0, jsonText(it)) }
