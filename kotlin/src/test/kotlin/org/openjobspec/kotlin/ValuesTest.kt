package org.openjobspec.kotlin

import java.math.BigDecimal
import java.math.BigInteger
import java.nio.file.Path
import java.time.DayOfWeek
import java.time.Instant
import java.time.LocalDate
import java.time.LocalDateTime
import java.time.OffsetDateTime
import java.time.ZoneId
import java.time.ZonedDateTime
import java.util.Calendar
import java.util.Date
import java.util.UUID
import java.util.concurrent.atomic.AtomicLong
import kotlin.time.Duration.Companion.minutes
import kotlinx.coroutines.CompletableDeferred
import kotlinx.serialization.SerialName
import kotlinx.serialization.Serializable
import kotlinx.serialization.json.JsonArray
import kotlinx.serialization.json.JsonPrimitive
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.params.ParameterizedTest
import org.junit.jupiter.params.provider.EnumSource

/** What becomes of values: the table of docs/guide/values.md. */
class ValuesTest {
    @Serializable
    enum class Colour {
        @SerialName("red")
        RED,
    }

    @Serializable
    data class Order(val name: String, val copies: Int = 1, val colour: Colour = Colour.RED, val price: Double = 1.5)

    private val wrong: List<Pair<Any?, List<String>>> = listOf(
        mapOf("when" to Date()) to listOf("args[1].when: ", "java.util.Date", "toInstant()"),
        Calendar.getInstance() to listOf("args[1]: ", "toInstant()"),
        listOf(1, listOf(Double.NaN)) to listOf("args[1][1][0]: ", "NaN", "pass null"),
        Float.NEGATIVE_INFINITY to listOf("args[1]: ", "-Infinity", "pass null"),
        Order("a", price = Double.NaN) to listOf("args[1].price: ", "NaN", "pass null"),
        JsonArray(listOf(JsonPrimitive(Double.NaN))) to listOf("args[1][0]: ", "NaN"),
        mapOf("by" to mapOf(1 to "a")) to listOf("args[1].by: ", "the key 1, of Integer", "Map<String"),
        mapOf(null to 1) to listOf("args[1]: ", "key null", "Map<String"),
        byteArrayOf(1) to listOf("args[1]: ", "byte[]", "Base64"),
        Path.of("a", "b") to listOf("args[1]: ", "toString()"),
        ZonedDateTime.now(ZoneId.of("Europe/Prague")) to listOf("args[1]: ", "toOffsetDateTime()"),
        (1..3) to listOf("args[1]: ", "toList()"),
        sequenceOf(1) to listOf("args[1]: ", "toList()"),
        ("a" to 1) to listOf("args[1]: ", "toList()"),
        IllegalStateException("x") to listOf("args[1]: ", "pass its message"),
        Regex("a+") to listOf("args[1]: ", "pass its pattern"),
        { 1 } to listOf("args[1]: ", "pass what it returns"),
        CompletableDeferred(1) to listOf("args[1]: ", "await it"),
        Any() to listOf("args[1]: ", "java.lang.Object", "@Serializable"),
        mapOf("text" to "half \ud83d") to listOf("args[1].text: ", "surrogate"),
    )

    @ParameterizedTest
    @EnumSource
    internal fun whatWouldBeLostIsRefusedWithItsPlaceAndWhatToPass(place: Place) = bench(place) {
        for ((value, texts) in wrong) {
            val doors = listOf<suspend () -> Any?>(
                { client.enqueue("a", 1, value, queue = queue) },
                { client.enqueueBatch(listOf(job("a", 1, value, queue = queue))) },
                { client.workflow(chain(job("a", 1, value, queue = queue))) },
            )
            for (door in doors) {
                val refused = thrownBy<OjsException.Validation> { door() }
                assertEquals("serialization_error", refused.code, "${refused.message}")
                for (text in texts) assertTrue(text in refused.message.orEmpty(), "$text is not in ${refused.message}")
            }
        }
        val meta = thrownBy<OjsException.Validation> { client.enqueue("a", meta = mapOf("k" to Date())) }
        assertTrue(meta.message.orEmpty().startsWith("meta.k: "), meta.message)
        val second = thrownBy<OjsException.Validation> { client.enqueueBatch(listOf(job("a"), job("a", Double.NaN))) }
        assertTrue(second.message.orEmpty().startsWith("jobs[1].args[0]: "), second.message)
        assertEquals(0, client.listJobs(queue = queue).total)
    }

