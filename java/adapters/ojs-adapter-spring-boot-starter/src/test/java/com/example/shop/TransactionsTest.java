package com.example.shop;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.springframework.transaction.TransactionDefinition.PROPAGATION_NESTED;
import static org.springframework.transaction.TransactionDefinition.PROPAGATION_REQUIRED;
import static org.springframework.transaction.TransactionDefinition.PROPAGATION_REQUIRES_NEW;

import com.zaxxer.hikari.HikariDataSource;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.openjobspec.Job;
import org.openjobspec.JobRequest;
import org.openjobspec.OJSException;
import org.openjobspec.jdbc.Databases;
import org.openjobspec.jdbc.Databases.Kind;
import org.openjobspec.jdbc.OjsJdbc;
import org.openjobspec.spring.OjsProperties;
import org.openjobspec.spring.OjsTemplate;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

/** Jobs and Spring's transactions. The relay looks once an hour by itself: what arrives was woken by a commit. */
class TransactionsTest {
    private static JobRequest job(Object argument) {
        return JobRequest.of("a", argument).queue("q");
    }

    @ParameterizedTest
    @EnumSource
    void fa001Scenario48AfterTheOutermostCommitWithItsSavepoints(Kind kind) throws Exception {
        try (Shop shop = new Shop(kind)) {
            shop.transaction(PROPAGATION_REQUIRED, outer -> {
                Job first = shop.ojs.enqueueAfterCommit(job("outer"));
                shop.transaction(PROPAGATION_NESTED, inner -> shop.ojs.enqueueAfterCommit(job("nested, committed")));
                // The savepoint has been released: no relay was woken by that, and none could see the row.
                assertThrows(OJSException.NotFound.class, () -> shop.client.getJob(first.id()));
                assertThrows(IllegalStateException.class, () -> shop.transaction(PROPAGATION_NESTED, inner -> {
                    shop.ojs.enqueueAfterCommit(job("nested, rolled back"));
                    shop.transaction(PROPAGATION_NESTED, innermost -> shop.ojs.enqueueAfterCommit(job("committed within that")));
                    throw new IllegalStateException();
                }));
                shop.transaction(PROPAGATION_REQUIRED, joined -> shop.ojs.enqueueAfterCommit(job("joined")));
            });
            assertEquals(List.of("outer", "nested, committed", "joined"), shop.arrived("q", 3));
        }
    }

    @ParameterizedTest
    @EnumSource
    void fa002ARollbackOfTheOutermostTakesAllAlong(Kind kind) throws Exception {
        try (Shop shop = new Shop(kind)) {
            shop.transaction(PROPAGATION_REQUIRED, outer -> {
                shop.ojs.enqueueAfterCommit(job("outer"));
                shop.transaction(PROPAGATION_NESTED, inner -> shop.ojs.enqueueAfterCommit(job("nested")));
                outer.setRollbackOnly();
            });
            shop.transaction(PROPAGATION_REQUIRED, outer -> shop.ojs.enqueueAfterCommit(job("end")));
            assertEquals(List.of("end"), shop.arrived("q", 1));
        }
    }

