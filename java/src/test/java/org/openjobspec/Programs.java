package org.openjobspec;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.stream.IntStream;

/** Programs of their own for {@link ProcessTest} and {@link BoundaryTest}: {@code Programs NAME QUEUE}, with OJS_URL. */
final class Programs {
    private Programs() {}

    public static void main(String[] args) throws Exception {
        String queue = args[1];
        switch (args[0]) {
            case "client" -> {
                OJSClient client = OJSClient.connect(); // never closed
                say("made " + client.job("a").queue(queue).enqueue().id());
            }
            case "run" -> {
                holding(queue).run();
                say("over");
            }
            case "exit" -> {
                OJSWorker worker = holding(queue).onFailed((ctx, thrown) -> {});
                worker.start();
                System.in.read();
                System.exit(3);
            }
            case "throw" -> {
                holding(queue).start();
                System.in.read();
                throw new IllegalStateException("main is over, the worker is not");
            }
            case "loud" -> loud(queue);
            case "soak" -> soak(queue, Integer.parseInt(args[2]));
            default -> throw new IllegalArgumentException(args[0]);
        }
    }

    private static void say(String line) {
        System.out.println(line);
        System.out.flush();
    }

    /** A worker as a new user writes it: nothing about logs. The lease is short, for one of the jobs loses it. */
    private static void loud(String queue) {
        OJSWorker.builder().queues(queue).visibilityTimeout(Duration.ofSeconds(1)).heartbeatInterval(Duration.ofMillis(100)).build()
                .register("mail.fails", ctx -> {
                    throw new IllegalStateException("no mail today");
                }).register("mail.waits", ctx -> {
                    say("waiting");
                    new CountDownLatch(1).await();
                    return null;
                }).run();
    }

    /** Its jobs say that they have begun; they end after {@code hold.ms}, and never without that. */
    private static OJSWorker holding(String queue) {
        // Jobs that do not end by themselves end by what a test does, never by the grace period.
        // Nor do they come back by themselves: the lease is as long.
        OJSWorker worker = OJSWorker.builder().queues(queue).gracePeriod(Duration.ofMinutes(30)).visibilityTimeout(Duration.ofMinutes(30)).build();
        OJSWorker.State first = worker.state();
        Thread.ofPlatform().daemon().start(() -> {
            OJSWorker.State before = first; // of before the thread: a busy machine may run it late
            while (true) {
                OJSWorker.State seen = before;
                before = Support.eventually(() -> worker.state() == seen ? null : worker.state());
                say("now " + before);
            }
        });
        return worker.register("hold", ctx -> {
            say("begun " + ctx.id());
            Integer ms = ctx.args().isEmpty() ? null : ctx.arg(0, int.class);
            if (ms == null) new CountDownLatch(1).await();
            else Thread.sleep(ms);
            return "held";
        }).register("say", ctx -> {
            say("said " + ctx.arg(0, String.class));
            return null;
        });
    }

    /** Works jobs, half by half, and says what the process holds after each. */
    private static void soak(String queue, int jobs) throws Exception {
        try (OJSClient client = OJSClient.connect();
             OJSWorker worker = OJSWorker.builder().client(client).queues(queue).concurrency(64).build()) {
            worker.register("soak", ctx -> Map.of("args", ctx.args(), "again", client.health().get("status"))).start();
            long done = 0;
            for (int part = 0; part < 4; part++) {
                for (int sent = 0; sent < jobs / 4; sent += 500) {
                    client.enqueueBatch(IntStream.range(0, 500).mapToObj(n -> JobRequest.of("soak", n, "x".repeat(200)).queue(queue)).toList());
                    done += 500;
                    long until = done;
                    Support.eventually(() -> ((Number) client.queues().stats(queue).get("completed")).longValue() >= until);
                }
                System.gc();
                say("resident " + resident() + " " + Thread.activeCount() + " " + NativeClient.underWay() + " " + heap());
            }
        }
    }

    /** Megabytes that are still in use after a collection. */
    private static long heap() {
        return (Runtime.getRuntime().totalMemory() - Runtime.getRuntime().freeMemory()) >> 20;
    }

    /** Megabytes. */
    private static long resident() throws Exception {
        List<String> status = Files.readAllLines(Path.of("/proc/self/status"));
        return status.stream().filter(line -> line.startsWith("VmRSS:")).mapToLong(line -> Long.parseLong(line.replaceAll("\\D", "")) / 1024).findFirst().orElseThrow();
    }
}
