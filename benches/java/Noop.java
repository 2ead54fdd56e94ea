import com.github.kagkarlsson.scheduler.Scheduler;
import com.github.kagkarlsson.scheduler.task.TaskInstance;
import com.github.kagkarlsson.scheduler.task.helper.OneTimeTask;
import com.github.kagkarlsson.scheduler.task.helper.Tasks;
import com.sun.management.OperatingSystemMXBean;
import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import java.lang.management.ManagementFactory;
import java.net.URI;
import java.sql.Connection;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.util.Locale;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.stream.IntStream;
import org.openjobspec.JobRequest;
import org.openjobspec.OJSClient;
import org.openjobspec.OJSWorker;
import org.postgresql.ds.PGSimpleDataSource;

/**
 * Handlers that do nothing, in one Java process: {@code ojs URL}, this package; {@code db-scheduler URL}, its rival on PostgreSQL. Prints one
 * line of JSON; languages.py says what it is compared with. {@code benches/java/run.sh} prepares and starts it.
 *
 * <p>The jobs are enqueued before the clock starts; it runs from the start of the worker to the last handler. Every run ends with an exact
 * check: each number once.
 */
public class Noop {
    static final int JOBS = Integer.getInteger("jobs", 20_000);
    static final int THREADS = Integer.getInteger("threads", 10);
    static final String TEXT = "x".repeat(Integer.getInteger("payload", 150));
    static final OperatingSystemMXBean SYSTEM = (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();

    /** Counts each number once. */
    static final class Tally {
        final AtomicIntegerArray seen = new AtomicIntegerArray(JOBS);
        final CountDownLatch left = new CountDownLatch(JOBS);

        void ran(int number) {
            if (seen.incrementAndGet(number) != 1) throw new AssertionError(number + " ran twice");
            left.countDown();
        }

        /** Runs what starts the worker, waits for the last job, prints the figures. */
        void measure(Runnable start) throws InterruptedException {
            long cpu = SYSTEM.getProcessCpuTime();
            long began = System.nanoTime();
            start.run();
            left.await();
            double seconds = (System.nanoTime() - began) / 1e9;
            double micros = (SYSTEM.getProcessCpuTime() - cpu) / 1e3;
            System.out.printf(Locale.ROOT, "{\"jobs_per_second\": %.0f, \"cpu_us\": %.3f}%n", JOBS / seconds, micros / JOBS);
        }
    }

    static void ojs(String url) throws Exception {
        try (var client = OJSClient.connect(url); var worker = OJSWorker.builder().client(client).concurrency(THREADS).build()) {
            for (int from = 0; from < JOBS; from += 1000) {
                client.enqueueBatch(IntStream.range(from, Math.min(from + 1000, JOBS)).mapToObj(n -> JobRequest.of("bench.noop", n, TEXT)).toList());
            }
            Tally tally = new Tally();
            worker.register("bench.noop", ctx -> {
                tally.ran(ctx.arg(0, int.class));
                return null;
            });
            tally.measure(worker::start);
            worker.stop();
            Object completed = client.queues().stats("default").get("completed");
            if (!completed.equals((long) JOBS)) throw new AssertionError(completed + " completed");
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
    static void dbScheduler(URI url) throws Exception {
        PGSimpleDataSource source = new PGSimpleDataSource();
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
        tally.measure(scheduler::start);
        scheduler.stop();
        pool.close();
    }

    public static void main(String[] args) throws Exception {
        switch (args[0]) {
            case "ojs" -> ojs(args[1]);
            case "db-scheduler" -> dbScheduler(URI.create(args[1]));
            default -> throw new IllegalArgumentException(args[0]);
        }
    }
}
