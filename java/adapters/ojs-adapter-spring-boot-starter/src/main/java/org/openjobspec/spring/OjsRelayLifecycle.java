package org.openjobspec.spring;

import java.sql.SQLException;
import org.openjobspec.jdbc.OjsJdbc;
import org.springframework.context.SmartLifecycle;

/** Relays while the application runs: from before the first request and the first handler until after the last, whose jobs it flushes. */
public class OjsRelayLifecycle implements SmartLifecycle {
    private final OjsJdbc jdbc;
    private final OjsProperties.OutboxSettings settings;
    private volatile boolean running;

    OjsRelayLifecycle(OjsJdbc jdbc, OjsProperties.OutboxSettings settings) {
        this.jdbc = jdbc;
        this.settings = settings;
    }

    @Override
    public void start() {
        if (settings.enabled()) {
            if (settings.migrate()) migrate();
            jdbc.start();
        }
        running = true;
    }

    private void migrate() {
        try {
            jdbc.migrate();
        } catch (SQLException e) {
            throw new IllegalStateException("cannot make the table " + settings.tableName() + ": " + e.getMessage(), e);
        }
    }

    @Override
    public void stop() {
        jdbc.close();
        running = false;
    }

    @Override
    public boolean isRunning() {
        return running;
    }

    /** Before web servers, which are at DEFAULT_PHASE - 2048, and workers; at the end, after them. */
    @Override
    public int getPhase() {
        return DEFAULT_PHASE - 4096;
    }
}
