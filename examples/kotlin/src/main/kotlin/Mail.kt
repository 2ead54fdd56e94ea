import kotlinx.coroutines.runBlocking
import org.openjobspec.kotlin.OjsClient
import org.openjobspec.kotlin.OjsWorker

/** The first job: no server, the jobs are in a file. */
fun main() = runBlocking {
    OjsClient("sqlite:jobs.db").use { client ->
        val worker = OjsWorker(client)
        worker.register("email.send") { ctx ->
            println("to ${ctx.arg<String>(0)} attempt ${ctx.attempt}")
            worker.shutdown()
        }
        client.enqueue("email.send", "ada@example.com")
        worker.run() // until Ctrl-C or SIGTERM, or here: until the first job
    }
}