    /** SQLite has one writer: a transaction beside another that has written would wait for it for ever. */
    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "SQLITE")
    void aTransactionOfItsOwnCommitsByItself(Kind kind) throws Exception {
        try (Shop shop = new Shop(kind)) {
            shop.transaction(PROPAGATION_REQUIRED, outer -> {
                shop.ojs.enqueueAfterCommit(job("outer"));
                shop.transaction(PROPAGATION_REQUIRES_NEW, own -> shop.ojs.enqueueAfterCommit(JobRequest.of("a", "own").queue("own")));
                // The outer one holds the gate for rows behind its own, until its end.
                outer.setRollbackOnly();
            });
            assertEquals(List.of("own"), shop.arrived("own", 1));
            shop.transaction(PROPAGATION_REQUIRED, outer -> shop.ojs.enqueueAfterCommit(job("end")));
            assertEquals(List.of("end"), shop.arrived("q", 1));
        }
    }

    @ParameterizedTest
    @EnumSource
    void outsideOfATransactionItIsSentAtOnce(Kind kind) throws Exception {
        try (Shop shop = new Shop(kind)) {
            shop.ojs.enqueueAfterCommit(job(1));
            assertEquals(List.of(1L), shop.arrived("q", 1));
            shop.ojs.enqueue(job(2));
            shop.ojs.enqueueBulk(List.of(job(3), job(4)));
            assertEquals(List.of(2L, 3L, 4L), shop.arrived("q", 3));
            shop.transaction(PROPAGATION_REQUIRED, outer -> shop.ojs.enqueueBulkAfterCommit(List.of(job(5), job(6))));
            assertEquals(List.of(5L, 6L), shop.arrived("q", 2));
        }
    }

    @ParameterizedTest
    @EnumSource
    void aReadOnlyTransactionSaysWhatToDo(Kind kind) throws Exception {
        try (Shop shop = new Shop(kind)) {
            TransactionTemplate reading = new TransactionTemplate(shop.context.getBean(PlatformTransactionManager.class));
            reading.setReadOnly(true);
            OJSException.Outbox refused = assertThrows(OJSException.Outbox.class, () ->
                    reading.executeWithoutResult(status -> shop.ojs.enqueueAfterCommit(job(1))));
            assertTrue(refused.getMessage().contains("drop readOnly = true"), refused.getMessage());
        }
    }

    @ParameterizedTest
    @EnumSource
    void aTableThatIsMissingSaysWhatToDo(Kind kind) throws Exception {
        try (Shop shop = new Shop(kind, "ojs.outbox.relay=false")) {
            shop.database.execute("DROP TABLE ojs_outbox");
            OJSException.Outbox missing = assertThrows(OJSException.Outbox.class, () ->
                    shop.transaction(PROPAGATION_REQUIRED, status -> shop.ojs.enqueueAfterCommit(job(1))));
            assertEquals("there is no table ojs_outbox: set ojs.outbox.migrate=true, or run 'ojs relay migrate' once", missing.getMessage());
            assertEquals("no_outbox_table", missing.code());
        }
    }

    @Test
    void propertiesShowNoSecret() {
        String secret = "swordfish";
        OjsProperties.OutboxSettings outbox = new OjsProperties.OutboxSettings(true, "ojs_outbox", null, 1, null, true,
                "mysql://app:" + secret + "@db/shop", false, null);
        OjsProperties all = new OjsProperties("http://user:" + secret + "@host", secret, "k:" + secret, outbox, null);
        assertFalse((all + " " + outbox).contains(secret), all.toString());
    }

    @ParameterizedTest
    @EnumSource
    void withoutTheOutboxJobsWaitInMemory(Kind kind) throws Exception {
        try (Shop shop = new Shop(kind, "ojs.outbox.enabled=false")) {
            shop.transaction(PROPAGATION_REQUIRED, outer -> {
                assertNull(shop.ojs.enqueueAfterCommit(job("outer")));
                shop.transaction(PROPAGATION_NESTED, inner -> shop.ojs.enqueueAfterCommit(job("nested")));
                assertThrows(IllegalStateException.class, () -> shop.transaction(PROPAGATION_NESTED, inner -> {
                    shop.ojs.enqueueAfterCommit(job("rolled back"));
                    throw new IllegalStateException();
                }));
            });
            assertEquals(List.of("outer", "nested"), shop.arrived("q", 2));
            shop.transaction(PROPAGATION_REQUIRED, outer -> {
                shop.ojs.enqueueAfterCommit(job("rolled back"));
                outer.setRollbackOnly();
            });
            shop.ojs.enqueueAfterCommit(job("at once"));
            assertEquals(List.of("at once"), shop.arrived("q", 1));
        }
    }

    @ParameterizedTest
    @EnumSource
    void twoDatabases(Kind kind) throws Exception {
        try (Shop shop = new Shop(kind); HikariDataSource pool = Databases.pool(kind.next().url());
             OjsJdbc jdbc = Databases.outbox(shop.client, pool).build()) {
            jdbc.migrate();
            OjsTemplate second = new OjsTemplate(jdbc, pool, true);
            TransactionTemplate onSecond = new TransactionTemplate(new DataSourceTransactionManager(pool));
            shop.transaction(PROPAGATION_REQUIRED, outer -> {
                shop.ojs.enqueueAfterCommit(job("first database"));
                onSecond.executeWithoutResult(status -> second.enqueueAfterCommit(job("second database")));
                outer.setRollbackOnly();
            });
            assertEquals(List.of("second database"), shop.arrived("q", 1));
            shop.transaction(PROPAGATION_REQUIRED, outer -> shop.ojs.enqueueAfterCommit(job("end")));
            assertEquals(List.of("end"), shop.arrived("q", 1));
        }
    }

    @Test
    void aServerInTheSameDatabaseNeedsNoOutbox() throws Exception {
        String url = Kind.POSTGRESQL.url();
        try (Shop shop = new Shop(Kind.POSTGRESQL, url, Databases.engineUrl(url), List.of("ojs.outbox.migrate=false"))) {
            shop.transaction(PROPAGATION_REQUIRED, outer -> {
                shop.ojs.enqueueAfterCommit(job("kept"));
                assertThrows(IllegalStateException.class, () -> shop.transaction(PROPAGATION_NESTED, inner -> {
                    shop.ojs.enqueueAfterCommit(job("undone"));
                    throw new IllegalStateException();
                }));
                assertEquals(List.of(List.of("kept")), shop.ojs.staged().stream().map(Job::args).toList());
            });
            assertEquals(List.of("kept"), shop.arrived("q", 1));
            assertNull(shop.context.getBean(OjsJdbc.class).relay());
        }
    }
}
