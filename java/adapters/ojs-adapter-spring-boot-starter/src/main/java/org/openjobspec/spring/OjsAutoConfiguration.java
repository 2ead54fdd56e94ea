package org.openjobspec.spring;

import javax.sql.DataSource;
import org.openjobspec.OJSClient;
import org.openjobspec.Relay;
import org.openjobspec.jdbc.OjsJdbc;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnSingleCandidate;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication;
import org.springframework.boot.autoconfigure.jdbc.DataSourceAutoConfiguration;
import org.springframework.boot.autoconfigure.jdbc.JdbcConnectionDetails;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.Ordered;

/** The client, the outbox of the application's data source with its relay, the worker of its handlers, the filter of its requests. */
@AutoConfiguration(after = DataSourceAutoConfiguration.class)
@EnableConfigurationProperties(OjsProperties.class)
public class OjsAutoConfiguration {
    @Bean(destroyMethod = "close")
    @ConditionalOnMissingBean
    OJSClient ojsClient(OjsProperties properties) {
        OJSClient.Builder builder = OJSClient.builder();
        if (properties.url() != null) builder.url(properties.url());
        if (properties.authToken() != null) builder.authToken(properties.authToken());
        if (properties.encryptionKeys() != null) builder.encryptionKeys(properties.encryptionKeys());
        return builder.build();
    }

    /** With one data source, or a primary one. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnSingleCandidate(DataSource.class)
    static class OutboxConfiguration {
        @Bean(destroyMethod = "close")
        @ConditionalOnMissingBean
        OjsJdbc ojsJdbc(OJSClient client, DataSource dataSource, OjsProperties properties, ObjectProvider<JdbcConnectionDetails> details) {
            OjsProperties.OutboxSettings outbox = properties.outbox();
            OjsJdbc.Builder builder = OjsJdbc.builder(client, dataSource).table(outbox.tableName()).relay(outbox.enabled() && outbox.relay())
                    .sameDatabase(outbox.sameDatabase()).relaySettings(relay ->
                            relay.pollInterval(outbox.pollInterval()).batchSize(outbox.batchSize()).retention(outbox.retention()));
            JdbcConnectionDetails connection = details.getIfUnique();
            if (outbox.relayUrl() != null) {
                builder.database(outbox.relayUrl(), null, null);
            } else if (connection != null && Relay.reads(connection.getJdbcUrl())) {
                builder.database(connection.getJdbcUrl(), connection.getUsername(), connection.getPassword());
            }
            return builder.build();
        }

        @Bean
        @ConditionalOnMissingBean
        OjsTemplate ojsTemplate(OjsJdbc jdbc, DataSource dataSource, OjsProperties properties) {
            return new OjsTemplate(jdbc, dataSource, properties.outbox().enabled());
        }

        @Bean
        @ConditionalOnMissingBean
        OjsRelayLifecycle ojsRelayLifecycle(OjsJdbc jdbc, OjsProperties properties) {
            return new OjsRelayLifecycle(jdbc, properties.outbox());
        }
    }

    @Bean
    @ConditionalOnMissingBean
    OjsHandlers ojsHandlers(ListableBeanFactory beans) {
        return new OjsHandlers(beans);
    }

    @Bean
    @ConditionalOnMissingBean
    @ConditionalOnProperty(name = "ojs.worker.enabled", matchIfMissing = true)
    OjsWorkerLifecycle ojsWorkerLifecycle(OJSClient client, OjsProperties properties, OjsHandlers handlers) {
        return new OjsWorkerLifecycle(client, properties.worker(), handlers);
    }

    @Configuration(proxyBeanMethods = false)
    @ConditionalOnWebApplication(type = ConditionalOnWebApplication.Type.SERVLET)
    @ConditionalOnClass(name = "org.springframework.web.filter.OncePerRequestFilter")
    static class RequestConfiguration {
        /** Behind authentication, which says who the user is. */
        @Bean
        @ConditionalOnMissingBean
        OjsRequestFilter ojsRequestFilter() {
            return new OjsRequestFilter();
        }

        @Bean
        FilterRegistrationBean<OjsRequestFilter> ojsRequestFilterRegistration(OjsRequestFilter filter) {
            FilterRegistrationBean<OjsRequestFilter> registration = new FilterRegistrationBean<>(filter);
            registration.setOrder(Ordered.LOWEST_PRECEDENCE);
            return registration;
        }
    }
}
