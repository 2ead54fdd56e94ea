package org.openjobspec.jdbc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.openjobspec.jdbc.Databases.arrived;

import com.zaxxer.hikari.HikariDataSource;
import java.sql.Connection;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.openjobspec.Job;
import org.openjobspec.JobRequest;
import org.openjobspec.OJSClient;
import org.openjobspec.OJSServer;
import org.openjobspec.jdbc.Databases.Kind;

/** A server that keeps its jobs in the application's PostgreSQL (framework adapters, section 6.1): no outbox, no relay. */
class SameDatabaseTest {
    private HikariDataSource pool;
    private OJSServer server;
    private OJSClient client;
    private OjsJdbc ojs;

    @BeforeEach
    void open() {
        String url = Kind.POSTGRESQL.url();
        server = OJSServer.start(Databases.engineUrl(url), "127.0.0.1:0");
        client = OJSClient.connect(server.url());
        pool = Databases.pool(url);
        ojs = OjsJdbc.builder(client, pool).build().start();
    }

    @AfterEach
    void close() {
        ojs.close();
        pool.close();
        client.close();
        server.close();
    }

    @Test
    void fa001TheRowIsTheJob() throws Exception {
        Job job = ojs.inTransaction(connection -> {
            assertTrue(ojs.outbox().sharesDatabase(connection));
            ojs.enqueueAfterCommit(connection, "a", "1");
            return ojs.enqueueAfterCommit(connection, JobRequest.of("a", 7).queue("mail").priority(3).meta("k", "50 % ?"));
        });
        assertEquals(List.of("1"), arrived(client, "default", 1).getFirst().get("args"));
        Map<String, Object> sent = arrived(client, "mail", 1).getFirst();
        assertEquals(List.of(job.id(), List.of(7L), 3L, Map.of("k", "50 % ?")), List.of(sent.get("id"), sent.get("args"), sent.get("priority"), sent.get("meta")));
        assertNull(ojs.relay(), "none is needed");
    }

    @Test
    void fa002RolledBackAndInSavepoints() throws Exception {
        try (Connection connection = pool.getConnection()) {
            connection.setAutoCommit(false);
            ojs.enqueueAfterCommit(connection, "a", "rolled back");
            assertEquals(List.of(List.of("rolled back")), ojs.outbox().staged(connection).stream().map(Job::args).toList());
            connection.rollback();
            var undone = connection.setSavepoint();
            ojs.enqueueAfterCommit(connection, "a", "undone");
            connection.rollback(undone);
            ojs.enqueueAfterCommit(connection, "a", "kept");
            connection.commit();
            ojs.committed(connection);
        }
        assertEquals(List.of("kept"), arrived(client, "default", 1).getFirst().get("args"));
    }

    @Test
    void theSettingWins() throws Exception {
        OjsJdbc told = OjsJdbc.builder(client, pool).sameDatabase(false).build();
        told.migrate();
        try (told) {
            told.inTransaction(connection -> told.enqueueAfterCommit(connection, "a", 1));
            assertEquals(List.of(1L), arrived(client, "default", 1).getFirst().get("args"));
            assertTrue(told.relay().running());
        }
        // Another database with tables of the same names is not the server's.
        try (HikariDataSource other = Databases.pool(Kind.POSTGRESQL.url()); Connection connection = other.getConnection()) {
            assertEquals(false, OjsJdbc.builder(client, other).build().outbox().sharesDatabase(connection));
            assertThrows(java.sql.SQLException.class, () -> Databases.run(other, "SELECT 1 FROM ojs_jobs"));
        }
    }
}
