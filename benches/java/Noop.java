import com.github.kagkarlsson.scheduler.Scheduler;
import com.github.kagkarlsson.scheduler.task.TaskInstance;
import com.github.kagkarlsson.scheduler.task.helper.OneTimeTask;
import com.github.kagkarlsson.scheduler.task.helper.Tasks;
import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.stream.IntStream;
import org.openjobspec.JobRequest;
import org.openjobspec.OJSClient;
import org.openjobspec.OJSWorker;
import org.postgresql.ds.PGSimpleDataSource;

/**
 * Handlers that do nothing, in one Java process: this package embedded (durable and in memory) and over HTTP, and db-scheduler on
 * PostgreSQL, all in one run, in turns. {@code benches/java/run.sh} prepares and starts it.
 *
 * <p>The jobs are enqueued before the clock starts; it runs from the start of the worker to the last handler. Every run ends with an exact
 * check: each number once. A run that fails it prints no figure. Medians; compare the ratios, not the figures.
 */
public class Noop {
    static final int JOBS = Integer.getInteger("jobs", 20_000);
    static final int RUNS = Integer.getInteger("runs", 3);
    static final int THREADS = Integer.getInteger("threads", 10);
    static final String TEXT = "x".repeat(150);

    /** Counts each number once. */
    static final class Tally {
        final AtomicIntegerArray seen = new AtomicIntegerArray(JOBS);
        final CountDownLatch left = new CountDownLatch(JOBS);

        void ran(int number) {
            if (seen.incrementAndGet(number) != 1) throw new AssertionError(number + " ran twice");
            left.countDown();
        }

        double rate(long began) throws InterruptedException {
            left.await();
            return JOBS / ((System.nanoTime() - began) / 1e9);
        }
    }

    static double ojs(String url) throws Exception {
        try (var client = OJSClient.connect(url); var worker = OJSWorker.builder().client(client).concurrency(THREADS).build()) {
            for (int from = 0; from < JOBS; from += 1000) {
                client.enqueueBatch(IntStream.range(from, Math.min(from + 1000, JOBS)).mapToObj(n -> JobRequest.of("bench.noop", n, TEXT)).toList());
            }
            Tally tally = new Tally();
            worker.register("bench.noop", ctx -> {
                tally.ran(ctx.arg(0, int.class));
                return null;
            });
            long began = System.nanoTime();
            worker.start();
            double rate = tally.rate(began);
            worker.stop();
            Object completed = client.queues().stats("default").get("completed");
            if (!completed.equals((long) JOBS)) throw new AssertionError(completed + " completed");
            return rate;
        }
    }

    static double embedded() throws Exception {
        Path file = Files.createTempDirectory("bench").resolve("jobs.db");
        return ojs("sqlite:" + file);
    }

    static int engines;

    static double memory() throws Exception {
        return ojs("memory:bench-" + engines++);
    }

    static double http() throws Exception {
        Path file = Files.createTempDirectory("bench").resolve("jobs.db");
        Process server = new ProcessBuilder(System.getProperty("ojs"), "server", "--store", "sqlite:" + file, "--listen", "127.0.0.1:0", "--log-level", "error")
                .redirectError(ProcessBuilder.Redirect.INHERIT).start();
        try {
            return ojs(server.inputReader().readLine().replace("listening on ", "").strip());
        } finally {
            server.destroy();
        }
    }

    static final String TABLE = """
            drop table if exists scheduled_tasks;
            create table scheduled_tasks (task_name text not null, task_instance text not null, task_data bytea, execution_time timestamp with time zone not null,
              picked boolean not null, picked_by text, last_success timestamp with time zone, last_failure timestamp with time zone, consecutive_failures int,
              last_heartbeat timestamp with time zone, version bigint not null, priority smallint, primary key (task_name, task_instance));
            create index on scheduled_tasks (execution_time); create index on scheduled_tasks (last_heartbeat);
            create index on scheduled_tasks (priority desc, execution_time asc);""";

    /** Its documentation's advice for throughput: lock-and-fetch, on PostgreSQL by SKIP LOCKED. */
    static double dbScheduler() throws Exception {
        PGSimpleDataSource source = new PGSimpleDataSource();
        URI url = URI.create(System.getProperty("postgres"));
        source.setServerNames(new String[] {url.getHost()});
        source.setPortNumbers(new int[] {url.getPort()});
        source.setUser(url.getUserInfo());
        source.setDatabaseName(url.getPath().substring(1));
        HikariConfig config = new HikariConfig();
        config.setDataSource(source);
        config.setMaximumPoolSize(THREADS + 4);
        HikariDataSource pool = new HikariDataSource(config);
        try (Connection connection = source.getConnection(); Statement statement = connection.createStatement()) {
            statement.execute(TABLE);
        }
        Tally tally = new Tally();
        OneTimeTask<String> task = Tasks.oneTime("noop", String.class).execute((instance, _) -> tally.ran(Integer.parseInt(instance.getId())));
        Scheduler scheduler = Scheduler.create(pool, task).threads(THREADS).pollUsingLockAndFetch(1.0, 4.0).pollingInterval(Duration.ofMillis(100)).build();
        Instant now = Instant.now().minusSeconds(60);
        for (int from = 0; from < JOBS; from += 1000) {
            scheduler.scheduleBatch(IntStream.range(from, Math.min(from + 1000, JOBS)).<TaskInstance<?>>mapToObj(n -> task.instance(Integer.toString(n), TEXT)), now);
        }
        long began = System.nanoTime();
        scheduler.start();
        double rate = tally.rate(began);
        scheduler.stop();
        pool.close();
        return rate;
    }

    public static void main(String[] args) throws Exception {
        Map<String, Callable<Double>> all = new LinkedHashMap<>();
        all.put("OJS, embedded, sqlite (durable)", Noop::embedded);
        all.put("OJS, embedded, memory", Noop::memory);
        all.put("OJS, server over HTTP, sqlite", Noop::http);
        if (System.getProperty("postgres") != null) all.put("db-scheduler, PostgreSQL", Noop::dbScheduler);
        Map<String, List<Double>> rates = new LinkedHashMap<>();
        for (int run = 0; run < RUNS; run++) {
            for (var one : all.entrySet()) rates.computeIfAbsent(one.getKey(), _ -> new ArrayList<>()).add(one.getValue().call());
        }
        double rival = median(rates.getOrDefault("db-scheduler, PostgreSQL", List.of(Double.NaN)));
        System.out.printf("%d jobs, %d at a time, medians of %d%n", JOBS, THREADS, RUNS);
        rates.forEach((name, list) -> System.out.printf("%-34s %,10.0f jobs/s   %5.1f x%n", name, median(list), median(list) / rival));
    }

    static double median(List<Double> rates) {
        double[] sorted = rates.stream().mapToDouble(Double::doubleValue).sorted().toArray();
        return sorted[sorted.length / 2];
    }
}
