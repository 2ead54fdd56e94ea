package org.openjobspec.jdbc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.openjobspec.jdbc.Databases.arrived;
import static org.openjobspec.jdbc.Databases.eventually;

import com.zaxxer.hikari.HikariDataSource;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.sql.Statement;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.logging.Level;
import java.util.logging.Logger;
import java.util.regex.Pattern;
import javax.sql.DataSource;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.openjobspec.Job;
import org.openjobspec.JobRequest;
import org.openjobspec.OJSClient;
import org.openjobspec.OJSException;
import org.openjobspec.OJSServer;
import org.openjobspec.OJSWorker;
import org.openjobspec.Outbox;
import org.openjobspec.RequestContext;
import org.openjobspec.jdbc.Databases.Kind;

/** Transactions of plain JDBC, on each database, against a server. */
class TransactionsTest {
    private static final String USERS = "CREATE TABLE users (id INTEGER PRIMARY KEY, email TEXT NOT NULL)";

    private OJSServer server;
    private OJSClient client;
    private HikariDataSource pool;
    private OjsJdbc ojs;

    private void open(Kind kind) throws SQLException {
        server = OJSServer.start();
        client = OJSClient.connect(server.url());
        pool = Databases.pool(kind.url());
        Databases.run(pool, USERS);
        ojs = Databases.outbox(client, pool).relaySettings(relay -> relay.pollInterval(Duration.ofMillis(50))).build();
        ojs.migrate();
        ojs.start();
    }

    @AfterEach
    void close() {
        if (ojs != null) ojs.stop(Duration.ZERO);
        if (pool != null) pool.close();
        if (client != null) client.close();
        if (server != null) server.close();
    }

    private Connection begin() throws SQLException {
        Connection connection = pool.getConnection();
        connection.setAutoCommit(false);
        return connection;
    }

