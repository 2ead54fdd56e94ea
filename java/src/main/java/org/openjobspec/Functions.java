// Made from include/ojs.h by make gen; do not edit.
package org.openjobspec;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BOOLEAN;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import java.lang.foreign.MemoryLayout;
import java.lang.foreign.StructLayout;
import java.lang.invoke.MethodHandle;

/** The functions and structures of {@code include/ojs.h}. A class of handles links its functions when it is used first. */
final class Functions {
    private Functions() {}

    static final StructLayout CLIENT_OPTIONS = MemoryLayout.structLayout(
            JAVA_INT.withName("size"),
            JAVA_INT.withName("max_sends"),
            JAVA_LONG.withName("timeout_ms"),
            JAVA_LONG.withName("connect_timeout_ms"),
            Native.SLICE.withName("auth_token"),
            ADDRESS.withName("headers"),
            JAVA_LONG.withName("header_slices"),
            Native.SLICE.withName("ca_file"),
            Native.SLICE.withName("cert_file"),
            Native.SLICE.withName("key_file"),
            Native.SLICE.withName("encryption_keys"),
            JAVA_LONG.withName("max_response_bytes"),
            Native.SLICE.withName("proxy"),
            Native.SLICE.withName("tenant"));

    static final StructLayout WORKER_OPTIONS = MemoryLayout.structLayout(
            JAVA_INT.withName("size"),
            JAVA_INT.withName("concurrency"),
            ADDRESS.withName("queues"),
            JAVA_LONG.withName("queue_count"),
            ADDRESS.withName("types"),
            JAVA_LONG.withName("type_count"),
            Native.SLICE.withName("worker_id"),
            JAVA_LONG.withName("heartbeat_ms"),
            JAVA_LONG.withName("visibility_ms"),
            JAVA_LONG.withName("grace_ms"),
            JAVA_LONG.withName("poll_ms"),
            JAVA_BOOLEAN.withName("keep_on_shutdown"), MemoryLayout.paddingLayout(7),
            ADDRESS.withName("labels"),
            JAVA_LONG.withName("label_count"),
            JAVA_LONG.withName("flush_ms"),
            Native.SLICE.withName("unknown_types"),
            JAVA_BOOLEAN.withName("only_registered_types"), MemoryLayout.paddingLayout(7),
            Native.SLICE.withName("versions"));

    static final StructLayout CANCELLATION = MemoryLayout.structLayout(
            JAVA_LONG.withName("token"),
            JAVA_INT.withName("why"), MemoryLayout.paddingLayout(4));

    static final StructLayout SERVER_OPTIONS = MemoryLayout.structLayout(
            JAVA_INT.withName("size"),
            JAVA_BOOLEAN.withName("test_mode"),
            JAVA_BOOLEAN.withName("insecure"), MemoryLayout.paddingLayout(2),
            Native.SLICE.withName("store"),
            Native.SLICE.withName("listen"),
            Native.SLICE.withName("keys"));

    static final StructLayout REQUEST = MemoryLayout.structLayout(
            JAVA_LONG.withName("ticket"),
            ADDRESS.withName("method"),
            ADDRESS.withName("path"),
            ADDRESS.withName("body"));

    static final StructLayout RELAY_OPTIONS = MemoryLayout.structLayout(
            JAVA_INT.withName("size"),
            JAVA_INT.withName("batch_size"),
            JAVA_LONG.withName("poll_interval_ms"),
            JAVA_LONG.withName("retention_ms"),
            Native.SLICE.withName("table"),
            Native.SLICE.withName("url"),
            ADDRESS.withName("host"),
            Native.SLICE.withName("database"),
            JAVA_BOOLEAN.withName("migrate"), MemoryLayout.paddingLayout(7));

    /** Handles of its functions. */
    static final class Client {
        private Client() {}

