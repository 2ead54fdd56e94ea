package bench;

import com.zaxxer.hikari.HikariDataSource;
import java.sql.SQLException;
import java.sql.Statement;
import org.openjobspec.OJSClient;
import org.openjobspec.jdbc.OjsJdbc;

/** JDBC with HikariCP: {@code inTransaction} with one row, without and with {@code enqueueAfterCommit}. */
final class Jdbc {
    private Jdbc() {}

    public static void main(String[] args) throws Exception {
        Turns turns = new Turns(args);
        try (HikariDataSource dataSource = new HikariDataSource()) {
            dataSource.setJdbcUrl(turns.jdbcUrl());
            dataSource.setMaximumPoolSize(1);
            try (OJSClient client = OJSClient.builder().url(Turns.SERVER).build();
                    OjsJdbc ojs = OjsJdbc.builder(client, dataSource).relay(false).sameDatabase(false).build()) {
                ojs.migrate();
                try (var connection = dataSource.getConnection(); var statement = connection.createStatement()) {
                    statement.execute("CREATE TABLE users (id bigserial PRIMARY KEY, email text)");
                }
                turns.each(staged -> signup(ojs, "ada@example.com", staged));
                try (var connection = dataSource.getConnection(); var statement = connection.createStatement();
                        var rows = statement.executeQuery("SELECT count(*) FROM ojs_outbox")) {
                    rows.next();
                    turns.report("JDBC", rows.getLong(1));
                }
            }
        }
    }

    private static long signup(OjsJdbc ojs, String email, boolean staged) throws SQLException {
        return ojs.inTransaction(connection -> {
            try (var insert = connection.prepareStatement("INSERT INTO users (email) VALUES (?)", Statement.RETURN_GENERATED_KEYS)) {
                insert.setString(1, email);
                insert.executeUpdate();
                try (var rows = insert.getGeneratedKeys()) {
                    rows.next();
                    long user = rows.getLong(1);
                    if (staged) ojs.enqueueAfterCommit(connection, "email.welcome", user);
                    return user;
                }
            }
        });
    }
}
