package org.openjobspec.spring;

import java.time.Duration;
import java.util.List;
import org.openjobspec.Outbox;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * {@code ojs.*}, where a misspelt name is refused; {@link OjsAdapterDocument} has the names that the specification
 * prints.
 *
 * @param url the server, or an engine in this process: {@code http://host:8080}, {@code sqlite:jobs.db}; without it {@code OJS_URL}
 * @param authToken the bearer token; without it {@code OJS_AUTH_TOKEN}
 * @param encryptionKeys encrypts the arguments of jobs, {@code name:key,name:key}; without it {@code OJS_ENCRYPTION_KEYS}
 */
@ConfigurationProperties(prefix = "ojs", ignoreUnknownFields = false)
public record OjsProperties(String url, String authToken, String encryptionKeys, @DefaultValue OutboxSettings outbox,
                            @DefaultValue WorkerSettings worker) {
    /** Without tokens, keys and URLs, which hold passwords: properties end up in logs. */
    @Override
    public String toString() {
        return "OjsProperties[outbox=" + outbox + ", worker=" + worker + "]";
    }

    /**
     * {@code ojs.outbox.*}.
     *
     * @param enabled whether jobs are rows of the application's database; without it they are held in memory until the commit, and a
     *     process that dies there loses them
     * @param tableName the table
     * @param pollInterval between looks of the relay when it is not woken
     * @param batchSize most jobs in one request
     * @param retention how long rows are kept after they were sent
     * @param relay whether this application relays; else run {@code ojs relay run}
     * @param relayUrl where the relay finds PostgreSQL, MySQL or MariaDB, {@code jdbc:mariadb://…?user=…&password=…} or
     *     {@code mysql://user:password@host/database}; without it that of the data source
     * @param migrate whether the table is made at the start when it is missing
     * @param sameDatabase whether the server keeps its jobs in the application's database; without it that is found out
     */
    public record OutboxSettings(@DefaultValue("true") boolean enabled, @DefaultValue(Outbox.TABLE) String tableName, @DefaultValue("1s") Duration pollInterval,
                                 @DefaultValue("1000") int batchSize, @DefaultValue("24h") Duration retention, @DefaultValue("true") boolean relay,
                                 String relayUrl, @DefaultValue("false") boolean migrate, Boolean sameDatabase) {
        /** Without the relay's URL, which holds a password. */
        @Override
        public String toString() {
            return "OutboxSettings[enabled=" + enabled + ", tableName=" + tableName + ", relay=" + relay + ", migrate=" + migrate + "]";
        }
    }

    /**
     * {@code ojs.worker.*}.
     *
     * @param enabled whether methods with {@link OjsHandler} are worked in this process
     * @param queues in order of preference
     * @param concurrency handlers at a time
     * @param gracePeriod how long running handlers may finish when the application stops
     */
    public record WorkerSettings(@DefaultValue("true") boolean enabled, @DefaultValue("default") List<String> queues,
                                 @DefaultValue("10") int concurrency, @DefaultValue("25s") Duration gracePeriod) {}
}
