package com.example.shop;

import java.util.Map;
import org.openjobspec.JobContext;
import org.openjobspec.spring.OjsHandler;
import org.openjobspec.spring.OjsTemplate;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.core.simple.SimpleJdbcInsert;
import org.springframework.stereotype.Service;
import org.springframework.transaction.annotation.Transactional;

@Service
public class Signup {
    private final JdbcTemplate database;
    private final SimpleJdbcInsert users;
    private final OjsTemplate ojs;

    public Signup(JdbcTemplate database, OjsTemplate ojs) {
        this.database = database;
        users = new SimpleJdbcInsert(database).withTableName("users").usingColumns("email").usingGeneratedKeyColumns("id");
        this.ojs = ojs;
    }

    @Transactional
    public long signup(String email) {
        long user = users.executeAndReturnKey(Map.of("email", email)).longValue();
        ojs.enqueueAfterCommit("email.welcome", user);
        return user;
    }

    @OjsHandler("email.welcome")
    public void welcome(long user, JobContext ctx) {
        database.update("UPDATE users SET welcomed = ? WHERE id = ?", ctx.attempt(), user);
    }
}
