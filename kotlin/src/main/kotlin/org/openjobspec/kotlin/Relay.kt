package org.openjobspec.kotlin

import java.sql.Connection
import kotlin.time.Duration
import kotlin.time.Duration.Companion.seconds
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.NonCancellable
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.withContext
import org.openjobspec.kotlin.core.CoreRelay
import org.openjobspec.kotlin.core.RelaySettings
import org.openjobspec.kotlin.core.startRelay

/**
 * Sends what is in an outbox, in the order of its rows. Any number may run, in any number of processes: one sends.
 * [start] makes one.
 *
 * ```kotlin
 * Relay.start(client, connections = dataSource::getConnection).use { relay ->
 *     … // transactions that enqueue
 *     relay.wake() // or wait for its next look, a second at most
 * }
 * ```
 */
public class Relay private constructor(private val core: CoreRelay) : AutoCloseable {
    /** Says that a transaction has committed. Never waits. */
    public fun wake(): Unit = core.wake()

    /**
     * What it has done so far: `leading`, `sent`, `deduplicated`, `refused`, `parked`, `held_up`, `error`; null when it
     * is stopped.
     */
    public val status: Map<String, Any?>? get() = plain(parsed(core.status()))?.let(::membersOf)

    /** Sends what is committed, for at most [grace], and ends. What is left stays in the table. */
    public suspend fun stop(grace: Duration = 5.seconds): Unit = withContext(NonCancellable + Dispatchers.IO) {
        Core.call { core.stop(notNegative("grace", grace).inWholeMilliseconds.toULong()) }
    }

    /** The same, on the calling thread, for `use { }`. */
    override fun close(): Unit = runBlocking { stop() }

    public companion object {
        /**
         * Starts a relay that sends over the client.
         *
         * @param url of PostgreSQL, MySQL or MariaDB, `postgresql://user:password@host/database`, which the relay reads
         *   by itself
         * @param connections in place of a URL: opens a connection to a SQLite database, which the relay closes
         * @param migrate makes the table first when it is missing
         */
        public suspend fun start(
            client: OjsClient,
            url: String? = null,
            connections: (() -> Connection)? = null,
            table: String = Outbox.TABLE,
            pollInterval: Duration? = null,
            batchSize: Int? = null,
            retention: Duration? = null,
            migrate: Boolean = false,
        ): Relay {
            if (batchSize != null && batchSize !in 1..1000) throw OjsException.Validation(
                "batchSize must be 1 to 1000, got $batchSize",
            )
            val settings = RelaySettings(
                table = table,
                url = url,
                database = "sqlite",
                batchSize = batchSize?.toUInt(),
                pollMs = pollInterval?.let { wireMillis("pollInterval", it).toULong() },
                retentionMs = retention?.let { notNegative("retention", it).inWholeMilliseconds.toULong() },
                migrate = migrate,
            )
            return Relay(
                Core.call { startRelay(client.core, settings, connections?.let { Carried(HostDatabase(it)) }) },
            )
        }
    }
}

/** Runs the statements of a relay by the application's driver: all of a request in one transaction. */
private class HostDatabase(private val open: () -> Connection) : Transport {
    override suspend fun send(method: String, path: String, body: ByteArray?): Transport.Answer =
        withContext(Dispatchers.IO) {
        val statements = itemsOf(plain(body ?: ByteArray(0))).map(::membersOf)
        Transport.Answer.of(200, open().use { connection -> transaction(connection, statements) })
    }

    private fun transaction(connection: Connection, statements: List<Map<String, Any?>>): List<List<List<Any?>>> {
        val reads = statements.all { it.text("sql").orEmpty().trimStart().startsWith("SELECT", ignoreCase = true) }
        connection.autoCommit = true
        connection.createStatement().use { transaction ->
            transaction.execute(if (reads) "BEGIN" else "BEGIN IMMEDIATE")
            try {
                val answers = statements.map { run(connection, it) }
                transaction.execute("COMMIT")
                return answers
            } catch (e: Exception) {
                transaction.execute("ROLLBACK")
                throw e
            }
        }
    }

    private fun run(connection: Connection, one: Map<String, Any?>): List<List<Any?>> {
        connection.prepareStatement(one.text("sql")).use { statement ->
            one.items("params").forEachIndexed { index, value -> statement.setObject(index + 1, value) }
            if (!statement.execute()) return emptyList()
            val rows = ArrayList<List<Any?>>()
            statement.resultSet.use { found ->
                while (found.next()) rows += (1..found.metaData.columnCount).map { found.getObject(it) }
            }
            return rows
        }
    }
}
