package org.openjobspec.kotlin

import java.math.BigDecimal
import java.time.Instant
import java.time.OffsetDateTime
import java.time.format.DateTimeParseException
import kotlinx.serialization.SerializationException
import kotlinx.serialization.json.Json
import kotlinx.serialization.json.JsonArray
import kotlinx.serialization.json.JsonElement
import kotlinx.serialization.json.JsonNull
import kotlinx.serialization.json.JsonObject
import kotlinx.serialization.json.JsonPrimitive

/** What has a form of its own on the wire. */
public interface JsonForm {
    /** The members on the wire. */
    public fun toJson(): Map<String, Any?>
}

/** What a workflow is made of: a job, another workflow, or a node of a graph. */
public sealed interface Step : JsonForm

/** Members that have their default value are written too: a handler of another language has no defaults for them. */
@PublishedApi
internal val json: Json = Json {
    ignoreUnknownKeys = true
    encodeDefaults = true
    allowSpecialFloatingPointValues = true // refused by JsonWriter, which knows their place
}

/** Answers that are nested deeper are refused instead of overflowing the stack; the engine takes 128 levels. */
private const val DEEPEST_ANSWER = 512

/** More than the 4,300 digits that every language reads. Reading a number takes the square of its length. */
private const val LONGEST_NUMBER = 4400

/** Members in order, without those that are null. */
internal fun given(vararg members: Pair<String, Any?>): Map<String, Any?> {
    val kept = LinkedHashMap<String, Any?>()
    for ((name, value) in members) if (value != null) kept[name] = value
    return kept
}

/** The text itself is in no message: it may hold arguments. */
internal fun parsed(text: String): JsonElement = try {
    json.parseToJsonElement(text)
} catch (e: SerializationException) {
    val place = Regex("offset \\d+").find(e.message.orEmpty())?.value?.let { " (at $it)" }.orEmpty()
    throw unexpected("the answer is not JSON$place")
} catch (e: StackOverflowError) {
    throw unexpected("the answer has more than $DEEPEST_ANSWER levels")
}

/**
 * A value in the forms of JSON as Kotlin has them: maps, lists, text, `Long`, `Double` (others where those would lose
 * digits).
 */
internal fun plain(element: JsonElement): Any? = plain(element, 0)

private fun plain(element: JsonElement, depth: Int): Any? {
    if (depth > DEEPEST_ANSWER) throw unexpected("the answer has more than $DEEPEST_ANSWER levels")
    return when (element) {
        is JsonNull -> null
        is JsonObject -> element.mapValuesTo(LinkedHashMap()) { (_, member) -> plain(member, depth + 1) }
        is JsonArray -> element.map { plain(it, depth + 1) }
        is JsonPrimitive -> when {
            element.isString -> element.content
            element.content == "true" -> true
            element.content == "false" -> false
            else -> number(element.content)
        }
    }
}

private fun number(text: String): Number {
    if (text.length > LONGEST_NUMBER) throw unexpected(
        "the answer holds a number of ${text.length} characters; at most $LONGEST_NUMBER are read",
    )
    return try {
        if (text.none { it == '.' || it == 'e' || it == 'E' }) return text.toLongOrNull() ?: text.toBigInteger()
        val double = text.toDouble()
        val exact = BigDecimal(text)
        if (double.isFinite() && BigDecimal(double.toString()).compareTo(exact) == 0) double else exact
    } catch (e: NumberFormatException) { // the parser takes any word without quotes
        throw unexpected("the answer is not JSON: a word in it is no number")
    }
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
