package com.example.shop;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.openjobspec.JobRequest;
import org.openjobspec.OJSClient;
import org.openjobspec.OJSServer;
import org.openjobspec.jdbc.Databases;
import org.openjobspec.jdbc.Databases.Kind;
import org.openjobspec.spring.OjsProperties;
import org.openjobspec.spring.OjsTemplate;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Configuration;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

/** The settings of "Framework Adapters", section 5.2, as printed. */
class AdapterDocumentTest {
    private static final String PRINTED = """
            {
              "adapter": {
                "ojs_url": "http://localhost:8080",
                "backend_type": "external",
                "outbox": {
                  "enabled": true,
                  "table_name": "ojs_outbox",
                  "poll_interval": "PT1S",
                  "batch_size": 100
                }
              }
            }
            """;

    /** Settings and nothing else. */
    @Configuration(proxyBeanMethods = false)
    @EnableConfigurationProperties(OjsProperties.class)
    static class SettingsOnly {}

    private static OjsProperties properties(String... arguments) {
        try (var context = new SpringApplicationBuilder(SettingsOnly.class).web(WebApplicationType.NONE).run(arguments)) {
            return context.getBean(OjsProperties.class);
        }
    }

    /** A folder with an {@code application.yml}: JSON is YAML. */
    private static String file(String document) throws Exception {
        Path folder = Files.createTempDirectory(Files.createDirectories(Path.of("target", "documents")), "shop");
        Files.writeString(folder.resolve("application.yml"), document);
        return "--spring.config.additional-location=file:" + folder.toAbsolutePath() + "/";
    }

    private static String failure(String... arguments) {
        StringBuilder messages = new StringBuilder();
        for (Throwable cause = assertThrows(RuntimeException.class, () -> properties(arguments)); cause != null; cause = cause.getCause()) {
            messages.append(cause.getMessage()).append('\n');
        }
        return messages.toString();
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void theDocumentAsPrinted(boolean fromFile) throws Exception {
        OjsProperties found = properties(fromFile ? file(PRINTED) : "--spring.application.json=" + PRINTED);
        assertEquals("http://localhost:8080", found.url());
        OjsProperties.OutboxSettings outbox = found.outbox();
        assertEquals(List.of(true, "ojs_outbox", Duration.ofSeconds(1), 100, false),
                List.of(outbox.enabled(), outbox.tableName(), outbox.pollInterval(), outbox.batchSize(), outbox.sameDatabase()));
        assertEquals(List.of(true, Duration.ofHours(24)), List.of(outbox.relay(), outbox.retention()), "what is not printed has its default");
    }

    @ParameterizedTest
    @EnumSource
    void anApplicationRunsWithIt(Kind kind) throws Exception {
        String url = kind.url();
        Shop.table(kind, url);
        try (OJSServer server = OJSServer.start(); OJSClient client = OJSClient.connect(server.url());
             var context = new SpringApplicationBuilder(ShopApplication.class)
                     .properties("spring.datasource.url=" + url, "spring.datasource.hikari.maximum-pool-size=3", "server.port=0", "ojs.outbox.migrate=true")
                     .run(file(PRINTED.replace("http://localhost:8080", server.url()).replace("\"ojs_outbox\"", "\"staged_jobs\"")))) {
            OjsTemplate ojs = context.getBean(OjsTemplate.class);
            new TransactionTemplate(context.getBean(PlatformTransactionManager.class)).executeWithoutResult(status -> {
                ojs.enqueueAfterCommit(JobRequest.of("a", 1).queue("q"));
                assertEquals(1, context.getBean(org.springframework.jdbc.core.JdbcTemplate.class).queryForObject("SELECT count(*) FROM staged_jobs", Integer.class));
            });
            assertEquals(List.of(1L), Databases.arrived(client, "q", 1).getFirst().get("args"));
        }
    }

    @Test
    void ojsWinsWhereverItIsSet() throws Exception {
        String file = file(PRINTED.replace("external", "database") + "\n---\nojs: {outbox: {batch-size: 7}}\n");
        OjsProperties found = properties(file, "--ojs.url=http://elsewhere:1");
        assertEquals("http://elsewhere:1", found.url());
        assertEquals(List.of(7, true), List.of(found.outbox().batchSize(), found.outbox().sameDatabase()));
    }

    @Test
    void whatIsMisspeltIsRefused() throws Exception {
        String misspelt = failure("--ojs.worker.concurency=3");
        assertTrue(misspelt.contains("[ojs.worker.concurency]"), misspelt);
        String unknown = failure(file(PRINTED.replace("table_name", "table_nam")));
        assertTrue(unknown.contains("[adapter.outbox.tablenam]"), unknown);
        String wrong = failure(file(PRINTED.replace("external", "redis")));
        assertTrue(wrong.contains("redis"), wrong);
    }

    @Test
    void anAdapterOfAnotherLibraryIsLeftAlone() throws Exception {
        OjsProperties found = properties(file("adapter: {outbox: {table_name: theirs}, backend_type: usb}"));
        assertEquals("ojs_outbox", found.outbox().tableName());
    }
}
