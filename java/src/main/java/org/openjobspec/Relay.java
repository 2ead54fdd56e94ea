package org.openjobspec;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;

/**
 * Sends what is in an outbox, in the order of its rows. Any number may run, in any number of processes: one sends.
 *
 * {@snippet :
 * try (Relay relay = Relay.sqlite(client, dataSource::getConnection).start()) {
 *     … // transactions that enqueue
 *     relay.wake(); // or wait for its next look, a second at most
 * }
 * }
 *
 * <p>PostgreSQL, MySQL and MariaDB it reads by itself, SQLite through the application's own driver. {@link #close} flushes it: what is committed is sent.
 * The setters are for the time before the start.
 */
public final class Relay implements AutoCloseable {
    /** Opens a connection to the application's database, or takes one out of its pool. */
    @FunctionalInterface
    public interface Connections {
        /** The relay closes it. */
        Connection open() throws SQLException;
    }

    private static final Duration GRACE = Duration.ofSeconds(5);

    private final OJSClient client;
    private final String url;
    private final Connections connections;
    private String table = Outbox.TABLE;
    private Duration pollInterval;
    private Duration retention;
    private int batchSize;
    private boolean migrate;
    private volatile NativeRelay running;
    private NativeMailbox mailbox;

    private Relay(OJSClient client, String url, Connections connections) {
        this.client = client;
        this.url = url;
        this.connections = connections;
    }

    /** Reads PostgreSQL by its URL: {@code postgresql://user:password@host/database}. {@link #url} makes one of JDBC's. */
    public static Relay postgresql(OJSClient client, String url) {
        if (!DatabaseUrl.isPostgresql(url)) {
            throw new OJSException.Validation("a relay reads PostgreSQL by a URL like postgresql://user:password@host/database; got another kind");
        }
        return new Relay(client, url, null);
    }

    /** Reads MySQL or MariaDB by its URL: {@code mysql://user:password@host/database}. {@link #url} makes one of JDBC's. */
    public static Relay mysql(OJSClient client, String url) {
        if (!DatabaseUrl.isMysql(url)) {
            throw new OJSException.Validation("a relay reads MySQL and MariaDB by a URL like mysql://user:password@host/database; got another kind");
        }
        return new Relay(client, url, null);
    }

    /** Reads SQLite by the application's driver, on a connection for each look: {@code dataSource::getConnection}. */
    public static Relay sqlite(OJSClient client, Connections connections) {
        return new Relay(client, null, connections);
    }

    /** The table; {@code ojs_outbox}. */
    public Relay table(String name) {
        table = name;
        return this;
    }

    /** Between looks when it is not woken; a second. */
    public Relay pollInterval(Duration length) {
        pollInterval = Durations.longerThanNone("pollInterval", length);
        return this;
    }

    /** How long rows are kept after they were sent; 24 hours. */
    public Relay retention(Duration length) {
        retention = Durations.notNegative("retention", length);
        return this;
    }

    /** Most jobs in one request, 1 to 1000; 1000. */
    public Relay batchSize(int jobs) {
        if (jobs < 1 || jobs > 1000) throw new OJSException.Validation("batchSize must be 1 to 1000, got " + jobs);
        batchSize = jobs;
        return this;
    }

    /** Makes the table first when it is missing. */
    public Relay migrate(boolean make) {
        migrate = make;
        return this;
    }

    /** Starts it, unless it runs. */
    public synchronized Relay start() {
        if (running != null) return this;
        // One statement list after the other, as they come.
        NativeMailbox host = connections == null ? null : new NativeMailbox("ojs-outbox", new HostDatabase(connections), Runnable::run);
        try {
            running = new NativeRelay(client.connection().engine(), url, host, new NativeRelay.Options(table, batchSize,
                    Durations.millis("pollInterval", pollInterval), Durations.millis("retention", retention), migrate));
            mailbox = host;
        } catch (RuntimeException e) {
            if (host != null) host.end();
            throw e;
        }
        return this;
    }

    /** Which table it reads; never the URL, which holds a password. */
    @Override
    public String toString() {
        return "Relay[" + table + ", " + (running() ? "running" : "stopped") + "]";
    }

    /** Says that a transaction has committed. Never waits; a relay that is not woken looks by itself. */
    public void wake() {
        NativeRelay relay = running;
        if (relay != null) relay.wake();
    }

    /** Whether it was started, and not stopped since. */
    public boolean running() {
        return running != null;
    }

    /** What it has done since it was started. */
    public RelayStatus status() {
        NativeRelay relay = running;
        return RelayStatus.of(relay == null ? null : relay.status());
    }

    /** Sends what is committed, for at most this long, and ends. What is left stays in the table. It may be started again. */
    public synchronized void stop(Duration grace) {
        NativeRelay relay = running;
        if (relay == null) return;
        running = null;
        try {
            relay.stop(Durations.millis("grace", grace));
        } finally {
            if (mailbox != null) mailbox.end();
            mailbox = null;
        }
    }

    /** {@link #stop} with five seconds. */
    @Override
    public void close() {
        stop(GRACE);
    }

    /**
     * The URL for {@link #postgresql} or {@link #mysql} of a URL of JDBC, {@code jdbc:postgresql://host:5432/database?…}; {@code user} and
     * {@code password} may be null when it has them.
     */
    public static String url(String jdbcUrl, String user, String password) {
        return DatabaseUrl.of(jdbcUrl, user, password);
    }

    /** Whether a URL of JDBC is one that {@link #url} understands: of PostgreSQL, MySQL or MariaDB. */
    public static boolean reads(String jdbcUrl) {
        return DatabaseUrl.isJdbc(jdbcUrl);
    }
}