    @Test
    fun whatHoldsItselfIsRefused() = bench {
        val self = ArrayList<Any?>()
        self.add(self)
        val refused = thrownBy<OjsException.Validation> { client.enqueue("a", self) }
        assertTrue("contain itself" in refused.message.orEmpty(), refused.message)
    }

    @ParameterizedTest
    @EnumSource
    internal fun aResultIsHeldToTheSameRule(place: Place) = bench(place) {
        worker().register("a") { mapOf("at" to Date()) }.start()
        val error = ended(client.enqueue("a", queue = queue), "discarded").error.orEmpty()
        assertEquals("serialization_error", error["code"])
        assertTrue("result.at: " in error.text("message").orEmpty() && "toInstant()" in error.text("message").orEmpty())
    }

    @Test
    fun whatArrivesAsTheTableSays() = bench {
        val given = listOf(
            null, Unit, true, "馬", 'c', Long.MIN_VALUE, BigInteger("123456789012345678901234567890"),
            BigDecimal("1.50"), 0.1, 2f, AtomicLong(3), ULong.MAX_VALUE, Colour.RED, DayOfWeek.MONDAY,
            Instant.parse("2030-01-01T00:00:00Z"), OffsetDateTime.parse("2030-01-01T00:00:00+01:00"),
            LocalDate.of(2030, 1, 2), LocalDateTime.of(2030, 1, 2, 3, 0), java.time.Duration.ofMinutes(90), 90.minutes,
            UUID(0, 1), intArrayOf(1, 2), arrayOf("x"), setOf("x"), StringBuilder("y"), Order("a"),
        )
        val wanted = """[null,null,true,"馬","c",-9223372036854775808,123456789012345678901234567890,1.50,0.1,2.0,3,""" +
            """18446744073709551615,"red","MONDAY","2030-01-01T00:00:00Z","2030-01-01T00:00:00+01:00","2030-01-02",""" +
            """"2030-01-02T03:00:00","PT1H30M","PT1H30M","00000000-0000-0000-0000-000000000001",[1,2],["x"],""" +
            """["x"],"y",""" +
            """{"name":"a","copies":1,"colour":"red","price":1.5}]"""
        assertEquals(wanted, jsonText(given))
        val seen = CompletableDeferred<Order>()
        worker().register("order") { ctx -> seen.complete(ctx.arg<Order>(0)) }.start()
        completed(client.enqueue("order", Order("a", 2), queue = queue))
        assertEquals(Order("a", 2), seen.await())
    }

    @Test
    fun anArgumentOfAnotherFormIsNotRepeatedInTheError() = bench {
        worker().register("mail") { ctx -> ctx.arg<Order>(0) }.register("count") { ctx -> ctx.arg<Int>(0) }.start()
        val once = RetryPolicy(maxAttempts = 1)
        val secret = "planted-5ecret"
        for ((job, text) in listOf(
            client.enqueue("mail", secret, queue = queue, retry = once) to "args[0]",
            client.enqueue("mail", mapOf("copies" to secret), queue = queue, retry = once) to "args[0]",
            client.enqueue("mail", mapOf("copies" to 1), queue = queue, retry = once) to "it has no name",
            client.enqueue("count", secret, queue = queue, retry = once) to "a kotlin.Int",
        )) {
            val error = jsonText(ended(job, "discarded").error)
            assertTrue(text in error, error)
            assertFalse(secret in error, error)
        }
    }
}
