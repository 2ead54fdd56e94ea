package org.openjobspec.jdbc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.openjobspec.jdbc.Databases.arrived;
import static org.openjobspec.jdbc.Databases.eventually;

import com.zaxxer.hikari.HikariDataSource;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.openjobspec.Job;
import org.openjobspec.JobRequest;
import org.openjobspec.OJSClient;
import org.openjobspec.OJSServer;
import org.openjobspec.UniquePolicy;
import org.openjobspec.jdbc.Databases.Kind;

/** Encrypted jobs that belong to a transaction, and the relay, which has no key (interactions, sections 14 and 15). */
class EncryptionTest {
    private static final String SECRET = "4111-1111-1111-1111";
    private static final UniquePolicy UNIQUE = UniquePolicy.by("type", "args").withOnConflict(UniquePolicy.OnConflict.IGNORE);

    private OJSServer server;
    private OJSClient keyless;
    private OJSClient client;
    private HikariDataSource pool;
    private OjsJdbc ojs;

    private void open(Kind kind) throws SQLException {
        server = OJSServer.start();
        keyless = OJSClient.connect(server.url());
        client = OJSClient.builder().url(server.url()).encryptionKeys("k-1:" + "ab".repeat(32)).build();
        pool = Databases.pool(kind.url());
        ojs = Databases.outbox(client, pool).relay(false).build();
        ojs.migrate();
    }

    @AfterEach
    void close() {
        if (pool != null) pool.close();
        if (client != null) client.close();
        if (keyless != null) keyless.close();
        if (server != null) server.close();
    }

    /** Has another process send everything: it knows neither the key nor the plain text. */
    private void relay(int rows) throws SQLException {
        try (OjsJdbc other = Databases.outbox(keyless, pool).build().start()) {
            eventually(() -> other.relay().status().sent() == rows);
        }
    }

    private String row() throws SQLException {
        try (Connection connection = pool.getConnection(); Statement statement = connection.createStatement();
             ResultSet rows = statement.executeQuery("SELECT job_args, job_options FROM ojs_outbox")) {
            rows.next();
            return rows.getString(1) + " " + rows.getString(2);
        }
    }

    @ParameterizedTest
    @EnumSource
    void ei012Ei013TheChainHasRunAndItsEndIsEncryptedWhenTheRowIsWritten(Kind kind) throws Exception {
        open(kind);
        List<Object> audited = new ArrayList<>();
        client.use("audit", (request, next) -> {
            audited.addAll(request.args());
            return next.enqueue(request);
        });
        Job job = ojs.inTransaction(connection -> ojs.enqueueAfterCommit(connection, JobRequest.of("card.charge", SECRET).queue("cards").priority(7)));
        assertEquals(List.of(SECRET), audited, "the application's middleware comes before encryption");
        assertEquals(List.of(SECRET), job.args(), "what the caller gets");
        String row = row();
        assertFalse(row.contains(SECRET), row);
        assertTrue(row.contains("cards") && row.contains("7"), "what the relay looks at is in the clear: " + row);
        relay(1);
        Map<String, Object> sent = arrived(keyless, "cards", 1).getFirst();
        assertFalse(sent.toString().contains(SECRET), sent.toString());
        assertEquals(List.of(job.id(), 7L), List.of(sent.get("id"), sent.get("priority")));
    }

    @ParameterizedTest
    @EnumSource
    void ei001UniqueKeysAreThoseOfThePlainArguments(Kind kind) throws Exception {
        open(kind);
        List<String> ids = ojs.inTransaction(connection -> {
            List<String> made = new ArrayList<>();
            for (String card : List.of(SECRET, SECRET, "another")) made.add(ojs.enqueueAfterCommit(connection, JobRequest.of("card.charge", card).unique(UNIQUE)).id());
            return made;
        });
        relay(3);
        assertEquals(List.of(ids.get(0), ids.get(2)), arrived(keyless, "default", 2).stream().map(job -> job.get("id")).toList());
    }
}
