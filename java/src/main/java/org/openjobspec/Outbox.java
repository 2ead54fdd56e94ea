package org.openjobspec;

import java.io.IOException;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * A job runs if, and only if, the transaction that enqueued it commits (framework adapters, section 6).
 *
 * <p>The job is a row, written by the application's own connection in the transaction that is open there; savepoints that are rolled
 * back take their jobs along. A {@link Relay} sends what is committed. Where the server keeps its jobs in the application's own
 * PostgreSQL the row is the job itself, and no relay is needed: that is found out once, by asking both.
 *
 * {@snippet :
 * Outbox outbox = new Outbox(client);
 * connection.setAutoCommit(false);
 * insertUser(connection, 7);
 * outbox.enqueueAfterCommit(connection, "email.welcome", 7);
 * connection.commit();
 * }
 *
 * <p>A connection in auto-commit mode has no transaction: the row is there at once. PostgreSQL, MySQL,
 * MariaDB and SQLite. Threads may share one.
 */
public final class Outbox {
    /** The table, as the specification names it. */
    public static final String TABLE = "ojs_outbox";
    /** Notifies the nodes of a server on the same database, after a commit; without it they look ten times a second. */
    public static final String NOTIFY = NativeOutbox.notification();

    /** {@code read_only_sql_transaction}: PostgreSQL's and MySQL's. */
    private static final String READ_ONLY = "25006";
    /** Its {@code undefined_table}, and the state that ODBC has for it, which is MySQL's. */
    private static final Set<String> UNDEFINED_TABLE = Set.of("42P01", "42S02");

    private final OJSClient client;
    private final String table;
    private final SameDatabase same;

    /** Rows in the table {@code ojs_outbox}, or the server's own where it shares the database. */
    public Outbox(OJSClient client) {
        this(client, TABLE, null);
    }

    /** The same with another table; {@code sameDatabase} says whether the server shares the database, null finds out. */
    public Outbox(OJSClient client, String table, Boolean sameDatabase) {
        this.client = client;
        this.table = table;
        this.same = new SameDatabase(client, sameDatabase);
    }

    /** The table of this outbox. */
    public String table() {
        return table;
    }

    /**
     * The statements that make the tables, or add what a table lacks that was made by the specification's DDL: to be
     * run in this order, on one connection. They take a lock, so any number of processes may run them at the same
     * time.
     */
    public static List<String> migration(String database, String table) {
        return NativeOutbox.migration(database, table);
    }