        static final MethodHandle OPTIONS_INIT = Native.quick(
                "ojs_client_options_init", null, ADDRESS);
        static final MethodHandle NEW = Native.function(
                "ojs_client_new", ADDRESS, Native.SLICE, ADDRESS, ADDRESS);
        static final MethodHandle OF_TENANT = Native.function(
                "ojs_client_of_tenant", ADDRESS, ADDRESS, Native.SLICE, ADDRESS);
        static final MethodHandle OVER = Native.function(
                "ojs_client_over", ADDRESS, ADDRESS, ADDRESS);
        static final MethodHandle DECRYPTED = Native.function(
                "ojs_client_decrypted", ADDRESS, ADDRESS, Native.SLICE, ADDRESS);
        static final MethodHandle CALL = Native.function(
                "ojs_client_call", ADDRESS, ADDRESS, Native.SLICE, Native.SLICE, Native.SLICE, ADDRESS);
        static final MethodHandle CALL_ASYNC = Native.function(
                "ojs_client_call_async", ADDRESS, ADDRESS, Native.SLICE, Native.SLICE, Native.SLICE, ADDRESS, ADDRESS);
        static final MethodHandle CALL_WAITING = Native.function(
                "ojs_client_call_waiting", ADDRESS, ADDRESS, Native.SLICE, Native.SLICE, Native.SLICE, JAVA_LONG, ADDRESS, ADDRESS);
        static final MethodHandle CLOSE = Native.function(
                "ojs_client_close", ADDRESS, ADDRESS);
        static final MethodHandle FREE = Native.function(
                "ojs_client_free", null, ADDRESS);
    }

    /** Handles of its functions. */
    static final class Mailbox {
        private Mailbox() {}

        static final MethodHandle NEW = Native.function(
                "ojs_transport_new", ADDRESS, ADDRESS);
        static final MethodHandle PULL = Native.function(
                "ojs_transport_pull", ADDRESS, ADDRESS, JAVA_LONG, ADDRESS);
        static final MethodHandle REPLY = Native.function(
                "ojs_transport_reply", ADDRESS, ADDRESS, JAVA_LONG, JAVA_SHORT, Native.SLICE);
        static final MethodHandle FAIL = Native.function(
                "ojs_transport_fail", ADDRESS, ADDRESS, JAVA_LONG, Native.SLICE);
        static final MethodHandle CLOSE = Native.function(
                "ojs_transport_close", null, ADDRESS);
        static final MethodHandle FREE = Native.function(
                "ojs_transport_free", null, ADDRESS);
    }

    /** Handles of its functions. */
    static final class Outbox {
        private Outbox() {}

        static final MethodHandle ENCRYPTED = Native.function(
                "ojs_outbox_encrypted", ADDRESS, ADDRESS, Native.SLICE, ADDRESS);
        static final MethodHandle STAGE = Native.function(
                "ojs_outbox_stage", ADDRESS, Native.SLICE, Native.SLICE, Native.SLICE, Native.SLICE, ADDRESS);
        static final MethodHandle STAGE_IN_ENGINE = Native.function(
                "ojs_outbox_stage_in_engine", ADDRESS, Native.SLICE, Native.SLICE, ADDRESS);
        static final MethodHandle MIGRATION = Native.function(
                "ojs_outbox_migration", ADDRESS, Native.SLICE, Native.SLICE, ADDRESS);
        static final MethodHandle NOTIFY = Native.quick(
                "ojs_outbox_notify", Native.SLICE);
        static final MethodHandle SAME_DATABASE = Native.function(
                "ojs_outbox_same_database", ADDRESS, Native.SLICE, ADDRESS);
        static final MethodHandle STAGED_QUERY = Native.function(
                "ojs_outbox_staged_query", ADDRESS, Native.SLICE, Native.SLICE, JAVA_BOOLEAN, ADDRESS);
        static final MethodHandle RECORDED = Native.function(
                "ojs_fake_recorded", ADDRESS, Native.SLICE, Native.SLICE, Native.SLICE, ADDRESS);
        static final MethodHandle MATCHING = Native.function(
                "ojs_fake_matching", ADDRESS, Native.SLICE, Native.SLICE, ADDRESS);
    }

    /** Handles of its functions. */
    static final class Relay {
        private Relay() {}

