package org.openjobspec.spring;

import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.context.properties.bind.BindHandler;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.bind.handler.NoUnboundElementsBindHandler;
import org.springframework.boot.context.properties.source.UnboundElementsSourceFilter;
import org.springframework.boot.env.EnvironmentPostProcessor;
import org.springframework.core.Ordered;
import org.springframework.core.env.ConfigurableEnvironment;
import org.springframework.core.env.MapPropertySource;

/**
 * Takes settings as the specification prints them (framework adapters, section 5.2), in {@code application.yml} or wherever else properties
 * come from:
 *
 * {@snippet :
 * adapter:
 *   ojs_url: http://localhost:8080
 *   backend_type: external   # jobs go through the outbox; database: the server shares the application's
 *   outbox:
 *     enabled: true
 *     table_name: ojs_outbox
 *     poll_interval: PT1S
 *     batch_size: 100
 * }
 *
 * <p>They become defaults of {@code ojs.*}, which wins wherever it is set. The name {@code adapter} may be used by others for something else:
 * without {@code ojs_url} it is not ours. With it, a name that does not exist is refused.
 */
public class OjsAdapterDocument implements EnvironmentPostProcessor, Ordered {
    private static final String PREFIX = "adapter";

    /** Whether the server shares the application's database. */
    enum Backend { EXTERNAL, DATABASE }

    /** What is printed; null is what is not given. */
    record Document(String ojsUrl, Backend backendType, Outbox outbox) {
        record Outbox(Boolean enabled, String tableName, Duration pollInterval, Integer batchSize) {}
    }

    @Override
    public void postProcessEnvironment(ConfigurableEnvironment environment, SpringApplication application) {
        Binder binder = Binder.get(environment);
        if (!binder.bind(PREFIX + ".ojs-url", String.class).isBound()) return;
        BindHandler strict = new NoUnboundElementsBindHandler(BindHandler.DEFAULT, new UnboundElementsSourceFilter());
        Map<String, Object> settings = settings(binder.bind(PREFIX, Bindable.of(Document.class), strict).get());
        environment.getPropertySources().addLast(new MapPropertySource("ojsAdapterDocument", settings));
    }

    private static Map<String, Object> settings(Document document) {
        Map<String, Object> settings = new HashMap<>();
        settings.put("ojs.url", document.ojsUrl());
        if (document.backendType() != null) settings.put("ojs.outbox.same-database", document.backendType() == Backend.DATABASE);
        if (document.outbox() != null) {
            settings.put("ojs.outbox.enabled", document.outbox().enabled());
            settings.put("ojs.outbox.table-name", document.outbox().tableName());
            settings.put("ojs.outbox.poll-interval", document.outbox().pollInterval());
            settings.put("ojs.outbox.batch-size", document.outbox().batchSize());
        }
        settings.values().removeIf(value -> value == null);
        return settings;
    }

    /** After all that bring settings along. */
    @Override
    public int getOrder() {
        return LOWEST_PRECEDENCE;
    }
}
