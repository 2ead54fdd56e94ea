package org.openjobspec.jdbc;

import java.lang.System.Logger.Level;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.function.Consumer;
import javax.sql.DataSource;
import org.openjobspec.Job;
import org.openjobspec.JobRequest;
import org.openjobspec.OJSClient;
import org.openjobspec.OJSException;
import org.openjobspec.Outbox;
import org.openjobspec.Relay;
import org.openjobspec.RequestContext;

/**
 * The outbox of one database: jobs that its transactions enqueue, and the relay that sends them.
 *
 * {@snippet :
 * try (var client = OJSClient.connect(); var ojs = OjsJdbc.builder(client, dataSource).build().start()) {
 *     ojs.inTransaction(connection -> {
 *         long user = insertUser(connection, "ada@example.com");
 *         return ojs.enqueueAfterCommit(connection, "email.welcome", user);
 *     });
 * }
 * }
 *
 * <p>Threads may share one. Closing it flushes the outbox; the client and the data source are yours to close, after it.
 */
public final class OjsJdbc implements AutoCloseable {
    private static final System.Logger LOG = System.getLogger("org.openjobspec");

    private final OJSClient client;
    private final DataSource dataSource;
    private final Outbox outbox;
    private final boolean relayWanted;
    private final String relayUrl;
    private final Consumer<Relay> settings;
    private volatile Relay relay;

    private OjsJdbc(Builder given) {
        client = given.client;
        dataSource = given.dataSource;
        outbox = new Outbox(client, given.table, given.sameDatabase);
        relayWanted = given.relay;
        relayUrl = given.relayUrl;
        settings = made -> given.settings.accept(made.table(given.table));
    }

    /** Settings for this server and this database. */
    public static Builder builder(OJSClient client, DataSource dataSource) {
        return new Builder(client, dataSource);
    }

    // --- enqueue ---

    /** Sends a job now, whatever becomes of any transaction. */
    public Job enqueue(String type, Object... args) {
        return enqueue(JobRequest.of(type, args));
    }

    /** The same for a job with options. */
    public Job enqueue(JobRequest request) {
        return client.enqueue(RequestContext.completed(request));
    }

    /** Sends many jobs now, in one request: all are stored or none. */
    public List<Job> enqueueBulk(List<JobRequest> requests) {
        return client.enqueueBatch(requests.stream().map(RequestContext::completed).toList());
    }

    /**
     * Sends a job if, and only if, the outermost transaction of this connection commits. In auto-commit mode that is now. The job that is
     * returned has its id already. Throws {@link OJSException.Outbox} where the transaction is read-only, or the table is missing.
     */
    public Job enqueueAfterCommit(Connection connection, String type, Object... args) throws SQLException {
        return enqueueAfterCommit(connection, JobRequest.of(type, args));
    }

    /** The same for a job with options: {@code JobRequest.of("email.welcome", 7).queue("mail")}. */
    public Job enqueueAfterCommit(Connection connection, JobRequest request) throws SQLException {
        Job job = outbox.enqueueAfterCommit(connection, request);
        if (connection.getAutoCommit()) committed(connection);
        return job;
    }

    /** What is done in a transaction. */
    @FunctionalInterface
    public interface Work<T> {
        /** Does it; what it throws rolls the transaction back. */
        T in(Connection connection) throws SQLException;
    }

    /** Runs the work in a transaction on a connection of the data source, commits it, and has its jobs sent. */
    public <T> T inTransaction(Work<T> work) throws SQLException {
        try (Connection connection = dataSource.getConnection()) {
            boolean asItCame = connection.getAutoCommit();
            connection.setAutoCommit(false);
            T result;
            try {
                result = work.in(connection);
                connection.commit();
            } catch (Throwable e) {
                rollback(connection, asItCame, e);
                throw e;
            }
            connection.setAutoCommit(asItCame);
            committed(connection);
            return result;
        }
    }

    /** Not every pool sees to it that a connection comes back as it was. */
    private static void rollback(Connection connection, boolean asItCame, Throwable because) {
        try {
            connection.rollback();
            connection.setAutoCommit(asItCame);
        } catch (SQLException e) {
            because.addSuppressed(e);
        }
    }

