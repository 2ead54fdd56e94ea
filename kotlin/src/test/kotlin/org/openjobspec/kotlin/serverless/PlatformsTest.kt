package org.openjobspec.kotlin.serverless

import com.google.cloud.functions.invoker.runner.Invoker
import com.microsoft.azure.functions.HttpMethod
import com.microsoft.azure.functions.HttpRequestMessage
import com.microsoft.azure.functions.HttpResponseMessage
import com.microsoft.azure.functions.HttpStatus
import com.microsoft.azure.functions.HttpStatusType
import java.net.InetAddress
import java.net.ServerSocket
import java.net.URI
import java.net.http.HttpClient
import java.net.http.HttpRequest
import java.net.http.HttpResponse
import java.time.Instant
import java.util.Base64
import java.util.Optional
import java.util.concurrent.atomic.AtomicInteger
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Test
import org.openjobspec.kotlin.jsonText
import org.openjobspec.kotlin.patiently
import org.openjobspec.kotlin.server
import org.openjobspec.kotlin.thrownBy

/** The function of the tests. The functions framework makes an object of it. */
class GoogleFunction : GoogleHandler(Settings(ojsUrl = server.url, signingSecrets = listOf(SECRET))) {
    init {
        register("email.send") { ctx -> "sent to ${ctx.args.first()}" }
        register("email.fail") { error("SMTP connection refused") }
    }
}

/** Google's own functions framework for Java, and the types of Azure's own library. */
class PlatformsTest {
    private val client = HttpClient.newHttpClient()

    /** Serves the function in one of its forms, `http` or `cloudevent`. */
    private suspend fun served(form: String, calls: suspend (HttpRequest.Builder) -> Unit) {
        val port = ServerSocket(0, 1, InetAddress.getLoopbackAddress()).use { it.localPort }
        val invoker = Invoker(port, GoogleFunction::class.java.name, form, GoogleFunction::class.java.classLoader)
        invoker.startTestServer()
        try {
            calls(HttpRequest.newBuilder(URI.create("http://127.0.0.1:$port/")))
        } finally {
            invoker.stopServer()
        }
    }

    private fun post(request: HttpRequest.Builder, body: String, headers: Map<String, String>): HttpResponse<String> {
        val whole = request.copy().POST(HttpRequest.BodyPublishers.ofString(body))
        headers.forEach { (name, value) -> whole.header(name, value) }
        return client.send(whole.build(), HttpResponse.BodyHandlers.ofString())
    }

    private fun flat(body: String): Map<String, String> =
        signed(body, Instant.now(), SECRET).map { (name, values) -> name.lowercase() to values.first() }.toMap()

    @Test
    fun `Google's framework passes push deliveries on`() = patiently {
        served("http") { request ->
            val body = delivery(plainJob("email.send"))
            assertEquals(401, post(request, body, emptyMap()).statusCode())
            val answer = post(request, body, flat(body))
            assertEquals("""{"status":"completed","result":"sent to 1"}""", answer.body())
            assertEquals("application/json", answer.headers().firstValue("content-type").orElseThrow())
            val refused = client.send(request.copy().GET().build(), HttpResponse.BodyHandlers.ofString())
            assertEquals(405, refused.statusCode())
            assertEquals("POST", refused.headers().firstValue("allow").orElseThrow())
        }
    }

    @Test
    fun `Google's framework passes events of Pub-Sub on`() = patiently {
        fun status(request: HttpRequest.Builder, data: String): Int = post(
            request,
            data,
            mapOf(
                "content-type" to "application/json",
                "ce-specversion" to "1.0",
                "ce-id" to "1",
                "ce-source" to "//pubsub.googleapis.com/topics/ojs",
                "ce-type" to "google.cloud.pubsub.topic.v1.messagePublished",
            ),
        ).statusCode()

        fun published(job: String, attempt: Int = 1): String {
            val text = Base64.getEncoder().encodeToString(job.toByteArray())
            return jsonText(mapOf("message" to mapOf("data" to text), "deliveryAttempt" to attempt))
        }
        served("cloudevent") { request ->
            val done = leased("email.send", "ada")
            assertEquals(2, status(request, published(done.body)) / 100)
            assertEquals(listOf("completed", "sent to ada"), listOf(done.state(), done.now().result))
            val failed = leased("email.fail")
            assertEquals(2, status(request, published(failed.body)) / 100, "the server knows")
            assertEquals(2, status(request, published(failed.body, attempt = 2)) / 100)
            assertEquals(listOf("retryable", 1), listOf(failed.state(), failed.now().attempt))
            val alone = leased("email.send", "bob")
            assertEquals(2, status(request, alone.body) / 100, "without Pub/Sub")
            assertEquals("completed", alone.state())
            assertEquals(500, status(request, """{"message":{"data":"no base64"}}"""))
        }
    }

