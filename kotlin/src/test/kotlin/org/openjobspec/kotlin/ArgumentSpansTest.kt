package org.openjobspec.kotlin

import kotlin.random.Random
import kotlinx.coroutines.CompletableDeferred
import kotlinx.serialization.json.JsonArray
import kotlinx.serialization.json.JsonObject
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertNull
import org.junit.jupiter.api.Test

/** Single arguments are read without the rest of their job, and are what the whole job says they are. */
class ArgumentSpansTest {
    private fun spans(json: String) = ArgumentSpans.of(json.encodeToByteArray())

    private fun same(json: String) {
        val wanted = (parsed(json) as JsonObject)["args"] as? JsonArray
        val found = spans(json)
        assertEquals(wanted?.toList(), found?.let { List(it.size) { index -> parsed(it.text(index)) } }, json)
    }

    @Test
    fun theArgumentsOfAJob() {
        same("""{"args":[]}""")
        same("""{"id":"a","args":[1,"x",null,true,-2.5e3,{"args":[9]},[[],"]"]],"meta":{"args":[8]}}""")
        same("""{"text":"\"args\":[1]","args":["a\"]\\","馬"]}""")
        same(" { \"a\" : { \"b\" : \"}\" } ,\n \"args\" : [ 1 , [ 2 , 3 ] , \"x\" ] , \"c\" : 1.5 } ")
        same("""{"args":[1],"args":[2,3]}""")
        same("""{"id":"a"}""")
        same("{}")
    }

    @Test
    fun manyJobs() {
        val random = Random(110)
        fun value(depth: Int): Any? = when (random.nextInt(if (depth > 3) 6 else 8)) {
            0 -> random.nextLong()
            1 -> random.nextInt(100)
            2 -> String(CharArray(random.nextInt(6)) { "\\\"[]{},: \n\u0001馬ab"[random.nextInt(14)] })
            3 -> random.nextDouble()
            4 -> random.nextBoolean()
            5 -> null
            6 -> List(random.nextInt(4)) { value(depth + 1) }
            else -> List(random.nextInt(4)) { "k$it" to value(depth + 1) }.toMap()
        }
        repeat(2_000) {
            val args = List(random.nextInt(5)) { value(0) }
            same(jsonText(mapOf("id" to value(3), "meta" to value(1), "args" to args, "x" to value(2))))
        }
    }

    @Test
    fun whatNeedsTheWholeJobIsLeftToItsReader() {
        // A name with an escape may be any name, and what is no JSON is an error of the reader.
        val broken = listOf("[]", "{", """{"args":[1}""", """{"args":[1""", "")
        for (json in broken + listOf("""{"\u0061rgs":[1]}""", """{"args":7}""")) assertNull(spans(json), json)
    }

    @Test
    fun plainNumbersAndTextsAreReadInPlace() {
        val found = spans("""{"args":[0,-7,123456789012345678,1234567890123456789,1.0,1e2,"7","a b","\n","",-]}""")!!
        val numbers = listOf(0L, -7L, 123_456_789_012_345_678L, null, null, null, null, null, null, null, null)
        assertEquals(numbers, List(found.size, found::wholeNumber))
        assertEquals(listOf("7", "a b", null, ""), List(found.size, found::plainText).drop(6).take(4))
        assertNull(found.plainText(0))
    }

    @Test
    fun aHandlerReadsEachArgumentAsWhatItAsksFor() = bench {
        val seen = CompletableDeferred<List<Any?>>()
        worker().register("read") { ctx ->
            seen.complete(
                listOf(
                    ctx.arg<Int>(0), ctx.arg<Long>(0), ctx.arg<Double>(0), ctx.arg<Int?>(1), ctx.arg<String>(2),
                    ctx.arg<String>(3), ctx.arg<List<Int>>(4), ctx.arg<Long>(5), ctx.arg<Boolean>(6),
                    thrownBy<OjsException.Validation> { ctx.arg<Int>(5) }.message,
                    thrownBy<OjsException.Validation> { ctx.arg<String>(0) }.message,
                    thrownBy<OjsException.Validation> { ctx.arg<Int>(7) }.message,
                ),
            )
        }.start()
        completed(client.enqueue("read", 7, null, "a", "b\n\"", listOf(1, 2), Long.MAX_VALUE, true, queue = queue))
        val refused = listOf(
            "args[5] is not what the handler reads it as, a kotlin.Int",
            "args[0] is not what the handler reads it as, a kotlin.String",
            "the job has 7 arguments, there is no number 7",
        )
        val read = listOf(7, 7L, 7.0, null, "a", "b\n\"", listOf(1, 2), Long.MAX_VALUE, true)
        assertEquals(read + refused, seen.await())
    }
}
