package com.example.shop;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.sql.SQLException;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.openjobspec.Job;
import org.openjobspec.OJSServer;
import org.openjobspec.jdbc.Databases.Kind;
import org.openjobspec.spring.OjsTemplate;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.test.annotation.DirtiesContext;
import org.springframework.test.context.DynamicPropertyRegistry;
import org.springframework.test.context.DynamicPropertySource;
import org.springframework.test.context.transaction.AfterTransaction;
import org.springframework.transaction.annotation.Transactional;

/** Spring's own tests, which roll back: jobs can be asserted without a commit, and none is sent. On each database, below. */
@SpringBootTest
@Transactional
@DirtiesContext
abstract class RollbackTest {
    @Autowired
    private Signup signup;
    @Autowired
    private OjsTemplate ojs;
    @Autowired
    private JdbcTemplate database;

    static void register(DynamicPropertyRegistry registry, Kind kind) throws SQLException {
        OJSServer server = OJSServer.start(); // ends with the process, after the application
        String url = kind.url();
        Shop.table(kind, url);
        for (String setting : Shop.settings(url, server.url())) {
            String[] pair = setting.split("=", 2);
            registry.add(pair[0], () -> pair[1]);
        }
    }

    @Test
    void scenario49WhatWasEnqueuedIsSeenAndRolledBack() {
        long user = signup.signup("ada@example.com");
        Job job = ojs.staged().getFirst();
        assertEquals(List.of("email.welcome", List.of(user)), List.of(job.type(), job.args()));
    }

    @AfterTransaction
    void nothingIsLeft() {
        assertEquals(0, database.queryForObject("SELECT count(*) FROM ojs_outbox", Integer.class));
        assertEquals(List.of(), ojs.staged());
    }
}

class RollbackOnPostgresqlTest extends RollbackTest {
    @DynamicPropertySource
    static void settings(DynamicPropertyRegistry registry) throws SQLException {
        register(registry, Kind.POSTGRESQL);
    }
}

class RollbackOnMariadbTest extends RollbackTest {
    @DynamicPropertySource
    static void settings(DynamicPropertyRegistry registry) throws SQLException {
        register(registry, Kind.MARIADB);
    }
}

class RollbackOnMysqlTest extends RollbackTest {
    @DynamicPropertySource
    static void settings(DynamicPropertyRegistry registry) throws SQLException {
        register(registry, Kind.MYSQL);
    }
}
