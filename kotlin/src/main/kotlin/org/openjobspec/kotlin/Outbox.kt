package org.openjobspec.kotlin

import java.lang.System.Logger.Level
import java.nio.file.Path
import java.sql.Connection
import java.sql.SQLException
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.withContext
import org.openjobspec.kotlin.core.outboxMigration
import org.openjobspec.kotlin.core.outboxNotify
import org.openjobspec.kotlin.core.outboxRow
import org.openjobspec.kotlin.core.outboxSameDatabase
import org.openjobspec.kotlin.core.outboxStagedQuery

/** A job with the statement that stores it: for code that writes it by another way than JDBC. */
public class Staged internal constructor(
    /** The job, with its id. */
    public val job: Job,
    /** One statement, with a question mark for each parameter. */
    public val sql: String,
    /** Texts, or null. */
    public val params: List<String?>,
)

/**
 * A job runs if, and only if, the transaction that enqueued it commits. The job is a row, written by the application's
 * own JDBC connection in the transaction that is open there; savepoints that are rolled back take their jobs along. A
 * [Relay] sends what is committed. Where the server keeps its jobs in the application's own PostgreSQL the row is the
 * job itself, and no relay is needed: that is found out once.
 *
 * ```kotlin
 * val outbox = Outbox(client)
 * connection.autoCommit = false
 * insertUser(connection, 7)
 * outbox.enqueueAfterCommit(connection, job("email.welcome", 7, queue = "mail"))
 * connection.commit()
 * ```
 *
 * PostgreSQL, MySQL, MariaDB and SQLite. What waits for the database runs on `Dispatchers.IO`.
 *
 * @param table the table of the rows
 * @param sameDatabase whether the server shares the database; null finds out
 */
