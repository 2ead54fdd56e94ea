package org.openjobspec.kotlin.serverless

import com.amazonaws.services.lambda.runtime.Context
import com.amazonaws.services.lambda.runtime.RequestStreamHandler
import com.amazonaws.services.lambda.runtime.events.SQSBatchResponse
import com.amazonaws.services.lambda.runtime.serialization.events.LambdaEventSerializers
import com.sun.net.httpserver.HttpExchange
import com.sun.net.httpserver.HttpServer
import java.io.ByteArrayInputStream
import java.io.InputStream
import java.io.OutputStream
import java.net.InetAddress
import java.net.InetSocketAddress
import java.nio.file.Path
import java.util.concurrent.Executors
import java.util.concurrent.LinkedBlockingQueue
import java.util.concurrent.TimeUnit
import kotlin.time.Duration.Companion.milliseconds
import org.junit.jupiter.api.AfterEach
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.BeforeEach
import org.junit.jupiter.api.Test
import org.openjobspec.kotlin.PATIENCE
import org.openjobspec.kotlin.jsonText
import org.openjobspec.kotlin.patiently
import org.openjobspec.kotlin.server

private val handler = LambdaHandler().apply {
    register("email.send") { ctx -> mapOf("sent_to" to ctx.arg<String>(0)) }
    register("email.fail") { error("no mail today") }
}

/** A function as the guide shows it, for AWS's runtime client. */
class Function : RequestStreamHandler {
    override fun handleRequest(input: InputStream, output: OutputStream, context: Context) =
        handler.handle(input, output, context.remainingTimeInMillis.milliseconds)
}

/** A function in a process of its own, under AWS's runtime client, which asks the published Runtime API for events. */
class RuntimeTest {
    private val events = LinkedBlockingQueue<String>()
    private val answers = LinkedBlockingQueue<String>()
    private val threads = Executors.newCachedThreadPool()
    private lateinit var api: HttpServer
    private lateinit var function: Process

    @BeforeEach
    fun start() {
        api = HttpServer.create(InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0)
        api.executor = threads
        api.createContext(INVOCATION, ::serve)
        api.start()
        val java = Path.of(System.getProperty("java.home"), "bin", "java")
        val program = ProcessBuilder(
            "$java",
            "--enable-native-access=ALL-UNNAMED",
            "-cp",
            System.getProperty("surefire.test.class.path") ?: System.getProperty("java.class.path"),
            "com.amazonaws.services.lambda.runtime.api.client.AWSLambda",
            "${Function::class.java.name}::handleRequest",
        ).inheritIO()
        program.environment()["AWS_LAMBDA_RUNTIME_API"] = "127.0.0.1:${api.address.port}"
        program.environment()["AWS_LAMBDA_FUNCTION_NAME"] = "ojs"
        program.environment()["OJS_URL"] = server.url
        function = program.start()
    }

    @AfterEach
    fun stop() {
        function.destroyForcibly()
        api.stop(0)
        threads.shutdownNow()
    }

    private fun serve(exchange: HttpExchange) {
        try {
            val what = exchange.requestURI.path.removePrefix(INVOCATION)
            if (what != "next") {
                answers += what.split('/')[1] + " " + exchange.requestBody.readAllBytes().decodeToString()
                exchange.sendResponseHeaders(202, -1)
                return
            }
            val event = events.take().toByteArray()
            val headers = mapOf(
                "Content-Type" to "application/json",
                "Lambda-Runtime-Aws-Request-Id" to "8476a536-e9f4-11e8-9739-2dfe598c3fcd",
                "Lambda-Runtime-Deadline-Ms" to "${System.currentTimeMillis() + 30_000}",
                "Lambda-Runtime-Invoked-Function-Arn" to "arn:aws:lambda:eu-central-1:1:function:ojs",
            )
            headers.forEach { (name, value) -> exchange.responseHeaders.set(name, value) }
            exchange.sendResponseHeaders(200, event.size.toLong())
            exchange.responseBody.write(event)
        } catch (e: InterruptedException) {
            Thread.currentThread().interrupt() // the test is over
        } finally {
            exchange.close()
        }
    }

    private fun invoke(event: Map<String, Any?>): String {
        events += jsonText(event)
        return answers.poll(PATIENCE.inWholeSeconds, TimeUnit.SECONDS) ?: throw AssertionError("no answer")
    }

    @Test
    fun `a function acks to the server`() = patiently {
        val done = leased("email.send", "ada")
        val failed = leased("email.fail")
        val batch = listOf(sqs("m1", done.body), sqs("m2", failed.body), sqs("m3", "no job"))
        val answer = invoke(mapOf("Records" to batch))
        assertTrue(answer.startsWith("response "), answer)
        val type = SQSBatchResponse::class.java
        val read = LambdaEventSerializers.serializerFor(type, type.classLoader)
            .fromJson(ByteArrayInputStream(answer.removePrefix("response ").toByteArray()))
        assertEquals(listOf("m3"), read.batchItemFailures.map { it.itemIdentifier })
        assertEquals(listOf("completed", "retryable"), listOf(done.state(), failed.state()))
        assertEquals(mapOf("sent_to" to "ada"), done.now().result)
        val pushed = mapOf("httpMethod" to "POST", "headers" to emptyMap<String, Any>(), "body" to failed.body)
        assertTrue("\"statusCode\":500" in invoke(pushed), "the function has no signing secret")
        assertTrue(invoke(mapOf("source" to "x", "detail" to emptyMap<String, Any>())).startsWith("error "))
    }

    private companion object {
        const val INVOCATION = "/2018-06-01/runtime/invocation/"
    }
}