        static final MethodHandle OPTIONS_INIT = Native.quick(
                "ojs_relay_options_init", null, ADDRESS);
        static final MethodHandle START = Native.function(
                "ojs_relay_start", ADDRESS, ADDRESS, ADDRESS, ADDRESS);
        static final MethodHandle WAKE = Native.function(
                "ojs_relay_wake", null, ADDRESS);
        static final MethodHandle STATUS = Native.function(
                "ojs_relay_status", ADDRESS, ADDRESS, ADDRESS);
        static final MethodHandle STOP = Native.function(
                "ojs_relay_stop", ADDRESS, ADDRESS, JAVA_LONG);
        static final MethodHandle FREE = Native.function(
                "ojs_relay_free", null, ADDRESS);
    }

    /** Handles of its functions. */
    static final class Server {
        private Server() {}

        static final MethodHandle OPTIONS_INIT = Native.quick(
                "ojs_server_options_init", null, ADDRESS);
        static final MethodHandle START_WITH = Native.function(
                "ojs_server_start_with", ADDRESS, ADDRESS, ADDRESS);
        static final MethodHandle URL = Native.quick(
                "ojs_server_url", Native.SLICE, ADDRESS);
        static final MethodHandle STOP = Native.function(
                "ojs_server_stop", ADDRESS, ADDRESS);
        static final MethodHandle FREE = Native.function(
                "ojs_server_free", null, ADDRESS);
    }

    /** Handles of its functions. */
    static final class Worker {
        private Worker() {}

        static final MethodHandle OPTIONS_INIT = Native.quick(
                "ojs_worker_options_init", null, ADDRESS);
        static final MethodHandle NEW = Native.function(
                "ojs_worker_new", ADDRESS, ADDRESS, ADDRESS, ADDRESS);
        static final MethodHandle START = Native.function(
                "ojs_worker_start", ADDRESS, ADDRESS);
        static final MethodHandle ID = Native.quick(
                "ojs_worker_id", Native.SLICE, ADDRESS);
        static final MethodHandle PULL = Native.function(
                "ojs_worker_pull", ADDRESS, ADDRESS, JAVA_INT, JAVA_LONG, ADDRESS, ADDRESS);
        static final MethodHandle CANCELLATIONS = Native.function(
                "ojs_worker_cancellations", ADDRESS, ADDRESS, JAVA_LONG, JAVA_LONG, ADDRESS, ADDRESS, ADDRESS);
        static final MethodHandle HEARTBEAT = Native.function(
                "ojs_worker_heartbeat", ADDRESS, ADDRESS, JAVA_LONG, ADDRESS);
        static final MethodHandle PROGRESS = Native.function(
                "ojs_worker_progress", ADDRESS, ADDRESS, JAVA_LONG, Native.SLICE);
        static final MethodHandle SAVE = Native.function(
                "ojs_worker_save", ADDRESS, ADDRESS, JAVA_LONG, Native.SLICE, Native.SLICE, ADDRESS, ADDRESS);
        static final MethodHandle SAVED = Native.function(
                "ojs_worker_saved", ADDRESS, ADDRESS, JAVA_LONG, Native.SLICE, ADDRESS);
        static final MethodHandle COMPLETE = Native.function(
                "ojs_worker_complete", ADDRESS, ADDRESS, Native.SLICE, JAVA_LONG, ADDRESS);
        static final MethodHandle QUIET = Native.function(
                "ojs_worker_quiet", ADDRESS, ADDRESS);
        static final MethodHandle RESUME = Native.function(
                "ojs_worker_resume", ADDRESS, ADDRESS);
        static final MethodHandle STOP = Native.function(
                "ojs_worker_stop", ADDRESS, ADDRESS, JAVA_LONG);
        static final MethodHandle WAIT = Native.function(
                "ojs_worker_wait", ADDRESS, ADDRESS, JAVA_LONG, ADDRESS);
        static final MethodHandle PHASE = Native.quick(
                "ojs_worker_phase", JAVA_INT, ADDRESS);
        static final MethodHandle FREE = Native.function(
                "ojs_worker_free", null, ADDRESS);
    }
}