    private static void insert(Connection connection, int id) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute("INSERT INTO users (id, email) VALUES (" + id + ", 'ada@example.com')");
        }
    }

    private long users() throws SQLException {
        return Databases.number(pool, "SELECT count(*) FROM users");
    }

    /** The arguments of the jobs on the server. What came first was committed first, so a last job says that nothing else comes. */
    private List<Object> arguments(int count) {
        return arrived(client, "default", count).stream().map(job -> job.get("args")).toList();
    }

    @ParameterizedTest
    @EnumSource
    void fa001TheJobIsSentAfterTheCommitOnly(Kind kind) throws Exception {
        open(kind);
        try (Connection connection = begin()) {
            insert(connection, 7);
            Job job = ojs.enqueueAfterCommit(connection, JobRequest.of("email.welcome", 7).queue("mail").priority(3).meta("k", "50 % ?"));
            // What a later commit brings is there, so the relay has looked: this one has not been sent.
            if (kind.manyWriters()) {
                ojs.inTransaction(other -> ojs.enqueueAfterCommit(other, "other", 1));
            }
            assertThrows(OJSException.NotFound.class, () -> client.getJob(job.id()));
            connection.commit();
            ojs.committed(connection);
            Map<String, Object> sent = arrived(client, "mail", 1).getFirst();
            assertEquals(List.of(job.id(), "email.welcome", List.of(7L), 3L, Map.of("k", "50 % ?")),
                    List.of(sent.get("id"), sent.get("type"), sent.get("args"), sent.get("priority"), sent.get("meta")));
        }
        assertEquals(1, users());
    }

    @ParameterizedTest
    @EnumSource
    void fa002ARollbackTakesTheJobAlong(Kind kind) throws Exception {
        open(kind);
        try (Connection connection = begin()) {
            insert(connection, 1);
            ojs.enqueueAfterCommit(connection, "a", 1);
            connection.rollback();
        }
        assertThrows(ArithmeticException.class, () -> ojs.inTransaction(connection -> {
            insert(connection, 2);
            ojs.enqueueAfterCommit(connection, "a", 2);
            return 1 / Integer.parseInt("0"); // nothing here may want a second connection: the relay may have it, waiting for this writer
        }));
        ojs.inTransaction(connection -> ojs.enqueueAfterCommit(connection, "a", 3));
        assertEquals(List.of(List.of(3L)), arguments(1));
        assertEquals(0, users());
    }

    @ParameterizedTest
    @EnumSource
    void theConnectionComesBackAsItWentOut(Kind kind) throws Exception {
        open(kind);
        try (Connection one = pool.getConnection()) {
            OjsJdbc bare = OjsJdbc.builder(client, alwaysTheSame(one)).relay(false).build();
            for (boolean autoCommit : List.of(true, false)) {
                one.setAutoCommit(autoCommit);
                assertThrows(IllegalStateException.class, () -> bare.inTransaction(connection -> {
                    bare.enqueueAfterCommit(connection, "a", "rolled back");
                    throw new IllegalStateException();
                }));
                assertEquals(autoCommit, one.getAutoCommit(), "after a rollback");
                bare.inTransaction(connection -> bare.enqueueAfterCommit(connection, "a", "committed"));
                assertEquals(autoCommit, one.getAutoCommit(), "after a commit");
            }
        }
        assertEquals(List.of(List.of("committed"), List.of("committed")), arguments(2));
    }

    /** A data source that gives everybody this connection, and takes it back as it is: no pool of the tests is that careless. */
    private static DataSource alwaysTheSame(Connection real) {
        ClassLoader loader = TransactionsTest.class.getClassLoader();
        Object shown = Proxy.newProxyInstance(loader, new Class<?>[] {Connection.class}, (proxy, method, args) -> {
            try {
                return method.getName().equals("close") ? null : method.invoke(real, args);
            } catch (InvocationTargetException e) {
                throw e.getCause();
            }
        });
        return (DataSource) Proxy.newProxyInstance(loader, new Class<?>[] {DataSource.class}, (proxy, method, args) -> shown);
    }

    @ParameterizedTest
    @EnumSource
    void fa002Scenario48SavepointsAreWithinTheOutermostTransaction(Kind kind) throws Exception {
        open(kind);
        ojs.inTransaction(connection -> {
            ojs.enqueueAfterCommit(connection, "a", "outer");
            Savepoint kept = connection.setSavepoint();
            ojs.enqueueAfterCommit(connection, "a", "released");
            connection.releaseSavepoint(kept);
            Savepoint undone = connection.setSavepoint();
            ojs.enqueueAfterCommit(connection, "a", "undone");
            Savepoint nested = connection.setSavepoint();
            ojs.enqueueAfterCommit(connection, "a", "within what is undone");
            connection.releaseSavepoint(nested);
            connection.rollback(undone);
            return ojs.enqueueAfterCommit(connection, "a", "last");
        });
        try (Connection connection = begin()) {
            Savepoint released = connection.setSavepoint();
            ojs.enqueueAfterCommit(connection, "a", "released in what is rolled back");
            connection.releaseSavepoint(released);
            connection.rollback();
        }
        ojs.inTransaction(connection -> ojs.enqueueAfterCommit(connection, "a", "end"));
        assertEquals(List.of(List.of("outer"), List.of("released"), List.of("last"), List.of("end")), arguments(4));
    }

    /** Done when the engine's logger has got a warning that contains this text. */
    private static CompletableFuture<Boolean> warning(String text) {
        CompletableFuture<Boolean> found = new CompletableFuture<>();
        Logger.getLogger("org.openjobspec.core").setFilter(line -> {
            if (line.getLevel() == Level.WARNING && line.getMessage().contains(text)) found.complete(true);
            return true;
        });
        return found;
    }

    @ParameterizedTest
    @EnumSource
    void fa003WhatIsCommittedWhileTheServerIsAwayIsSentLaterAndOnce(Kind kind) throws Exception {
        open(kind);
        ojs.stop(Duration.ZERO);
        CompletableFuture<Boolean> warned = warning("the outbox is held up");
        // No server listens there, and the port stays ours: the tests beside this one take ports as well.
        try (Socket place = new Socket()) {
            place.setReuseAddress(true);
            place.bind(new InetSocketAddress("127.0.0.1", 0));
            String address = "127.0.0.1:" + place.getLocalPort();
            try (OJSClient later = OJSClient.connect("http://" + address);
                 OjsJdbc away = Databases.outbox(later, pool).sameDatabase(false).relaySettings(relay -> relay.pollInterval(Duration.ofMillis(20))).build()) {
                for (int n = 0; n < 3; n++) {
                    int number = n;
                    away.inTransaction(connection -> away.enqueueAfterCommit(connection, "a", number));
                }
                eventually(() -> away.relay().status().heldUp() > 0);
                eventually(warned::isDone);
                assertEquals(0, away.relay().status().sent());
                place.close();
                try (OJSServer back = OJSServer.start("memory:", address)) {
                    assertEquals(List.of(0L, 1L, 2L), arrived(later, "default", 3).stream().map(job -> ((List<?>) job.get("args")).getFirst()).toList());
                    // The last one confirmed: sent, not failed, no second copy.
                    eventually(() -> Databases.number(pool, "SELECT count(*) FROM ojs_outbox WHERE status = 'sent'") == 3);
                    assertEquals(0L, later.queues().stats("default").get("available"));
                }
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void faR003TheEndFlushesAndTheNextProcessSendsTheRest(Kind kind) throws Exception {
        open(kind);
        ojs.stop(Duration.ZERO);
        OjsJdbc silent = Databases.outbox(client, pool).relay(false).build();
        silent.inTransaction(connection -> silent.enqueueAfterCommit(connection, "a", 1));
        assertEquals(null, silent.relay());
        ojs.start().stop(Databases.PATIENCE); // close() is the same with five seconds, which a busy machine may need
        assertEquals(List.of(List.of(1L)), arguments(1));
    }

    @ParameterizedTest
    @EnumSource
    void faR002TheRelaySendsInBatchesInTheOrderOfTheRows(Kind kind) throws Exception {
        open(kind);
        ojs.stop(Duration.ZERO);
        ojs = Databases.outbox(client, pool).relay(false).build();
        ojs.inTransaction(connection -> {
            for (int n = 0; n < 250; n++) ojs.enqueueAfterCommit(connection, "a", n);
            return null;
        });
        try (Wire wire = new Wire(server.url()); OJSClient through = OJSClient.connect(wire.url());
             OjsJdbc relaying = Databases.outbox(through, pool).relaySettings(relay -> relay.batchSize(100)).build().start()) {
            eventually(() -> relaying.relay().status().sent() == 250);
            assertEquals(List.of("POST /ojs/v1/jobs/batch", "POST /ojs/v1/jobs/batch", "POST /ojs/v1/jobs/batch"),
                    wire.seen.stream().filter(line -> line.contains("/jobs")).toList());
        }
        List<Map<String, Object>> first = arrived(client, "default", 100);
        assertEquals(List.of(List.of(0L), List.of(99L)), List.of(first.getFirst().get("args"), first.getLast().get("args")));
    }

    @ParameterizedTest
    @EnumSource
    void withoutATransactionItIsSentAtOnce(Kind kind) throws Exception {
        open(kind);
        try (Connection connection = pool.getConnection()) {
            assertTrue(connection.getAutoCommit());
            ojs.enqueueAfterCommit(connection, "a", 1);
            assertEquals(List.of(List.of(1L)), arguments(1));
        }
        ojs.enqueue("a", 2);
        ojs.enqueueBulk(List.of(JobRequest.of("a", 3), JobRequest.of("a", 4)));
        assertEquals(List.of(List.of(2L), List.of(3L), List.of(4L)), arguments(3));
    }

    @ParameterizedTest
    @EnumSource
    void aReadOnlyTransactionSaysWhatToDo(Kind kind) throws Exception {
        open(kind);
        try (Connection connection = kind == Kind.SQLITE ? java.sql.DriverManager.getConnection(pool.getJdbcUrl() + "&open_mode=1") : begin()) {
            if (kind != Kind.SQLITE) { // by SQL, which JDBC does not know of
                try (Statement statement = connection.createStatement()) {
                    statement.execute("SET TRANSACTION READ ONLY");
                }
            }
            OJSException.Outbox refused = assertThrows(OJSException.Outbox.class, () -> ojs.enqueueAfterCommit(connection, "a", 1));
            assertTrue(refused.getMessage().contains("read-write"), refused.getMessage());
            assertEquals("read_only_transaction", refused.code());
        }
    }

    @ParameterizedTest
    @EnumSource
    void aMissingTableSaysWhatToDo(Kind kind) throws Exception {
        open(kind);
        OjsJdbc elsewhere = Databases.outbox(client, pool).table("nowhere").relay(false).build();
        OJSException.Outbox missing = assertThrows(OJSException.Outbox.class, () ->
                elsewhere.inTransaction(connection -> elsewhere.enqueueAfterCommit(connection, "a", 1)));
        String sentence = "there is no table nowhere: run 'outbox.migrate(connection)' once, or 'ojs relay migrate'";
        assertEquals(List.of("no_outbox_table", sentence), List.of(missing.code(), missing.getMessage()));
        try (Connection connection = begin()) {
            assertEquals(sentence, assertThrows(OJSException.Outbox.class, () -> elsewhere.outbox().staged(connection)).getMessage());
            connection.rollback();
        }
        // What it says helps.
        try (Connection connection = pool.getConnection()) {
            elsewhere.outbox().migrate(connection);
        }
        elsewhere.inTransaction(connection -> elsewhere.enqueueAfterCommit(connection, "a", 1));
    }

    @ParameterizedTest
    @EnumSource
    void migrationsAtTheSameTimeAllSucceed(Kind kind) throws Exception {
        open(kind);
        OjsJdbc elsewhere = Databases.outbox(client, pool).table("together").relay(false).build();
        List<Callable<Void>> migrations = Collections.nCopies(6, () -> {
            elsewhere.migrate();
            return null;
        });
        try (ExecutorService threads = Executors.newFixedThreadPool(6)) {
            for (Future<Void> migration : threads.invokeAll(migrations)) migration.get();
        }
        elsewhere.inTransaction(connection -> elsewhere.enqueueAfterCommit(connection, "a", 1));
    }

    @ParameterizedTest
    @EnumSource
    void aConnectionGivenBackInMidTransactionTakesItsJobsAlong(Kind kind) throws Exception {
        open(kind);
        try (Connection connection = begin()) {
            ojs.enqueueAfterCommit(connection, "a", 1);
        } // the pool rolls back
        ojs.inTransaction(connection -> ojs.enqueueAfterCommit(connection, "a", 2));
        assertEquals(List.of(List.of(2L)), arguments(1));
    }

    @ParameterizedTest
    @EnumSource
    void twoDatabasesHaveTwoOutboxes(Kind kind) throws Exception {
        open(kind);
        try (HikariDataSource second = Databases.pool(kind.next().url()); OjsJdbc other = Databases.outbox(client, second).build()) {
            other.migrate();
            other.start();
            assertThrows(IllegalStateException.class, () -> ojs.inTransaction(connection -> {
                ojs.enqueueAfterCommit(connection, "a", "first database");
                other.inTransaction(inner -> other.enqueueAfterCommit(inner, "a", "second database"));
                throw new IllegalStateException("the first alone is rolled back");
            }));
            assertEquals(List.of(List.of("second database")), arguments(1));
            ojs.inTransaction(connection -> ojs.enqueueAfterCommit(connection, "a", "end"));
            assertEquals(List.of(List.of("end")), arguments(1));
        }
    }

    @ParameterizedTest
    @EnumSource
    void faR001TheRequestsContextIsInTheJob(Kind kind) throws Exception {
        open(kind);
        try (var scope = RequestContext.bind(Map.of("tenant_id", "acme"))) {
            ojs.inTransaction(connection -> ojs.enqueueAfterCommit(connection, "a", 1));
            ojs.enqueue("a", 2);
        }
        for (Map<String, Object> job : arrived(client, "default", 2)) assertEquals(Map.of("tenant_id", "acme"), job.get("meta"));
    }

    @ParameterizedTest
    @EnumSource
    void scenario50WhatIsWrongIsRefusedInTheTransaction(Kind kind) throws Exception {
        open(kind);
        client.use("drop", (request, next) -> request.type().equals("drop") ? null : next.enqueue(request));
        assertThrows(OJSException.Validation.class, () -> ojs.inTransaction(connection -> {
            insert(connection, 1);
            return ojs.enqueueAfterCommit(connection, JobRequest.of("a").option("delay_until", "+5"));
        }));
        assertThrows(OJSException.NotEnqueued.class, () -> ojs.inTransaction(connection -> ojs.enqueueAfterCommit(connection, "drop")));
        assertEquals(0, users());
    }

    @ParameterizedTest
    @EnumSource
    void scenario49WhatWasEnqueuedIsSeenBeforeARollback(Kind kind) throws Exception {
        open(kind);
        try (Connection connection = begin()) {
            Job job = ojs.enqueueAfterCommit(connection, JobRequest.of("email.welcome", 7).queue("mail"));
            Job seen = ojs.outbox().staged(connection).getFirst();
            assertEquals(List.of(job.id(), "email.welcome", List.of(7L), "mail"), List.of(seen.id(), seen.type(), seen.args(), seen.queue()));
            connection.rollback();
            assertEquals(List.of(), ojs.outbox().staged(connection));
        }
    }

    @ParameterizedTest
    @EnumSource
    void theJobHasTheDefaultsOfItsType(Kind kind) throws Exception {
        open(kind);
        OJSWorker.of(client).register("email.defaults", ctx -> null, job -> job.queue("mail").priority(7));
        try (Connection connection = begin()) {
            Job job = ojs.enqueueAfterCommit(connection, JobRequest.of("email.defaults", 1));
            assertEquals(List.of("mail", 7), List.of(job.queue(), job.priority()));
            Job own = ojs.enqueueAfterCommit(connection, JobRequest.of("email.defaults", 2).queue("default"));
            assertEquals(List.of("default", 7), List.of(own.queue(), own.priority()));
            List<String> staged = ojs.outbox().staged(connection).stream().map(Job::queue).sorted().toList();
            assertEquals(List.of("default", "mail"), staged);
            connection.rollback();
        }
    }

    @Test
    void jobsAndApplicationNeverShareOneSqliteFile() throws Exception {
        open(Kind.SQLITE);
        try (OJSClient same = OJSClient.connect("sqlite:" + pool.getJdbcUrl().substring("jdbc:sqlite:".length())); Connection connection = begin()) {
            Outbox outbox = new Outbox(same);
            assertTrue(assertThrows(OJSException.Validation.class, () -> outbox.enqueueAfterCommit(connection, "a")).getMessage().contains("a file of their own"));
        }
    }

    @ParameterizedTest
    @EnumSource
    void rowsByPlainSqlAreSentToo(Kind kind) throws Exception {
        open(kind);
        Databases.run(pool, "INSERT INTO " + Outbox.TABLE + " (job_type, job_args, job_options) VALUES ('a', '[1]', '{}')");
        assertEquals(List.of(List.of(1L)), arguments(1));
        eventually(() -> ojs.relay().status().sent() == 1);
    }

    @ParameterizedTest
    @EnumSource
    void theExampleOfTheReadmeRuns(Kind kind) throws Exception {
        open(kind);
        Databases.run(pool, "DROP TABLE users");
        Databases.run(pool, "CREATE TABLE users (id " + kind.identity() + ", email TEXT NOT NULL)");
        var block = Pattern.compile("```java\n(.*?)```", Pattern.DOTALL).matcher(Files.readString(Path.of("README.md")));
        assertTrue(block.find());
        Path folder = Files.createDirectories(Path.of("target", "readme", kind.name()));
        // What the README says about MariaDB's driver, which does not show the password.
        String login = kind == Kind.MARIADB ? ".database(\"" + pool.getJdbcUrl() + "\", null, null)" : "";
        Path source = Files.writeString(folder.resolve("Signup.java"), block.group(1).replace(".build()", login + ".build()"));
        String classes = System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));
        assertEquals(0, ToolProvider.getSystemJavaCompiler().run(null, null, null, "-cp", classes, "-d", folder.toString(), source.toString()));
        try (var loader = new URLClassLoader(new URL[] {folder.toUri().toURL()}, getClass().getClassLoader())) {
            var method = loader.loadClass("Signup").getDeclaredMethod("signup", OJSClient.class, DataSource.class, String.class);
            method.setAccessible(true);
            assertEquals(1L, method.invoke(null, client, pool, "ada@example.com"));
        }
        assertEquals(List.of(List.of(1L)), arguments(1));
    }
}
