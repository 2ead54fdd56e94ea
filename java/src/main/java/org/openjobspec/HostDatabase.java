package org.openjobspec;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Runs a relay's statements on the application's SQLite driver: this process has one copy of SQLite for a file, never two. */
final class HostDatabase implements Transport {
    private final Relay.Connections connections;

    HostDatabase(Relay.Connections connections) {
        this.connections = connections;
    }

    @Override
    public Answer request(String method, String path, byte[] body) {
        try (Connection connection = connections.open()) {
            return Answer.json(200, perform(connection, (List<?>) Json.parse(body)));
        } catch (SQLException | RuntimeException e) {
            return new Answer(500, Native.utf8(e.toString()));
        }
    }

    /** All statements in one transaction; the rows of each. SQLite's own words: JDBC would begin it by a read, which a writer may bar. */
    private static List<List<List<Object>>> perform(Connection connection, List<?> statements) throws SQLException {
        List<List<List<Object>>> answers = new ArrayList<>();
        boolean reads = statements.stream().allMatch(one -> Members.text(Members.of(one), "sql").startsWith("SELECT"));
        connection.setAutoCommit(true);
        try (Statement transaction = connection.createStatement()) {
            transaction.execute(reads ? "BEGIN" : "BEGIN IMMEDIATE");
            try {
                for (Object one : statements) answers.add(run(connection, Members.of(one)));
                transaction.execute("COMMIT");
            } catch (SQLException | RuntimeException e) {
                transaction.execute("ROLLBACK");
                throw e;
            }
        }
        return answers;
    }

    private static List<List<Object>> run(Connection connection, Map<String, Object> one) throws SQLException {
        List<List<Object>> rows = new ArrayList<>();
        try (PreparedStatement statement = connection.prepareStatement(Members.text(one, "sql"))) {
            List<Object> params = Members.list(one, "params");
            for (int i = 0; i < params.size(); i++) statement.setObject(i + 1, params.get(i));
            if (!statement.execute()) return rows;
            try (ResultSet found = statement.getResultSet()) {
                int columns = found.getMetaData().getColumnCount();
                while (found.next()) {
                    List<Object> row = new ArrayList<>();
                    for (int column = 1; column <= columns; column++) row.add(found.getObject(column));
                    rows.add(row);
                }
            }
        }
        return rows;
    }
}
