package org.openjobspec.kotlin

import kotlin.time.Duration.Companion.minutes
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

class TestingTest {
    private val client = OjsClient("http://127.0.0.1:9") // nothing listens there, and nothing is asked

    @Test
    fun aFakeKeepsWhatIsEnqueuedAndDrainRunsIt() = patiently {
        val sent = ArrayList<Any?>()
        val worker = OjsWorker(client, queues = listOf("mail")).register("email.send") { ctx ->
            sent += ctx.args[0]
            if (ctx.args[0] == "ada") ctx.client.enqueue("email.send", "bob", queue = "mail")
        }
        OjsTesting.fake().use { fake ->
            client.enqueue("email.send", "ada", queue = "mail", timeout = 5.minutes)
            fake.assertEnqueued("email.send", "args" to listOf("ada"), "queue" to "mail", "timeout" to "PT5M")
            fake.assertEnqueued("email.send", count = 1)
            fake.assertNotEnqueued("email.send", "queue" to "default")
            val wrong = thrownBy<AssertionError> { fake.assertEnqueued("email.other") }
            assertTrue("email.send[\"ada\"]" in wrong.message.orEmpty(), wrong.message)
            assertEquals(2, fake.drain(worker))
            assertEquals(listOf<Any?>("ada", "bob"), sent)
            fake.clear()
            fake.assertNotEnqueued("email.send")
        }
    }

    @Test
    fun inlineRunsJobsAtOnceAndThrowsWhatHandlersThrow() = patiently {
        val worker = OjsWorker(client).register("good") { "done" }.register("bad") { error("broken") }
        OjsTesting.inline(worker).use { _ ->
            assertEquals("completed", client.getJob(client.enqueue("good").id).state)
            assertEquals("broken", thrownBy<IllegalStateException> { client.enqueue("bad") }.message)
            val unknown = thrownBy<OjsException.Validation> { client.enqueue("missspelt") }
            assertTrue("good" in unknown.message.orEmpty())
        }
    }

    @Test
    fun errorsOfTheServerAreTyped() = patiently {
        thrownBy<OjsException.Connection> { OjsClient("http://127.0.0.1:9", maxSends = 1).enqueue("a") }
        OjsClient("memory:").use { memory ->
            val id = memory.enqueue("a").id
            memory.cancelJob(id)
            val conflict = thrownBy<OjsException.Conflict> { memory.cancelJob(id) }
            val said = when (conflict as OjsException) {
                is OjsException.Api -> "refused"
                is OjsException.Connection, is OjsException.Validation,
                is OjsException.NotEnqueued, is OjsException.Middleware,
                is OjsException.Outbox, is OjsException.UntrustedWebhook,
                is OjsException.Closed, is OjsException.Internal,
                -> "other"
            }
            assertEquals("refused" to 409, said to conflict.status)
        }
    }
}
