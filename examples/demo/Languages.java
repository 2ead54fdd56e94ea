import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import org.openjobspec.JobRequest;
import org.openjobspec.OJSClient;
import org.openjobspec.OJSWorker;

/** The Java side of languages.py: a worker for the queue {@code java}, until SIGTERM. */
public class Languages {
    public static void main(String[] args) {
        try (var client = OJSClient.connect(); // OJS_URL
             var worker = OJSWorker.builder().client(client).queues("java").concurrency(8).handleSignals(true).build()) {
            // Gives back what it got.
            worker.register("java.echo", ctx -> ctx.args());

            // Sends jobs to another language.
            worker.register("java.send", ctx -> {
                var job = JobRequest.of(ctx.arg(1, String.class), (List<?>) ctx.args().get(3)).queue(ctx.arg(2, String.class));
                return client.enqueueBatch(Collections.nCopies(ctx.arg(0, int.class), job)).size();
            });

            // Reads the result of the step before.
            worker.register("java.reverse", ctx -> {
                var before = (Map<?, ?>) ctx.parentResults().getLast();
                return Map.of("words", new ArrayList<Object>((List<?>) before.get("words")).reversed());
            });

            worker.start();
            System.out.println("ready");
            worker.await();
        }
    }
}