    /** Makes the table on this connection, or adds what it lacks: for a migration. */
    public void migrate(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            for (String sql : migration(databaseOf(connection), table)) statement.execute(sql);
        }
    }

    /** {@code postgresql}, {@code mysql} (MariaDB too) or {@code sqlite}; refuses others. */
    public static String databaseOf(Connection connection) throws SQLException {
        String product = connection.getMetaData().getDatabaseProductName();
        return switch (product) {
            case "PostgreSQL" -> "postgresql";
            case "MySQL", "MariaDB" -> "mysql";
            case "SQLite" -> "sqlite";
            default -> throw new OJSException.Validation("no outbox in " + product + ": the database must be PostgreSQL, MySQL, MariaDB or SQLite");
        };
    }

    /** Sends a job if, and only if, the outermost transaction of this connection commits. The job has its id already. */
    public Job enqueueAfterCommit(Connection connection, String type, Object... args) throws SQLException {
        return enqueueAfterCommit(connection, JobRequest.of(type, args));
    }

    /** The same with the arguments in a list. */
    public Job enqueueAfterCommit(Connection connection, String type, List<?> args) throws SQLException {
        return enqueueAfterCommit(connection, JobRequest.of(type, args));
    }

    /** The same for a job with options: {@code JobRequest.of("email.welcome", 7).queue("mail")}. */
    public Job enqueueAfterCommit(Connection connection, JobRequest request) throws SQLException {
        if (connection.isReadOnly()) throw readOnly(null);
        Staged staged = stage(connection, request);
        write(connection, staged);
        return staged.job();
    }

    /**
     * Runs the client's enqueue middleware, now, and makes the row of what comes out. What is wrong with the job is thrown now, inside
     * the transaction; {@link OJSException.NotEnqueued} when a middleware dropped it.
     */
    public Staged stage(Connection connection, JobRequest request) throws SQLException {
        String database = databaseOf(connection);
        if (database.equals("sqlite")) refuseSharedFile(connection);
        boolean inEngine = sharesDatabase(connection);
        List<Staged> found = new ArrayList<>();
        client.through(RequestContext.completed(request), changed -> {
            found.add(row(changed, database, inEngine));
            return found.getLast().job();
        });
        if (found.isEmpty()) throw new OJSException.NotEnqueued("a middleware dropped the job");
        return found.getLast();
    }

    /** Two copies of SQLite, the engine's and the driver's, that open one file in one process destroy it. */
    private void refuseSharedFile(Connection connection) throws SQLException {
        String engine = client.connection().url();
        String application = connection.getMetaData().getURL();
        if (!engine.startsWith("sqlite:") || application == null || !application.startsWith("jdbc:sqlite:")) return;
        if (file(engine.substring("sqlite:".length())).equals(file(application.substring("jdbc:sqlite:".length())))) {
            throw new OJSException.Validation("jobs and application share one SQLite file, which two copies of SQLite would destroy: give the jobs a file of their own");
        }
    }

    private static Path file(String name) {
        Path path = Path.of(name.split("\\?", 2)[0].replaceFirst("^file:", "")).toAbsolutePath().normalize();
        try {
            return path.toRealPath();
        } catch (IOException e) { // it is not there yet
            return path;
        }
    }

    private Staged row(JobRequest request, String database, boolean inEngine) {
        byte[] plain = Json.bytes(request.toJson());
        byte[] body = client.connection().encrypted(plain);
        Map<String, Object> row = Members.of(inEngine ? NativeOutbox.stageInEngine(body) : NativeOutbox.stage(body, database, table));
        Map<String, Object> job = new LinkedHashMap<>(Defaults.completedJob(plain));
        if (job.remove("options") instanceof Map<?, ?> options) options.forEach((name, value) -> job.put((String) name, value));
        job.put("id", row.get("id"));
        return new Staged(new Job(job), Members.text(row, "sql"), Members.list(row, "params").stream().map(String.class::cast).toList());
    }

    private void write(Connection connection, Staged staged) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(staged.sql())) {
            for (int i = 0; i < staged.params().size(); i++) statement.setString(i + 1, staged.params().get(i));
            statement.execute();
        } catch (SQLException e) {
            if (READ_ONLY.equals(e.getSQLState())) throw readOnly(e);
            throw explained(e);
        }
    }

    /** What a driver says about a table that is not there, in words that say what to do; other errors stay as they are. */
    private SQLException explained(SQLException e) {
        boolean missing = e.getSQLState() != null && UNDEFINED_TABLE.contains(e.getSQLState())
                || String.valueOf(e.getMessage()).contains("no such table: " + table);
        if (!missing) return e;
        throw new OJSException.Outbox("there is no table " + table + ": run 'outbox.migrate(connection)' once, or 'ojs relay migrate'",
                "no_outbox_table", e);
    }

    private static OJSException.Outbox readOnly(SQLException cause) {
        return new OJSException.Outbox(
                "the transaction is read-only and cannot hold a job: "
                        + "make it read-write, or send the job at once (enqueue)",
                "read_only_transaction", cause);
    }

    /** Whether the server keeps its jobs in this connection's database. */
    public boolean sharesDatabase(Connection connection) throws SQLException {
        return databaseOf(connection).equals("postgresql") && same.test(connection);
    }

    /** The jobs not sent yet that this connection sees, its own transaction's included: for tests, which then roll back. */
    public List<Job> staged(Connection connection) throws SQLException {
        String sql = NativeOutbox.stagedQuery(databaseOf(connection), table, sharesDatabase(connection));
        List<Job> jobs = new ArrayList<>();
        try (Statement statement = connection.createStatement(); ResultSet rows = statement.executeQuery(sql)) {
            while (rows.next()) {
                Map<String, Object> job = new LinkedHashMap<>(Members.of(Json.parse(rows.getString(4))));
                job.put("id", rows.getString(1));
                job.put("type", rows.getString(2));
                job.put("args", Json.parse(rows.getString(3)));
                jobs.add(new Job(job));
            }
        } catch (SQLException e) {
            throw explained(e);
        }
        return jobs;
    }
}
