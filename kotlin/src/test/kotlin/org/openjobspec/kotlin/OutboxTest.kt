package org.openjobspec.kotlin

import java.nio.file.Path
import java.sql.Connection
import java.sql.DriverManager
import kotlinx.coroutines.CompletableDeferred
import kotlinx.coroutines.withTimeout
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.io.TempDir

class OutboxTest {
    @TempDir
    lateinit var folder: Path

    private fun open(): Connection = DriverManager.getConnection("jdbc:sqlite:${folder.resolve("shop.db")}")

    @Test
    fun aJobRunsIfItsTransactionCommits() = bench {
        val outbox = Outbox(client)
        val ran = CompletableDeferred<Any?>()
        open().use { connection ->
            outbox.migrate(connection)
            connection.autoCommit = false
            outbox.enqueueAfterCommit(connection, job("email.welcome", 6, queue = queue))
            assertEquals(listOf(listOf(6L)), outbox.staged(connection).map { it.args })
            connection.rollback()
            val job = outbox.enqueueAfterCommit(connection, job("email.welcome", 7, queue = queue))
            connection.commit()
            worker().register("email.welcome") { ctx -> ran.complete(ctx.args[0]) }.start()
            Relay.start(client, connections = ::open).use { relay ->
                relay.wake()
                assertEquals(7L, withTimeout(PATIENCE) { ran.await() })
                completed(job)
                assertEquals(1, eventually { relay.status?.number("sent")?.takeIf { it > 0 } })
            }
        }
    }

    @Test
    fun whatIsWrongIsSaidInsideTheTransaction() = bench {
        val outbox = Outbox(client)
        open().use { connection ->
            val missing = thrownBy<OjsException.Outbox> { outbox.enqueueAfterCommit(connection, job("a")) }
            val sentence = "there is no table ojs_outbox: run 'outbox.migrate(connection)' once, or 'ojs relay migrate'"
            assertEquals(sentence to "no_outbox_table", missing.message to missing.code)
            outbox.migrate(connection)
            thrownBy<OjsException.Validation> { outbox.enqueueAfterCommit(connection, job("not a type!")) }
            assertEquals(emptyList<Job>(), outbox.staged(connection))
        }
    }

    @Test
    fun oneFileForJobsAndApplicationIsRefused() = patiently {
        OjsClient("sqlite:${folder.resolve("shop.db")}").use { client ->
            open().use { connection ->
                thrownBy<OjsException.Validation> { Outbox(client).enqueueAfterCommit(connection, job("a")) }
            }
        }
    }
}