public class Outbox(
    private val client: OjsClient,
    public val table: String = TABLE,
    private val sameDatabase: Boolean? = null,
) {
    private var detection: Any? = null
    private var settled: Boolean? = null

    /** Makes the table on this connection, or adds what it lacks: for a migration. */
    public suspend fun migrate(connection: Connection): Unit = withContext(Dispatchers.IO) {
        connection.createStatement().use { statement ->
            migration(databaseOf(connection), table).forEach(statement::execute)
        }
    }

    /**
     * Sends a job if, and only if, the outermost transaction of this connection commits. The job has its id already.
     */
    public suspend fun enqueueAfterCommit(connection: Connection, request: JobRequest): Job =
        withContext(Dispatchers.IO) {
        if (connection.isReadOnly) throw readOnly(null)
        val staged = stage(connection, request)
        try {
            connection.prepareStatement(staged.sql).use { statement ->
                staged.params.forEachIndexed { index, value -> statement.setString(index + 1, value) }
                statement.execute()
            }
        } catch (e: SQLException) {
            throw if (e.sqlState == READ_ONLY) readOnly(e) else explained(e)
        }
        staged.job
    }

    /**
     * Runs the client's enqueue middleware, now, and makes the row of what comes out. What is wrong with the job is
     * thrown now.
     */
    public suspend fun stage(connection: Connection, request: JobRequest): Staged = withContext(Dispatchers.IO) {
        val database = databaseOf(connection)
        if (database == "sqlite") refuseSharedFile(connection)
        val inEngine = isInEngine(connection, database)
        var found: Staged? = null
        client.through(request) { changed -> row(changed, database, inEngine).also { found = it }.job }
        found ?: throw OjsException.NotEnqueued("a middleware dropped the job")
    }

    private fun row(request: JobRequest, database: String, inEngine: Boolean): Staged {
        val text = jsonText(request.toJson())
        val row =
            Core.call { outboxRow(direct(client.core.encrypted(direct(text))), database, table, "qmark", inEngine) }
        val members = membersOf(plain(parsed(text)))
        val job = members - "options" + members.inner("options").orEmpty() + ("id" to row.id)
        return Staged(Job(job), row.sql, row.params)
    }

    /**
     * The jobs not sent yet that this connection sees, its own transaction's included: for tests, which then roll back.
     */
    public suspend fun staged(connection: Connection): List<Job> = withContext(Dispatchers.IO) {
        val database = databaseOf(connection)
        val inEngine = isInEngine(connection, database)
        val jobs = ArrayList<Job>()
        try {
            connection.createStatement().use { statement ->
                val rows = statement.executeQuery(Core.call { outboxStagedQuery(database, table, inEngine) })
                while (rows.next()) {
                    val options = membersOf(plain(parsed(rows.getString(4))))
                    val args = plain(parsed(rows.getString(3)))
                    jobs += Job(options + mapOf("id" to rows.getString(1), "type" to rows.getString(2), "args" to args))
                }
            }
        } catch (e: SQLException) {
            throw explained(e)
        }
        jobs
    }

    /** Whether the row of a job is the job itself. */
    private suspend fun isInEngine(connection: Connection, database: String): Boolean =
        database == "postgresql" && sharesDatabase(connection)

    /** Whether the server keeps its jobs in this connection's PostgreSQL. */
    public suspend fun sharesDatabase(connection: Connection): Boolean = detect { sql -> firstText(connection, sql) }

    /** Asks the core what to ask, until it knows. */
    internal suspend fun detect(ask: suspend (String) -> String?): Boolean {
        settled?.let { return it }
        var event: Map<String, Any?> = mapOf("state" to detection, "event" to "begin", "value" to sameDatabase)
        while (true) {
            val step = membersOf(plain(parsed(Core.call { outboxSameDatabase(jsonText(event)) })))
            detection = step["state"]
            val (name, found) = when (step["next"]) {
                "database" -> "database" to runCatching { ask(step.text("sql").orEmpty()) }
                "server" -> "server" to runCatching { client.request("GET", "/health") }
                else -> {
                    step.text("reason")?.let { LOG.log(Level.DEBUG, it) }
                    return step.truth("shared").also { if (step.truth("lasting")) settled = it }
                }
            }
            (found.exceptionOrNull() as? java.util.concurrent.CancellationException)?.let { throw it }
            event = given(
                "state" to detection,
                "event" to name,
                "value" to found.getOrNull(),
                "error" to found.exceptionOrNull()?.message,
            )
        }
    }

    /** The first value of a query; in a savepoint where a transaction is open, which an error would else end. */
    private fun firstText(connection: Connection, sql: String): String? {
        val savepoint = if (connection.autoCommit) null else connection.setSavepoint()
        try {
            return connection.createStatement().use { statement ->
                statement.executeQuery(sql).use { if (it.next()) it.getString(1) else null }
            }
        } catch (e: SQLException) {
            savepoint?.let(connection::rollback)
            throw e
        } finally {
            savepoint?.let { runCatching { connection.releaseSavepoint(it) } }
        }
    }

    /** Two copies of SQLite, the engine's and the driver's, that open one file in one process destroy it. */
    private fun refuseSharedFile(connection: Connection) {
        val application = connection.metaData.url.orEmpty()
        if (!client.url.startsWith("sqlite:") || !application.startsWith("jdbc:sqlite:")) return
        if (file(client.url.removePrefix("sqlite:")) == file(application.removePrefix("jdbc:sqlite:"))) {
            val message =
                "jobs and application share one SQLite file, " +
                    "which two copies of SQLite would destroy: give the jobs a file of their own"
            throw OjsException.Validation(message)
        }
    }

    private fun file(name: String): Path {
        val path = Path.of(name.substringBefore('?').removePrefix("file:")).toAbsolutePath().normalize()
        return runCatching { path.toRealPath() }.getOrDefault(path) // it may not be there yet
    }

    /**
     * What a driver says about a table that is not there, in words that say what to do; other errors stay as they are.
     */
    private fun explained(e: SQLException): Exception {
        val missing = e.sqlState in UNDEFINED_TABLE || "no such table: $table" in e.message.orEmpty()
        if (!missing) return e
        val message = "there is no table $table: run 'outbox.migrate(connection)' once, or 'ojs relay migrate'"
        return OjsException.Outbox(message, OjsException.About("no_outbox_table"), e)
    }

    private fun readOnly(cause: SQLException?): OjsException {
        val message =
            "the transaction is read-only and cannot hold a job: make it read-write, or send the job at once (enqueue)"
        return OjsException.Outbox(message, OjsException.About("read_only_transaction"), cause)
    }

    public companion object {
        /** The table, as the specification names it. */
        public const val TABLE: String = "ojs_outbox"
        private const val READ_ONLY = "25006"
        private val UNDEFINED_TABLE = setOf("42P01", "42S02")

        /** The statements that make the table, or add what it lacks: to be run in this order, on one connection. */
        public fun migration(database: String, table: String = TABLE): List<String> =
            Core.call { outboxMigration(database, table) }

        /**
         * Notifies the nodes of a server on the same database, after a commit; without it they look ten times a second.
         */
        public val NOTIFY: String by lazy { outboxNotify() }

        /** `postgresql`, `mysql` (MariaDB too) or `sqlite`; refuses others. */
        internal fun databaseOf(connection: Connection): String =
            when (val product = connection.metaData.databaseProductName) {
            "PostgreSQL" -> "postgresql"
            "MySQL", "MariaDB" -> "mysql"
            "SQLite" -> "sqlite"
            else -> throw OjsException.Validation(
                "no outbox in $product: the database must be PostgreSQL, MySQL, MariaDB or SQLite",
            )
        }
    }
}
