package bench;

import java.net.URI;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;

/** The command line {@code DATABASE_URL WARM WITHOUT WITH}, and the milliseconds of transactions without and with a job, in turns. */
final class Turns {
    /** No server listens there: staging a job in an outbox sends no request. */
    static final String SERVER = "http://127.0.0.1:9";

    /** A transaction; the argument says whether it is to enqueue a job. */
    @FunctionalInterface
    interface Transaction {
        void run(boolean staged) throws Exception;
    }

    private final URI place;
    private final int warm;
    private final int without;
    private final int with;
    private final List<Double> bare = new ArrayList<>();
    private final List<Double> along = new ArrayList<>();

    Turns(String[] args) {
        place = URI.create(args[0]);
        warm = Integer.parseInt(args[1]);
        without = Integer.parseInt(args[2]);
        with = Integer.parseInt(args[3]);
    }

    /** The database in the words of JDBC. */
    String jdbcUrl() {
        return "jdbc:postgresql://" + place.getHost() + ":" + place.getPort() + place.getPath() + "?user=" + place.getUserInfo();
    }

    void each(Transaction transaction) throws Exception {
        for (int number = 0; number < warm; number++) {
            transaction.run(false);
            transaction.run(true);
        }
        for (int number = 0; number < Math.max(without, with); number++) {
            if (number < without) bare.add(timed(transaction, false));
            if (number < with) along.add(timed(transaction, true));
        }
    }

    private static double timed(Transaction transaction, boolean staged) throws Exception {
        long started = System.nanoTime();
        transaction.run(staged);
        return (System.nanoTime() - started) / 1e6;
    }

    /** Prints the line of JSON; {@code rows} is how many the outbox holds: no figure without its job. */
    void report(String adapter, long rows) {
        if (rows != warm + with) throw new IllegalStateException(adapter + ": " + rows + " rows in the outbox, " + (warm + with) + " jobs enqueued");
        System.out.printf(Locale.ROOT, "{\"adapter\": \"%s\", \"without_ms\": %f, \"with_ms\": %f, \"transactions\": %d}%n",
                adapter, median(bare), median(along), with);
    }

    private static double median(List<Double> values) {
        if (values.isEmpty()) return 0;
        Collections.sort(values);
        return (values.get((values.size() - 1) / 2) + values.get(values.size() / 2)) / 2;
    }
}