    /** A request, as the host of Azure hands it over. */
    private class Request(
        private val method: HttpMethod,
        private val headers: Map<String, String>,
        private val body: Any?,
    ) : HttpRequestMessage<Any?> {
        override fun getUri(): URI = URI.create("https://example.azurewebsites.net/api/push")

        override fun getHttpMethod(): HttpMethod = method

        override fun getHeaders(): Map<String, String> = headers

        override fun getQueryParameters(): Map<String, String> = emptyMap()

        override fun getBody(): Any? = body

        override fun createResponseBuilder(status: HttpStatus): HttpResponseMessage.Builder = Response(status)

        override fun createResponseBuilder(status: HttpStatusType): HttpResponseMessage.Builder = Response(status)
    }

    private class Response(private var status: HttpStatusType) : HttpResponseMessage, HttpResponseMessage.Builder {
        private val headers = HashMap<String, String>()
        private var body: Any? = null

        override fun status(status: HttpStatusType) = apply { this.status = status }

        override fun header(name: String, value: String) = apply { headers[name] = value }

        override fun body(body: Any?) = apply { this.body = body }

        override fun build(): HttpResponseMessage = this

        override fun getStatus(): HttpStatusType = status

        override fun getHeader(name: String): String? = headers[name]

        override fun getBody(): Any? = body
    }

    private val calls = AtomicInteger()

    private fun azure(settings: Settings) = AzureHandler(settings).apply {
        register("email.send") { calls.incrementAndGet() }
        register("email.fail") { error("SMTP connection refused") }
    }

    @Test
    fun `Azure passes push deliveries on`() = patiently {
        val handler = azure(Settings(signingSecrets = listOf(SECRET)))
        for (form in listOf<(String) -> Any>({ it.toByteArray() }, { Optional.of(it) }, { it })) {
            val body = delivery(plainJob("email.send"))
            val answer = handler.handleHttp(Request(HttpMethod.POST, flat(body), form(body)))
            assertEquals(200, answer.statusCode)
            assertEquals("""{"status":"completed","result":${calls.get()}}""", answer.body)
            assertEquals("application/json", answer.getHeader("content-type"))
        }
        val body = delivery(plainJob("email.send"))
        assertEquals(401, handler.handleHttp(Request(HttpMethod.POST, emptyMap(), Optional.of(body))).statusCode)
        assertEquals(400, handler.handleHttp(Request(HttpMethod.POST, flat(""), Optional.empty<String>())).statusCode)
        val got = handler.handleHttp(Request(HttpMethod.GET, emptyMap(), null))
        assertEquals(listOf(405, "POST"), listOf(got.statusCode, got.getHeader("allow")))
        thrownBy<IllegalArgumentException> { handler.handleHttp(Request(HttpMethod.POST, emptyMap(), 7)) }
        assertEquals(3, calls.get())
    }

    @Test
    fun `messages of Azure's queues report to the server`() = patiently {
        val handler = azure(Settings(ojsUrl = server.url))
        val done = leased("email.send")
        handler.handleQueue(done.body, 1)
        val failed = leased("email.fail")
        handler.handleQueue(failed.body, 1)
        assertEquals(listOf("completed", "retryable"), listOf(done.state(), failed.state()))
        handler.handleQueue(failed.body, 2)
        assertEquals(1, failed.now().attempt, "the server has moved on")
        thrownBy<InvalidDeliveryException> { handler.handleQueue("no job", 1) }
        thrownBy<DeliveryFailedException> { azure(Settings()).handleQueue(plainJob("email.fail"), 1) }
    }
}
