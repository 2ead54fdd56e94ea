package org.openjobspec;

import java.lang.System.Logger.Level;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.sql.Statement;
import java.time.Duration;

/**
 * Whether a client's server keeps its jobs in the application's PostgreSQL: asked once, remembered (framework adapters, section 6.1).
 *
 * <p>A server on PostgreSQL says in its health which table its jobs are in; when the application's connection finds the same one, and
 * may insert into it, its transactions insert there.
 */
final class SameDatabase {
    private static final System.Logger LOG = System.getLogger("org.openjobspec");
    /** Until a server is asked again that did not answer, and a table is looked for again that was not there. */
    private static final long PATIENCE = Duration.ofSeconds(30).toNanos();

    private final OJSClient client;
    private volatile Boolean known;
    private long asked;
    private boolean everAsked;

    SameDatabase(OJSClient client, Boolean wanted) {
        this.client = client;
        this.known = wanted;
    }

    boolean test(Connection connection) {
        Boolean found = known;
        return found != null ? found : ask(connection);
    }

    private synchronized boolean ask(Connection connection) {
        if (known == null && (!everAsked || System.nanoTime() - asked >= PATIENCE)) {
            known = find(connection);
            everAsked = true;
            asked = System.nanoTime();
        }
        return Boolean.TRUE.equals(known);
    }

    private Boolean find(Connection connection) {
        String ours;
        try {
            ours = identity(connection);
        } catch (SQLException e) {
            LOG.log(Level.DEBUG, "jobs go through the outbox: the database does not say which one it is", e);
            return false;
        }
        if (ours == null) return null;
        try {
            return client.health().get("backend") instanceof java.util.Map<?, ?> backend && ours.equals(backend.get("id"));
        } catch (OJSException e) {
            LOG.log(Level.DEBUG, "jobs go through the outbox for now: the server did not say where it keeps them", e);
            return null;
        }
    }

    /** In a savepoint: a query that fails must not end the application's transaction. */
    private static String identity(Connection connection) throws SQLException {
        Savepoint before = connection.getAutoCommit() ? null : connection.setSavepoint();
        try (Statement statement = connection.createStatement(); ResultSet rows = statement.executeQuery(NativeOutbox.identity())) {
            return rows.next() ? rows.getString(1) : null;
        } catch (SQLException e) {
            if (before != null) connection.rollback(before);
            throw e;
        } finally {
            if (before != null) connection.releaseSavepoint(before);
        }
    }
}
