package org.openjobspec;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;

/**
 * Events as they happen: {@link OJSClient#events()}. The iterator waits for the next one. When the connection is lost it asks again
 * from where it was, so none is missed and none comes twice. A refusal, and a fault of the first request, is thrown.
 *
 * {@snippet :
 * for (Event event : client.events().types("job.*").after("")) System.out.println(event.type() + " " + event.subject());
 * }
 */
public final class Events implements Iterable<Event> {
    /** How long the server may hold back an answer: below the time-outs of common proxies. */
    private static final Duration WAIT = Duration.ofSeconds(20);
    /** Between two looks at a server that does not hold back. */
    private static final Duration PAUSE = Duration.ofMillis(500);
    private static final int PAGE = 500;
    private static final Duration FIRST_BACKOFF = Duration.ofMillis(100);
    private static final Duration LONGEST_BACKOFF = Duration.ofSeconds(10);

    private final OJSClient client;
    private String after = "latest";
    private String types;
    private String queues;
    private String jobTypes;

    Events(OJSClient client) {
        this.client = client;
    }

    /** After the event with this id; the empty text is the oldest that is kept. */
    public Events after(String id) {
        after = id;
        return this;
    }

    /** Only these; may end in {@code *}. */
    public Events types(String... names) {
        types = String.join(",", names);
        return this;
    }

    /** Only of jobs of these queues. */
    public Events queues(String... names) {
        queues = String.join(",", names);
        return this;
    }

    /** Only of jobs of these types. */
    public Events jobTypes(String... names) {
        jobTypes = String.join(",", names);
        return this;
    }

    @Override
    public Iterator<Event> iterator() {
        return new Reader(after);
    }

    private final class Reader implements Iterator<Event> {
        private final Deque<Event> page = new ArrayDeque<>();
        private String cursor;
        /** An answer has come: from here on faults are waited out. */
        private boolean heard;
        private Duration backoff = FIRST_BACKOFF;

        private Reader(String cursor) {
            this.cursor = cursor;
        }

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
            // The first answer says where the log ends, at once.
            Duration wait = heard ? WAIT : Duration.ZERO;
            String path = Operation.query("/events", Operation.members("after", cursor.isEmpty() ? null : cursor, "limit", PAGE,
                    "wait_ms", wait.toMillis(), "types", types, "queues", queues, "job_types", jobTypes));
            long asked = System.nanoTime();
            try {
                Map<String, Object> answer = client.run(Operation.whole("GET", path, null).waiting(wait));
                List<Object> events = Operation.items(answer, "events");
                events.forEach(one -> page.add(new Event(Members.of(one))));
                cursor = Members.text(answer, "cursor");
                boolean idle = heard && events.isEmpty() && System.nanoTime() - asked < WAIT.toNanos() / 2;
                heard = true;
                backoff = FIRST_BACKOFF;
                if (idle) pause(PAUSE);
            } catch (OJSException e) {
                if (!heard || !passing(e)) throw e;
                pause(backoff.dividedBy(2).plusMillis(ThreadLocalRandom.current().nextLong(backoff.toMillis() / 2)));
                backoff = backoff.multipliedBy(2).compareTo(LONGEST_BACKOFF) > 0 ? LONGEST_BACKOFF : backoff.multipliedBy(2);
            }
        }

        private static boolean passing(OJSException e) {
            return e instanceof OJSException.Connection || e.status() == 408 || e.status() == 429 || e.status() >= 500;
        }

        private static void pause(Duration length) {
            try {
                Thread.sleep(length);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new OJSException.Closed("interrupted while waiting for events");
            }
        }
    }
}
