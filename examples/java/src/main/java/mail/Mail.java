package mail;

import java.util.Map;
import org.openjobspec.OJSClient;
import org.openjobspec.OJSWorker;

/** The first job: no server, the jobs are in a file. */
public class Mail {
    public static void main(String[] args) {
        try (var client = OJSClient.connect("sqlite:jobs.db"); var worker = OJSWorker.of(client)) {
            worker.register("email.send", ctx -> {
                System.out.println("to " + ctx.arg(0, String.class) + " attempt " + ctx.attempt());
                worker.shutdown();
                return Map.of("sent", true);
            });
            client.enqueue("email.send", "ada@example.com");
            worker.run(); // until Ctrl-C or SIGTERM, or here: until the first job
        }
    }
}
