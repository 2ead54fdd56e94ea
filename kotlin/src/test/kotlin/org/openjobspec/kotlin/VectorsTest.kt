package org.openjobspec.kotlin

import com.sun.net.httpserver.HttpServer
import java.math.BigDecimal
import java.net.InetAddress
import java.net.InetSocketAddress
import java.net.URLDecoder
import java.nio.file.Files
import java.sql.SQLException
import java.time.Instant
import java.time.OffsetDateTime
import java.time.ZoneId
import java.util.concurrent.Executors
import kotlin.reflect.KClass
import kotlin.time.Duration
import kotlin.time.Duration.Companion.milliseconds
import kotlin.time.Duration.Companion.seconds
import kotlinx.coroutines.runBlocking
import org.junit.jupiter.api.AfterAll
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.BeforeAll
import org.junit.jupiter.api.DynamicTest
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.TestFactory
import org.openjobspec.kotlin.core.outboxStagedQuery

/** 0.10 and 0.1 are the same number, and so are 3 and 3.0. */
internal fun same(value: Any?): Any? = when (value) {
    is Map<*, *> -> value.mapValues { same(it.value) }
    is List<*> -> value.map(::same)
    is Number -> BigDecimal(value.toString()).stripTrailingZeros()
    else -> value
}

/**
 * The vectors that all languages share: what goes over the wire, and which error an answer becomes. A server of this
 * test listens.
 */
class VectorsTest {
    @TestFactory
    fun requests() = eachVector("requests", "type", "args", "options", "body", "text", "why") { vector ->
        answer(201, mapOf("job" to mapOf("id" to "x")))
        client.enqueue(request(vector))
        assertEquals(same(vector["body"]), same(membersOf(plain(received)) - "id"))
        vector["text"]?.let { assertEquals(it, received.decodeToString()) }
    }

    /** A JVM cannot change its environment: the variables are given to what reads them. */
    @TestFactory
    fun environments() = eachVector("environments", "variables", "settings", "error") { vector ->
        val variables = vector.inner("variables").orEmpty().mapValues { it.value as String }
        val error = vector["error"]
        if (error != null) {
            assertEquals(error, thrownBy<OjsException.Validation> { Environment.of(variables) }.message)
        } else {
            assertEquals(same(vector["settings"]), same(Environment.of(variables)))
        }
    }

    @TestFactory
    fun refusals() = eachVector("refusals", "options", "says") { vector ->
        val wrong = JobRequest("email.send", options = vector.inner("options").orEmpty())
        val error = thrownBy<OjsException.Validation> { client.enqueue(wrong) }
        assertTrue(vector.text("says").orEmpty() in error.message.orEmpty(), error.message)
    }

    @TestFactory
    fun operations(): List<DynamicTest> {
        val members = arrayOf("name", "arguments", "method", "path", "query", "body", "answer")
        val operations = vectors("operations.json").items("operations").map { known(it, *members) }
        assertEquals(operations.size, operationCalls.size)
        return operations.mapIndexed { place, vector ->
            DynamicTest.dynamicTest(vector.text("name")) {
                runBlocking {
                    answer(200, vector["answer"])
                    operationCalls[place](client)
                    val (method, target) = asked.split(" ")
                    assertEquals(vector["method"], method)
                    val query = target.substringAfter('?', "").split("&").filter { it.isNotEmpty() }
                        .associate {
                            it.substringBefore('=') to URLDecoder.decode(it.substringAfter('='), Charsets.UTF_8)
                        }
                    assertEquals(same(vector["query"]), same(query))
                    val path = target.substringBefore('?').removePrefix("/ojs/v1").removePrefix("/").split("/")
                    assertEquals(vector["path"], path.map { URLDecoder.decode(it, Charsets.UTF_8) })
                    assertEquals(same(vector["body"]), same(plain(received)))
                }
            }
        }
    }

    @TestFactory
    fun workflows() = eachVector("workflows", "workflow", "body") { vector ->
        answer(201, mapOf("workflow" to mapOf("id" to "x")))
        client.workflow(step(vector.inner("workflow").orEmpty()) as Workflow)
        assertEquals(same(vector["body"]), same(plain(received)))
    }

    @TestFactory
    fun crons() = eachVector("crons", "cron", "body") { vector ->
        answer(201, mapOf("cron" to mapOf("name" to "x")))
        val cron = known(vector["cron"], "name", "expression", "timezone", "job")
        val zone = cron.text("timezone")?.let(ZoneId::of)
        client.cron.register(
            cron.text("name").orEmpty(),
            cron.text("expression").orEmpty(),
            jobOf(cron["job"]),
            zone,
        )
        assertEquals(same(vector["body"]), same(plain(received)))
    }

    @TestFactory
    fun webhooks() = eachVector("webhooks", "headers", "secrets", "body", "tolerance", "now", "reason") { vector ->
        val headers = vector.inner("headers").orEmpty().mapValues { listOf(it.value as String) }
        val secrets = vector.items("secrets").map { it as String }
        val verify = {
            Webhooks.verify(
                vector.text("body").orEmpty().encodeToByteArray(), headers, secrets,
                (vector["tolerance"] as Number).toLong().seconds, Instant.ofEpochSecond(
                    (vector["now"] as Number).toLong(),
                ),
            )
        }
        val reason = vector["reason"]
        if (reason == null) verify() else assertEquals(
            reason,
            membersOf(thrownBy<OjsException.UntrustedWebhook> { verify() }.details)["reason"],
        )
    }

