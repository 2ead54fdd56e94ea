package org.openjobspec;

import static java.lang.foreign.ValueLayout.ADDRESS;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;

/**
 * Events as they happen: {@link OJSClient#events()}. The iterator waits for the next one. When the connection is lost it asks again
 * from where it was, so none is missed and none comes twice. A refusal, and a fault of the first request, is thrown.
 *
 * {@snippet :
 * for (Event event : client.events().types("job.*").after("")) System.out.println(event.type() + " " + event.subject());
 * }
 */
public final class Events implements Iterable<Event> {
    private static final MethodHandle FOLLOW = Native.function("ojs_events_follow", ADDRESS, Native.SLICE, ADDRESS);

    private final OJSClient client;
    private final Map<String, Object> filter = new HashMap<>();

    Events(OJSClient client) {
        this.client = client;
    }

    /** After the event with this id; the empty text is the oldest that is kept. */
    public Events after(String id) {
        filter.put("after", id);
        return this;
    }

    /** Only these; may end in {@code *}. */
    public Events types(String... names) {
        filter.put("types", List.of(names));
        return this;
    }

    /** Only of jobs of these queues. */
    public Events queues(String... names) {
        filter.put("queues", List.of(names));
        return this;
    }

    /** Only of jobs of these types. */
    public Events jobTypes(String... names) {
        filter.put("job_types", List.of(names));
        return this;
    }

    @Override
    public Iterator<Event> iterator() {
        return new Reader();
    }

    private final class Reader implements Iterator<Event> {
        private final Deque<Event> page = new ArrayDeque<>();
        /** The next request, and the pause before it. */
        private Map<String, Object> step = follow("begin", filter);

        /** There is always a next one; it may have to happen first. */
        @Override
        public boolean hasNext() {
            return true;
        }

        @Override
        public Event next() {
            while (page.isEmpty()) ask();
            return page.remove();
        }

        private void ask() {
            pause(Members.number(step, "pause_ms", 0));
            Duration wait = Duration.ofMillis(Members.number(step, "wait_ms", 0));
            Object state = step.get("state");
            String path = Members.text(step, "path");
            try {
                Map<String, Object> answer = client.run(Operation.whole("GET", path, null).waiting(wait));
                List<Object> events = Operation.items(answer, "events");
                events.forEach(one -> page.add(new Event(Members.of(one))));
                step = follow("answered",
                        Operation.members("state", state, "events", events.size(), "cursor", answer.get("cursor")));
            } catch (OJSException e) {
                Map<String, Object> about = Operation.members("connection", e instanceof OJSException.Connection,
                        "status", e.status(), "code", e.code(), "retryable", e.retryable());
                Map<String, Object> again = follow("failed", Operation.members("state", state, "error", about));
                if (again == null) throw e;
                step = again;
            }
        }
    }

    /** The next request, and the pause before it; null when the error that the core was given ends the reader. */
    private static Map<String, Object> follow(String what, Map<String, Object> said) {
        try (Arena memory = Arena.ofConfined()) {
            MemorySegment out = memory.allocate(ADDRESS);
            MemorySegment text = Native.slice(memory, Json.bytes(Map.of(what, said)));
            Native.raise(() -> (MemorySegment) FOLLOW.invokeExact(text, out));
            Object step = Json.parse(Native.taken(memory, out.get(ADDRESS, 0)));
            return step == null ? null : Members.of(step);
        }
    }

    private static void pause(long millis) {
        try {
            Thread.sleep(millis);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new OJSException.Closed("interrupted while waiting for events");
        }
    }
}
