package com.example.shop;

import org.openjobspec.JobContext;
import org.openjobspec.spring.OjsHandler;
import org.openjobspec.spring.OjsTemplate;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.stereotype.Service;
import org.springframework.transaction.annotation.Transactional;

@Service
public class Signup {
    private final JdbcTemplate database;
    private final OjsTemplate ojs;

    public Signup(JdbcTemplate database, OjsTemplate ojs) {
        this.database = database;
        this.ojs = ojs;
    }

    @Transactional
    public long signup(String email) {
        Long user = database.queryForObject("INSERT INTO users (email) VALUES (?) RETURNING id", Long.class, email);
        ojs.enqueueAfterCommit("email.welcome", user);
        return user;
    }

    @OjsHandler("email.welcome")
    public void welcome(long user, JobContext ctx) {
        database.update("UPDATE users SET welcomed = ? WHERE id = ?", ctx.attempt(), user);
    }
}
