package org.openjobspec.kotlin

import java.sql.Connection
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.params.ParameterizedTest
import org.junit.jupiter.params.provider.EnumSource

/** Jobs of transactions on PostgreSQL, and on MariaDB by both drivers. */
class OutboxServersTest {
    private suspend fun <T> Connection.transaction(body: suspend (Connection) -> T): T {
        autoCommit = false
        return body(this).also { commit() }
    }

    @ParameterizedTest
    @EnumSource
    internal fun aJobRunsIfItsTransactionCommits(database: Database) = bench(Place.HTTP) {
        val place = database.Empty()
        val outbox = Outbox(client)
        place.open().use { connection ->
            outbox.migrate(connection)
            connection.transaction {
                outbox.enqueueAfterCommit(it, job("a", "rolled back", queue = queue))
                it.rollback()
            }
            val kept = job("a", "ž馬🐎", queue = queue, priority = 3, meta = mapOf("k" to "50 % ?"))
            val job = connection.transaction {
                val undone = it.setSavepoint()
                outbox.enqueueAfterCommit(it, job("a", "undone", queue = queue))
                it.rollback(undone)
                outbox.enqueueAfterCommit(it, kept)
            }
            assertEquals(listOf(listOf("ž馬🐎")), outbox.staged(connection).map { it.args })
            connection.rollback()
            Relay.start(client, url = place.url).use { relay ->
                relay.wake()
                val sent = arrived(client, queue, 1).single()
                assertEquals(listOf(job.id, listOf("ž馬🐎"), 3L, mapOf("k" to "50 % ?")),
                    listOf(sent["id"], sent["args"], sent["priority"], sent["meta"]))
                assertEquals(1, eventually { relay.status?.number("sent")?.takeIf { it > 0 } })
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    internal fun theRelayMakesItsTableAndSendsInOrder(database: Database) = bench(Place.HTTP) {
        val place = database.Empty()
        Relay.start(client, url = place.url, migrate = true).use { relay ->
            val outbox = Outbox(client)
            place.open().use { connection ->
                val ids = connection.transaction {
                    List(30) { n -> outbox.enqueueAfterCommit(it, job("a", n, queue = queue)).id }
                }
                relay.wake()
                assertEquals(ids, arrived(client, queue, 30).map { it["id"] })
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    internal fun whatIsWrongIsSaidInsideTheTransaction(database: Database) = bench {
        val outbox = Outbox(client)
        database.Empty().open().use { connection ->
            val missing = thrownBy<OjsException.Outbox> { outbox.enqueueAfterCommit(connection, job("a")) }
            assertEquals("no_outbox_table", missing.code, missing.message)
            outbox.migrate(connection)
            thrownBy<OjsException.Validation> { outbox.enqueueAfterCommit(connection, job("not a type!")) }
            connection.isReadOnly = true
            connection.autoCommit = false
            val readOnly = thrownBy<OjsException.Outbox> { outbox.enqueueAfterCommit(connection, job("a")) }
            assertEquals("read_only_transaction", readOnly.code, readOnly.message)
            connection.rollback()
            assertEquals(emptyList<Job>(), outbox.staged(connection))
        }
    }

    @ParameterizedTest
    @EnumSource
    internal fun rowsOfAClientWithKeysAreEncrypted(database: Database) = bench(Place.HTTP) {
        val secret = "4111-1111-1111-1111"
        val place = database.Empty()
        OjsClient(server.url, encryptionKeys = "k-1:" + "ab".repeat(32)).use { keyed ->
            val outbox = Outbox(keyed)
            val charge = job("card.charge", secret, queue = queue)
            val staged = place.open().use { connection ->
                outbox.migrate(connection)
                val staged = connection.transaction { outbox.enqueueAfterCommit(it, charge) }
                assertEquals(listOf(secret), staged.args, "what the caller gets")
                val row = connection.createStatement().use { statement ->
                    val rows = statement.executeQuery("SELECT job_args, job_options FROM ojs_outbox")
                    rows.next()
                    rows.getString(1) + rows.getString(2)
                }
                assertFalse(secret in row, row)
                connection.rollback()
                staged
            }
            // The relay knows no key.
            Relay.start(client, url = place.url).use { relay ->
                relay.wake()
                assertEquals(1, eventually { relay.status?.number("sent")?.takeIf { it > 0 } })
            }
            val worker = OjsWorker(keyed, queues = listOf(queue))
            worker.register("card.charge") { ctx -> ctx.args[0] == secret }.start()
            assertEquals(true, client.waitForResult(staged.id, PATIENCE).result)
            worker.stop()
        }
    }

    @Test
    fun whereTheServerSharesThePostgresqlTheRowIsTheJob() = patiently {
        val place = Database.POSTGRESQL.Empty()
        OjsServer.start(place.url).use { server ->
            OjsClient(server.url).use { client ->
                val outbox = Outbox(client)
                place.open().use { connection ->
                    connection.transaction {
                        outbox.enqueueAfterCommit(it, job("a", "rolled back"))
                        it.rollback()
                    }
                    val job = connection.transaction {
                        assertTrue(outbox.sharesDatabase(it))
                        val undone = it.setSavepoint()
                        outbox.enqueueAfterCommit(it, job("a", "undone"))
                        it.rollback(undone)
                        outbox.enqueueAfterCommit(it, job("a", "kept", priority = 3))
                    }
                    val sent = arrived(client, "default", 1).single()
                    assertEquals(listOf(job.id, listOf("kept"), 3L), listOf(sent["id"], sent["args"], sent["priority"]))
                }
                // Another database with tables of the same names is not the server's.
                Database.POSTGRESQL.Empty().open().use { assertFalse(Outbox(client).sharesDatabase(it)) }
            }
        }
    }
}
