package org.openjobspec;

import java.lang.System.Logger.Level;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.sql.Statement;
import java.util.Map;

/**
 * Whether a client's server keeps its jobs in the application's PostgreSQL (framework adapters, section 6.1).
 *
 * <p>A server on PostgreSQL says in its health which table its jobs are in; when the application's connection finds the same one, and
 * may insert into it, its transactions insert there. The core says what to ask, and decides.
 */
final class SameDatabase {
    private static final System.Logger LOG = System.getLogger("org.openjobspec");

    private final OJSClient client;
    private final Boolean wanted;
    private volatile Boolean lasting;
    private Object state;

    /** True or false decide; null finds out. */
    SameDatabase(OJSClient client, Boolean wanted) {
        this.client = client;
        this.wanted = wanted;
    }

    boolean test(Connection connection) {
        Boolean found = lasting;
        return found != null ? found : ask(sql -> first(connection, sql));
    }

    /** Runs a query on the application's connection; gives the first value of the first row. */
    @FunctionalInterface
    interface Query {
        String first(String sql) throws SQLException;
    }

    synchronized boolean ask(Query query) {
        Map<String, Object> step = step("begin", "value", wanted);
        while (!"enqueue".equals(step.get("next"))) step = answer(step, query);
        if (step.get("reason") instanceof String reason) LOG.log(Level.DEBUG, reason);
        boolean shared = Boolean.TRUE.equals(step.get("shared"));
        if (Boolean.TRUE.equals(step.get("lasting"))) lasting = shared;
        return shared;
    }

    private Map<String, Object> answer(Map<String, Object> step, Query query) {
        String asked = Members.text(step, "next");
        try {
            if (asked.equals("server")) return step(asked, "value", client.health());
            return step(asked, "value", query.first(Members.text(step, "sql")));
        } catch (SQLException | OJSException e) {
            return step(asked, "error", String.valueOf(e.getMessage()));
        }
    }

    private Map<String, Object> step(String event, String name, Object value) {
        Map<String, Object> told = Operation.members("state", state, "event", event, name, value);
        Map<String, Object> step = Members.of(NativeOutbox.sameDatabase(told));
        state = step.get("state");
        return step;
    }

    /** In a savepoint: a query that fails must not end the application's transaction. */
    private static String first(Connection connection, String sql) throws SQLException {
        Savepoint before = connection.getAutoCommit() ? null : connection.setSavepoint();
        try (Statement statement = connection.createStatement(); ResultSet rows = statement.executeQuery(sql)) {
            return rows.next() ? rows.getString(1) : null;
        } catch (SQLException e) {
            if (before != null) connection.rollback(before);
            throw e;
        } finally {
            if (before != null) connection.releaseSavepoint(before);
        }
    }
}