    @TestFactory
    fun answers() = eachVector("answers", "status", "answer", "error") { vector ->
        val status = vector.number("status") ?: 0
        answer(status, vector["answer"])
        val members = arrayOf("class", "code", "message", "retryable", "status", "hint", "details")
        val expected = known(vector["error"], *members)
        refused(expected, thrownBy { client.getJob("x") })
        // The same through a transport of the program's own.
        val injected = OjsClient(transport = { _, _, _ -> Transport.Answer.of(status, vector["answer"]) })
        refused(expected, thrownBy { injected.getJob("x") })
    }

    private fun refused(expected: Map<String, Any?>, error: OjsException) {
        assertEquals(classOf(expected), error::class)
        assertEquals(expected["code"], error.code)
        assertEquals(expected["message"], error.message)
        assertEquals(expected["retryable"], error.retryable)
        assertEquals(expected.number("status"), error.status)
        assertEquals(expected["hint"], error.hint)
        assertEquals(same(expected["details"]), same(error.details))
    }

    @TestFactory
    fun detections() = eachVector("detections", "wanted", "server", "database", "calls") { vector ->
        val there = known(vector["server"], "value", "error")
        val database = known(vector["database"], "value", "error")
        val refusal = mapOf("error" to mapOf("code" to "backend_error", "message" to "refused"))
        if ("error" in there) answer(500, refusal) else answer(200, there["value"])
        val outbox = Outbox(client, sameDatabase = vector["wanted"] as Boolean?)
        for (one in vector.items("calls")) {
            // What the core keeps and logs of it is not seen here.
            val call = known(one, "shared", "asked", "lasting", "reason")
            val seen = ArrayList<String>()
            asked = ""
            val shared = outbox.detect { sql ->
                assertTrue("pg_control_system" in sql, sql)
                seen += "database"
                database.text("error")?.let { throw SQLException(it) }
                database.text("value")
            }
            if (asked.endsWith("/health")) seen += "server"
            assertEquals(call["shared"], shared)
            assertEquals(call["asked"], seen)
        }
    }

    @TestFactory
    fun statements() = eachVector(
        "statements", "database", "table", "in_engine", "migration", "staged", "notify",
    ) { vector ->
        val (database, table) = listOf("database", "table").map { vector.text(it).orEmpty() }
        assertEquals(vector["migration"], Outbox.migration(database, table))
        assertEquals(vector["staged"], outboxStagedQuery(database, table, vector["in_engine"] == true))
        assertEquals(vector["notify"], Outbox.NOTIFY)
    }

    @TestFactory
    fun fakes() = eachVector("fakes", "jobs", "recorded", "questions") { vector ->
        OjsTesting.fake().use { fake ->
            for (one in vector.items("jobs")) client.enqueue(jobOf(one))
            assertEquals(same(vector["recorded"]), same(fake.requests.map { it.members }))
            for (one in vector.items("questions")) {
                val question = known(one, "wanted", "found", "error")
                val ask = { fake.matching(question.inner("wanted").orEmpty()).size }
                val error = question["error"]
                if (error == null) assertEquals(question.number("found"), ask(), "$question")
                else assertEquals(error, thrownBy<OjsException.Validation> { ask() }.message)
            }
        }
    }

    @Test
    fun theReferenceNamesMethodsThatExist() {
        val page = Files.readString(ROOT.resolve("docs/reference/operations.md"))
        val named = Regex("Kotlin `(?:([A-Za-z]+)\\.)?([A-Za-z]+)`").findAll(page).toList()
        assertTrue(named.size > 40, "methods are named")
        for (name in named) {
            val (part, method) = name.destructured
            val owner = if (part.isEmpty()) OjsClient::class.java else OjsClient::class.java.getMethod(
                "get" + part.replaceFirstChar(Char::uppercase),
            ).returnType
            assertTrue(owner.methods.any { it.name.substringBefore('-') == method }, name.value)
        }
    }

