package org.openjobspec;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.System.Logger.Level;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.ReentrantLock;

/** The engine's log records, in the system logger {@code org.openjobspec.core}. */
final class Logs {
    private static final System.Logger LOG = System.getLogger("org.openjobspec.core");
    /** By number of the library: off, error, warn, info, debug, trace. Its infos are details here: java.util.logging prints infos unasked. */
    private static final List<Level> LEVELS = List.of(Level.OFF, Level.ERROR, Level.WARNING, Level.DEBUG, Level.TRACE, Level.TRACE);
    private static final long WAIT_MS = 60_000;
    private static final int MOST = 256;

    private static final MethodHandle LEVEL = Native.function("ojs_logs_level", null, JAVA_BYTE);
    private static final MethodHandle PULL = Native.function("ojs_logs_pull", ADDRESS, JAVA_LONG, JAVA_LONG, ADDRESS);
    private static final AtomicBoolean CARRIED = new AtomicBoolean();
    /** Records leave the engine under it only: who holds it has seen all that were made before. */
    private static final ReentrantLock CARRYING = new ReentrantLock();

    private Logs() {}

    /** Starts the thread that carries records over, once per process; takes over the logger's level each time. */
    static void start() {
        int level = LEVELS.size() - 1;
        while (level > 0 && !LOG.isLoggable(LEVELS.get(level))) level--;
        byte number = (byte) level;
        Native.plain(() -> {
            LEVEL.invokeExact(number);
            return null;
        });
        if (!CARRIED.getAndSet(true)) Thread.ofPlatform().daemon().name("ojs-logs").start(Logs::carry);
    }

    private static void carry() {
        try {
            while (true) {
                pull(0, WAIT_MS); // waits for a record and takes none
                flush();
            }
        } catch (Throwable e) {
            LOG.log(Level.ERROR, "log records of the engine are not carried over any more", e);
        }
    }

    /** Hands on what the engine has said so far: a process may end now. */
    static void flush() {
        CARRYING.lock();
        try {
            while (emit(pull(MOST, 0)) == MOST) {
                // More of them.
            }
        } finally {
            CARRYING.unlock();
        }
    }

    private static Map<String, Object> pull(long most, long waitMs) {
        try (Arena memory = Arena.ofConfined()) {
            MemorySegment out = memory.allocate(ADDRESS);
            Native.raise(() -> (MemorySegment) PULL.invokeExact(most, waitMs, out));
            return Members.of(Json.parse(Native.taken(memory, out.get(ADDRESS, 0))));
        }
    }

    private static int emit(Map<String, Object> pulled) {
        int lost = Members.number(pulled, "lost", 0);
        if (lost > 0) LOG.log(Level.WARNING, lost + " log records were lost: the logger is too slow");
        List<Object> records = Members.list(pulled, "records");
        for (Object one : records) {
            Map<String, Object> record = Members.of(one);
            Level level = LEVELS.get(Math.clamp(Members.number(record, "level", 2), 1, LEVELS.size() - 1));
            // Where it was said in the engine is for those who look at details.
            String place = level.getSeverity() < Level.WARNING.getSeverity() ? Members.text(record, "target") + ": " : "";
            LOG.log(level, () -> place + Members.text(record, "text"));
        }
        return records.size();
    }
}
