package com.example.shop;

import com.zaxxer.hikari.HikariDataSource;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.openjobspec.OJSClient;
import org.openjobspec.OJSServer;
import org.openjobspec.jdbc.Databases;
import org.openjobspec.jdbc.Databases.Kind;
import org.openjobspec.spring.OjsTemplate;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

/** The application, running, with a server and an empty database of its own. */
final class Shop implements AutoCloseable {
    final OJSServer server;
    final OJSClient client;
    final ConfigurableApplicationContext context;
    final OjsTemplate ojs;
    final JdbcTemplate database;
    final String jdbcUrl;

    Shop(Kind kind, String... properties) throws SQLException {
        this(kind, kind.url(), "memory:", List.of(properties));
    }

    Shop(Kind kind, String jdbcUrl, String store, List<String> properties) throws SQLException {
        this.jdbcUrl = jdbcUrl;
        server = OJSServer.start(store, "127.0.0.1:0");
        client = OJSClient.connect(server.url());
        table(kind, jdbcUrl);
        List<String> all = new ArrayList<>(settings(jdbcUrl, server.url()));
        all.addAll(properties);
        context = new SpringApplicationBuilder(ShopApplication.class).properties(all.toArray(String[]::new)).run();
        ojs = context.getBean(OjsTemplate.class);
        database = context.getBean(JdbcTemplate.class);
    }

    static List<String> settings(String jdbcUrl, String server) {
        return List.of("spring.datasource.url=" + jdbcUrl, "spring.datasource.hikari.maximum-pool-size=3", "ojs.url=" + server, "ojs.outbox.migrate=true",
                // No job waits for it: commits wake the relay.
                "ojs.outbox.poll-interval=1h", "server.port=0");
    }

    static void table(Kind kind, String jdbcUrl) throws SQLException {
        try (HikariDataSource pool = Databases.pool(jdbcUrl)) {
            Databases.run(pool, "CREATE TABLE users (id " + kind.identity() + ", email TEXT NOT NULL, welcomed INTEGER)");
        }
    }

    HttpResponse<String> post(String path, String... headers) throws Exception {
        String port = context.getEnvironment().getProperty("local.server.port");
        HttpRequest.Builder request = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path)).POST(HttpRequest.BodyPublishers.noBody());
        if (headers.length > 0) request.headers(headers);
        try (HttpClient http = HttpClient.newHttpClient()) {
            return http.send(request.build(), HttpResponse.BodyHandlers.ofString());
        }
    }

    /** Runs it in a transaction of this propagation. */
    void transaction(int propagation, Consumer<org.springframework.transaction.TransactionStatus> work) {
        TransactionTemplate template = new TransactionTemplate(context.getBean(PlatformTransactionManager.class));
        template.setPropagationBehavior(propagation);
        template.executeWithoutResult(work);
    }

    /** First arguments of the jobs on a queue without workers, in order, once there are so many. */
    List<Object> arrived(String queue, int count) {
        return Databases.arrived(client, queue, count).stream().map(job -> ((List<?>) job.get("args")).getFirst()).map(Object.class::cast).toList();
    }

    Map<String, Object> job(String id) {
        return client.getJob(id).members();
    }

    long users() {
        return database.queryForObject("SELECT count(*) FROM users", Long.class);
    }

    @Override
    public void close() {
        context.close();
        client.close();
        server.close();
    }
}
