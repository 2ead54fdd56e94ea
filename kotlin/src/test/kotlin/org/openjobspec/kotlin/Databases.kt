package org.openjobspec.kotlin

import java.net.URI
import java.sql.Connection
import java.sql.DriverManager

/** Databases of servers, with both drivers of MariaDB's protocol. */
internal enum class Database(private val driver: String, private val variable: String, private val first: String) {
    POSTGRESQL("postgresql", "OJS_TEST_POSTGRES", "postgres"),
    MARIADB("mariadb", "OJS_TEST_MYSQL", "mysql"),
    MYSQL("mysql", "OJS_TEST_MYSQL", "mysql");

    /** An empty database, and what opens it. */
    inner class Empty {
        private val name = unique("ojs_kotlin").replace('-', '_')
        private val server = URI.create(
            System.getenv(variable) ?: throw AssertionError(
                "$variable names no server: run this as postgres-fixture -- mariadb-fixture scripts/kotlin.sh test",
            ),
        )
        private val login = server.userInfo.split(":", limit = 2)

        private val scheme = if (this@Database == POSTGRESQL) "postgresql" else "mysql"

        /** For what reads the database by itself. */
        val url: String = "$scheme://${server.rawUserInfo}@${server.host}:${server.port}/$name"

        init {
            connect(first).use { it.createStatement().use { statement -> statement.execute("CREATE DATABASE $name") } }
        }

        fun open(): Connection = connect(name)

        private fun connect(database: String): Connection = DriverManager.getConnection(
            "jdbc:$driver://${server.host}:${server.port}/$database", login[0], login.getOrNull(1),
        )
    }
}

/** The jobs of a queue, as a worker would get them, once there are so many. */
internal suspend fun arrived(client: OjsClient, queue: String, count: Int): List<Map<String, Any?>> {
    val jobs = ArrayList<Map<String, Any?>>()
    return eventually {
        val asked = mapOf("queues" to listOf(queue), "count" to 100, "worker_id" to "test")
        jobs += Reply.list(client.request("POST", "/workers/fetch", asked), "jobs").map(::membersOf)
        jobs.takeIf { it.size >= count }
    }.also { check(it.size == count) { "more than $count: $it" } }
}