    companion object {
        private lateinit var http: HttpServer
        private lateinit var client: OjsClient

        @Volatile
        private var received = ByteArray(0)

        @Volatile
        private var asked = ""

        @Volatile
        private var status = 200

        @Volatile
        private var body = ByteArray(0)

        private fun answer(code: Int, value: Any?) {
            status = code
            body = if (value == null) ByteArray(0) else jsonText(value).encodeToByteArray()
        }

        @BeforeAll
        @JvmStatic
        fun listen() {
            http = HttpServer.create(InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0)
            http.executor = Executors.newCachedThreadPool { Thread(it).apply { isDaemon = true } }
            http.createContext("/") { exchange ->
                received = exchange.requestBody.readAllBytes()
                asked = "${exchange.requestMethod} ${exchange.requestURI}"
                exchange.responseHeaders["content-type"] = "application/openjobspec+json"
                exchange.sendResponseHeaders(status, if (body.isEmpty()) -1 else body.size.toLong())
                exchange.responseBody.use { it.write(body) }
            }
            http.start()
            client = OjsClient("http://127.0.0.1:${http.address.port}", maxSends = 1)
        }

        @AfterAll
        @JvmStatic
        fun end() {
            client.close()
            http.stop(0)
        }

        internal fun classOf(expected: Map<String, Any?>): KClass<out OjsException> =
            OjsException.of(expected.number("class") ?: 0, "", OjsException.About(""))::class

        /** A workflow, or a step of one, as a program would write it. */
        private fun step(tree: Map<String, Any?>): Step {
            known(tree, "name", "type", "args", "options", "chain", "graph", "group", "batch", "callbacks")
            fun steps(kind: String) = tree.items(kind).map { step(membersOf(it)) }.toTypedArray()
            val callbacks = tree.inner("callbacks").orEmpty().mapValues { jobOf(it.value) }
            fun node(value: Any?): Node {
                val given = known(value, "id", "step", "after")
                val before = given.items("after").map { it as String }
                return node(checkNotNull(given.text("id")), step(checkNotNull(given.inner("step"))), before)
            }
            val made = when {
                "graph" in tree -> graph(*tree.items("graph").map { node(it) }.toTypedArray())
                "chain" in tree -> chain(*steps("chain"))
                "group" in tree -> group(*steps("group"))
                "batch" in tree -> batch(
                    *steps("batch"),
                    onComplete = callbacks["on_complete"],
                    onSuccess = callbacks["on_success"], onFailure = callbacks["on_failure"],
                )
                else -> return jobOf(tree)
            }
            return tree.text("name")?.let(made::named) ?: made
        }

        private fun jobOf(given: Any?) = request(known(given, "type", "args", "meta", "options"))

        /** A job through the named arguments that a program would write. */
        internal fun request(given: Map<String, Any?>): JobRequest {
            val options = given.inner("options").orEmpty() + given.filterKeys { it == "meta" }
            known(
                options,
                "queue", "priority", "timeout", "timeout_ms",
                "visibility_timeout_ms", "delay_until", "expires_at", "tags", "meta", "schema",
                "version", "retry", "unique", "train", "fairness_key", "tenant",
            )
            val timeout =
                options.text("timeout")?.let {
                    Duration.parseIsoString("PT" + it.uppercase())
                } ?: options.millis("timeout_ms")
            // A time that is not in UTC is none of `Instant`: such a text is an option by its name on the wire.
            val texts =
                options.filter { (name, value) ->
                    name in setOf("delay_until", "expires_at") && !(value as String).endsWith("Z")
                }
            return job(
                given.text("type").orEmpty(), *given.items("args").toTypedArray(),
                queue = options.text("queue"), priority = options.number("priority"), timeout = timeout,
                visibilityTimeout = options.millis("visibility_timeout_ms"),
                delayUntil = options.text("delay_until")?.let { OffsetDateTime.parse(it).toInstant() },
                expiresAt = options.text("expires_at")?.let { OffsetDateTime.parse(it).toInstant() },
                tags = options["tags"]?.let { options.texts("tags") },
                meta = options.inner("meta"), schema = options.text("schema"),
                version = options.text("version"),
                fairnessKey = options.text("fairness_key"), tenant = options.text("tenant"),
                retry = options["retry"]?.let {
                    if (it is Number) RetryPolicy(maxAttempts = it.toInt()) else retry(membersOf(it))
                },
                unique = options.inner("unique")?.let(::unique),
                train = options["train"]?.let { if (it is String) Train(it) else train(membersOf(it)) },
            ).let { it.copy(options = it.options + texts) }
        }

        private fun Map<String, Any?>.millis(name: String) = whole(name)?.milliseconds

        private fun Map<String, Any?>.texts(name: String): List<String>? = (get(name) as? List<*>)?.map { it as String }

        private fun Map<String, Any?>.length(name: String) = text(name)?.let(Duration::parseIsoString)

        private inline fun <reified E : Enum<E>> Map<String, Any?>.word(name: String): E? =
            text(name)?.let { enumValueOf<E>(it.uppercase()) }

        private fun retry(given: Map<String, Any?>) = RetryPolicy(
            given.number("max_attempts"),
            given.length("initial_interval"),
            (given["backoff_coefficient"] as Number?)?.toDouble(),
            given.length("max_interval"),
            given["jitter"] as Boolean?,
            given.texts("non_retryable_errors"),
            given.word<OnExhaustion>("on_exhaustion"),
            given.word<BackoffStrategy>("backoff_strategy"),
        )

        private fun unique(given: Map<String, Any?>) = UniquePolicy(
            given.texts("keys"), given.texts("args_keys"), given.texts("meta_keys"),
            given.length("period"), given.texts("states"), given.word<OnConflict>("on_conflict"),
        )

        private fun train(given: Map<String, Any?>) =
            Train(
                given.text("id"),
                given.word<TrainAction>("on_cancelled"),
                given.word<TrainAction>("on_discarded"),
                given.word<CancelActive>("cancel_active"),
            )
    }
}
