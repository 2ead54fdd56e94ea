package org.openjobspec.jdbc;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicInteger;
import org.openjobspec.OJSClient;

/** Empty databases, and what has arrived on a server. The starter's tests use it too. */
public final class Databases {
    /** Reached only by failures. */
    public static final Duration PATIENCE = Duration.ofSeconds(60);

    private static final AtomicInteger NAMES = new AtomicInteger();

    private Databases() {}

    /** What tests run on. */
    public enum Kind {
        SQLITE, POSTGRESQL;

        /** The JDBC URL of an empty database, with user and password. */
        public String url() {
            String name = "ojs_java_" + ProcessHandle.current().pid() + "_" + NAMES.incrementAndGet();
            try {
                if (this == SQLITE) return "jdbc:sqlite:" + folder().resolve(name + ".db") + "?journal_mode=WAL&busy_timeout=" + PATIENCE.toMillis();
                URI server = postgres();
                String base = "jdbc:postgresql://" + server.getHost() + ":" + server.getPort() + "/";
                String login = "?user=" + server.getUserInfo().split(":")[0];
                try (Connection admin = DriverManager.getConnection(base + "postgres" + login); Statement statement = admin.createStatement()) {
                    statement.execute("CREATE DATABASE " + name);
                }
                return base + name + login;
            } catch (SQLException | IOException e) {
                throw new AssertionError(e);
            }
        }
    }

    private static Path folder() throws IOException {
        Path folder = Path.of("target", "databases");
        return Files.createDirectories(folder).toAbsolutePath();
    }

    private static URI postgres() {
        String server = System.getenv("OJS_TEST_POSTGRES");
        if (server == null) throw new AssertionError("OJS_TEST_POSTGRES names no PostgreSQL server: run this under postgres-fixture, as scripts/java.sh adapters does");
        return URI.create(server);
    }

    /** The URL of a database that the engine opens itself, of one for JDBC. */
    public static String engineUrl(String jdbcUrl) {
        return org.openjobspec.Relay.url(jdbcUrl, null, null);
    }

    /** A pool of three connections: a transaction, the relay, and one to spare. */
    public static HikariDataSource pool(String jdbcUrl) {
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl(jdbcUrl);
        config.setMaximumPoolSize(3);
        config.setConnectionTimeout(PATIENCE.toMillis());
        return new HikariDataSource(config);
    }

    /** Runs a statement in a transaction of its own. */
    public static void run(javax.sql.DataSource dataSource, String sql) throws SQLException {
        try (Connection connection = dataSource.getConnection(); Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }

    /** The one number that a query gives. */
    public static long number(javax.sql.DataSource dataSource, String sql) throws SQLException {
        try (Connection connection = dataSource.getConnection(); Statement statement = connection.createStatement(); ResultSet rows = statement.executeQuery(sql)) {
            rows.next();
            return rows.getLong(1);
        }
    }

    /** The first value that is neither null nor false. */
    public static <T> T eventually(Callable<T> probe) {
        long until = System.nanoTime() + PATIENCE.toNanos();
        try {
            while (true) {
                T value = probe.call();
                if (value != null && !Boolean.FALSE.equals(value)) return value;
                if (System.nanoTime() > until) throw new AssertionError("not within " + PATIENCE);
                Thread.sleep(2);
            }
        } catch (RuntimeException e) {
            throw e;
        } catch (Exception e) {
            throw new AssertionError(e);
        }
    }

    /** Jobs of a queue, in the order in which workers get them, once there are so many; there must not be more. */
    public static List<Map<String, Object>> arrived(OJSClient client, String queue, int count) {
        List<Map<String, Object>> jobs = new ArrayList<>();
        eventually(() -> {
            jobs.addAll(fetch(client, queue));
            return jobs.size() >= count;
        });
        if (jobs.size() > count) throw new AssertionError("more than " + count + ": " + jobs);
        return jobs;
    }

    @SuppressWarnings("unchecked")
    private static List<Map<String, Object>> fetch(OJSClient client, String queue) {
        Object answer = client.request("POST", "/workers/fetch", Map.of("queues", List.of(queue), "count", 100, "worker_id", "test"));
        return (List<Map<String, Object>>) ((Map<String, Object>) answer).get("jobs");
    }
}
