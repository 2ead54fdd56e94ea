package org.openjobspec;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.openjobspec.Support.PATIENCE;
import static org.openjobspec.Support.eventually;

import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** What goes wrong is on stderr, by java.util.logging, without any set-up: read from a worker process. */
class FailuresTest {
    private final OJSClient client = OJSClient.connect(Support.server());
    private final String queue = Support.unique("loud");
    private final List<String> stderr = new CopyOnWriteArrayList<>();
    private final List<String> stdout = new CopyOnWriteArrayList<>();

    private Job enqueue(PendingJob job) {
        return job.queue(queue).enqueue();
    }

    private boolean has(String... texts) {
        return stderr.stream().anyMatch(line -> Arrays.stream(texts).allMatch(line::contains));
    }

    private void seen(String... texts) {
        try {
            eventually(() -> has(texts));
        } catch (AssertionError e) {
            throw new AssertionError(Arrays.toString(texts) + " is not in:\n" + String.join("\n", stderr), e);
        }
    }

    private static void signal(Process process, String name) throws Exception {
        assertEquals(0, new ProcessBuilder("kill", "-" + name, Long.toString(process.pid())).start().waitFor());
    }

    @Test
    void failuresAreOnStderr() throws Exception {
        Process process = ProcessTest.command(List.of(), "loud", queue).start();
        try {
            Thread errors = Thread.ofVirtual().start(() -> process.errorReader().lines().forEach(stderr::add));
            Thread.ofVirtual().start(() -> process.inputReader().lines().forEach(stdout::add));
            attemptsAndTypes();
            aLostLease(process);
            // What was said before the end is written before the end.
            Job last = enqueue(client.job("mail.fails").retry(RetryPolicy.attempts(1)));
            eventually(() -> client.getJob(last.id()).state().equals("discarded"));
            signal(process, "TERM");
            assertTrue(process.waitFor(PATIENCE.toSeconds(), TimeUnit.SECONDS));
            errors.join();
            assertTrue(has("SEVERE", last.id()), String.join("\n", stderr));
        } finally {
            process.destroyForcibly();
            client.close();
        }
    }

    private void attemptsAndTypes() {
        RetryPolicy twice = RetryPolicy.attempts(2).withInitialInterval(Duration.ofMillis(1)).withJitter(false);
        Job failing = enqueue(client.job("mail.fails").retry(twice));
        seen("WARNING", "job failed", "mail.fails", failing.id(), "1 of 2", "no mail today");
        seen("SEVERE", "for good", "mail.fails", failing.id(), "2 of 2", "no mail today");
        seen("Programs.java"); // the trace
        Job misspelt = enqueue(client.job("mail.fials"));
        seen("SEVERE", "mail.fials", misspelt.id(), "no_handler");
        Job slow = enqueue(client.job("mail.waits").timeout(Duration.ofMillis(100)).retry(RetryPolicy.attempts(1)));
        seen("SEVERE", "mail.waits", slow.id(), "timeout");
    }

    private void aLostLease(Process process) throws Exception {
        Job held = enqueue(client.job("mail.waits"));
        eventually(() -> stdout.contains("waiting") && client.getJob(held.id()).state().equals("active"));
        // A process that is stopped is silent: the server gives its job to somebody else.
        signal(process, "STOP");
        eventually(() -> {
            Object answer = client.request("POST", "/workers/fetch", Map.of("queues", List.of(queue), "count", 1, "worker_id", "thief"));
            return Operation.items(answer, "jobs").size() == 1;
        });
        signal(process, "CONT");
        seen("WARNING", "mail.waits", held.id(), "lease_lost");
    }
}
