package org.openjobspec.kotlin

import java.util.concurrent.atomic.AtomicReference
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertNull
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

/** The train of a job: how it is said, what a type says once, what comes back. */
class TrainsTest {
    private val received = AtomicReference<Map<String, Any?>>()

    /** A client whose server answers every job with its place in a train. */
    private fun client(): OjsClient {
        val place = mapOf(
            "id" to "dest_1", "position" to 3, "role" to "locomotive", "ahead" to 0, "state" to "held",
            "epoch" to 8_589_934_592L,
        )
        return OjsClient(transport = { _, path, body ->
            if (path == "/jobs") received.set(membersOf(plain(body!!)))
            Transport.Answer.of(201, mapOf("job" to mapOf("id" to "x", "train" to place)))
        })
    }

    /** The train of the latest request; its metadata says the same. */
    private fun train(): Map<String, Any?>? {
        val train = received.get().inner("options").orEmpty().inner("train")
        assertEquals(train?.get("id"), received.get().inner("meta").orEmpty()["train_id"])
        return train
    }

    @Test
    fun aTrainIsAnIdOrARecord() = patiently {
        client().use { client ->
            val job = client.enqueue("deploy", train = Train("dest_1"))
            assertEquals(mapOf("id" to "dest_1"), train())
            val place = job.train!!
            assertEquals(listOf("dest_1", 3, "locomotive", 0, "held", 8_589_934_592L),
                listOf(place.id, place.position, place.role, place.ahead, place.state, place.epoch))
            val held = Train("x", onCancelled = TrainAction.HOLD, cancelActive = CancelActive.IMMEDIATE)
            client.enqueue("deploy", train = held)
            assertEquals(mapOf("id" to "x", "on_cancelled" to "hold", "cancel_active" to "immediate"), train())
            client.enqueue("deploy", 7, train = Train("dest_{0}"))
            assertEquals(mapOf("id" to "dest_7"), train())
            client.enqueue("deploy")
            assertNull(train())
        }
    }

    @Test
    fun aWrongTrainIsRefusedByFieldAndRule() = patiently {
        client().use { client ->
            val spaced = thrownBy<OjsException.Validation> { client.enqueue("deploy", train = Train("a b")) }
            assertTrue("train.id: must be 1 to 255 letters" in spaced.message.orEmpty(), spaced.message)
            val nameless = Train(onCancelled = TrainAction.HOLD)
            val missing = thrownBy<OjsException.Validation> { client.enqueue("deploy", train = nameless) }
            assertTrue("train.id: is missing" in missing.message.orEmpty(), missing.message)
        }
    }

    @Test
    fun aTypeSaysItsTrainOnce() = patiently {
        client().use { client ->
            val worker = OjsWorker(client)
            worker.register("trains.policy", train = Train(onCancelled = TrainAction.HOLD)) {}
            client.enqueue("trains.policy")
            assertNull(train(), "policies alone are no train")
            client.enqueue("trains.policy", train = Train("dest_1"))
            assertEquals(mapOf("id" to "dest_1", "on_cancelled" to "hold"), train())
            client.enqueue("trains.policy", train = Train("dest_1", onCancelled = TrainAction.ADVANCE))
            assertEquals(mapOf("id" to "dest_1", "on_cancelled" to "advance"), train())
            worker.register("trains.derived", train = Train("dest_{destination_id}")) {}
            client.enqueue("trains.derived", mapOf("destination_id" to 123))
            assertEquals(mapOf("id" to "dest_123"), train())
        }
    }

    @Test
    fun aFakeRunsTheJobsOfATrainInOrder() = bench {
        val ran = ArrayList<List<Int?>>()
        OjsTesting.fake().use { fake ->
            val policy = Train(onDiscarded = TrainAction.HOLD)
            val worker = OjsWorker(client).register("trains.fake", train = policy) { ctx ->
                ran += listOf(ctx.arg<Int>(0), ctx.train?.position)
                if (ctx.arg<Int>(0) < 0) throw NonRetryableException("no such destination")
            }
            for (number in 1..3) client.enqueue("trains.fake", number, train = Train("dest_1"), priority = number)
            assertEquals(3, fake.drain(worker))
            assertEquals(listOf<List<Int?>>(listOf(1, 1), listOf(2, 2), listOf(3, 3)), ran)

            for (number in listOf(-1, 5)) client.enqueue("trains.fake", number, train = Train("dest_2"))
            thrownBy<NonRetryableException> { fake.drain(worker) }
            assertEquals(0, fake.drain(worker), "the train is held")
            assertEquals("dest_2", client.trains.list("held").first()["id"])
            client.trains.advance("dest_2")
            assertEquals(1, fake.drain(worker))
            assertEquals(listOf<Int?>(5, 2), ran.last())
        }
    }
}