    /**
     * Says that a transaction with jobs has committed on this connection, and that nothing came after it. Without it the relay looks by
     * itself, once a second; {@link #inTransaction} and framework adapters call it.
     */
    public void committed(Connection connection) {
        try {
            if (!outbox.sharesDatabase(connection)) {
                start(connection); // another one could be waited for in vain
                if (relay != null) relay.wake();
                return;
            }
            try (Statement statement = connection.createStatement()) {
                statement.execute(Outbox.NOTIFY);
            }
            if (!connection.getAutoCommit()) connection.commit();
        } catch (SQLException | RuntimeException e) {
            // The job is safe in its table: the relay looks there soon.
            LOG.log(Level.DEBUG, "could not tell of a commit", e);
        }
    }

    // --- the table and the relay ---

    /** Rows and tables. */
    public Outbox outbox() {
        return outbox;
    }

    /** Makes the table when it is missing. */
    public void migrate() throws SQLException {
        try (Connection connection = dataSource.getConnection()) {
            outbox.migrate(connection);
        }
    }

    /** Starts the relay of this process, unless it runs, is not wanted, or the server shares the database. The first commit does so too. */
    public OjsJdbc start() {
        if (relay != null || !relayWanted) return this;
        try (Connection connection = dataSource.getConnection()) {
            start(connection);
        } catch (SQLException e) {
            throw new IllegalStateException("the relay cannot reach the database: " + e.getMessage(), e);
        }
        return this;
    }

    private synchronized void start(Connection connection) throws SQLException {
        if (relay != null || !relayWanted || outbox.sharesDatabase(connection)) return;
        Relay made = relayOf(connection);
        settings.accept(made);
        relay = made.start();
    }

    private Relay relayOf(Connection connection) throws SQLException {
        String database = Outbox.databaseOf(connection);
        if (database.equals("sqlite")) return Relay.sqlite(client, dataSource::getConnection);
        String url = relayUrl != null ? relayUrl : Relay.url(connection.getMetaData().getURL(), null, null);
        return database.equals("mysql") ? Relay.mysql(client, url) : Relay.postgresql(client, url);
    }

    /** The relay of this process; null before {@link #start}. */
    public Relay relay() {
        return relay;
    }

    /** Sends what is committed, for at most this long, and ends the relay. What is left stays in the table. */
    public synchronized void stop(Duration grace) {
        Relay running = relay;
        relay = null;
        if (running != null) running.stop(grace);
    }

    /** {@link #stop} with five seconds. */
    @Override
    public void close() {
        stop(Duration.ofSeconds(5));
    }

    /** Settings of an {@link OjsJdbc}. */
    public static final class Builder {
        private final OJSClient client;
        private final DataSource dataSource;
        private String table = Outbox.TABLE;
        private Boolean sameDatabase;
        private boolean relay = true;
        private String relayUrl;
        private Consumer<Relay> settings = made -> {};

        private Builder(OJSClient client, DataSource dataSource) {
            this.client = client;
            this.dataSource = dataSource;
        }

        /** The table; {@code ojs_outbox}. */
        public Builder table(String name) {
            table = name;
            return this;
        }

        /** Whether the server keeps its jobs in this database; null, the default, finds out. */
        public Builder sameDatabase(Boolean shares) {
            sameDatabase = shares;
            return this;
        }

        /** Whether this process relays; true. Without it run {@code ojs relay run}. */
        public Builder relay(boolean wanted) {
            relay = wanted;
            return this;
        }

        /**
         * Where the relay finds PostgreSQL, MySQL or MariaDB, which it reads by itself: the data source does not tell its password. A URL of
         * JDBC with user and password (null when the URL has them), or the relay's own: {@code mysql://user:password@host/database}.
         */
        public Builder database(String jdbcUrl, String user, String password) {
            relayUrl = Relay.url(jdbcUrl, user, password);
            return this;
        }

        /** More settings of the relay: {@code relay -> relay.batchSize(500)}. */
        public Builder relaySettings(Consumer<Relay> more) {
            settings = settings.andThen(more);
            return this;
        }

        /** The outbox; it does nothing before it is started, or its first commit. */
        public OjsJdbc build() {
            return new OjsJdbc(this);
        }
    }
}
