package org.openjobspec.spring;

import java.sql.Connection;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import javax.sql.DataSource;
import org.openjobspec.JobRequest;
import org.openjobspec.RequestContext;
import org.openjobspec.jdbc.OjsJdbc;
import org.springframework.jdbc.datasource.DataSourceUtils;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/** What happens after the outermost commit; each at most once per transaction. A transaction that is suspended takes its own along. */
abstract class AfterCommit implements TransactionSynchronization {
    final OjsJdbc jdbc;

    private AfterCommit(OjsJdbc jdbc) {
        this.jdbc = jdbc;
    }

    private static <T extends AfterCommit> T once(T wanted) {
        for (TransactionSynchronization there : TransactionSynchronizationManager.getSynchronizations()) {
            if (there.getClass() == wanted.getClass() && ((AfterCommit) there).jdbc == wanted.jdbc) {
                @SuppressWarnings("unchecked") // of the same class
                T found = (T) there;
                return found;
            }
        }
        TransactionSynchronizationManager.registerSynchronization(wanted);
        return wanted;
    }

    /** Has the relay, or the server's nodes, told after the commit. Without Spring's synchronization they look by themselves. */
    static void tell(OjsJdbc jdbc, DataSource dataSource) {
        if (TransactionSynchronizationManager.isSynchronizationActive()) once(new Tell(jdbc, dataSource));
    }

    /** The jobs that wait in memory for the commit of the present transaction. */
    static Held held(OjsJdbc jdbc) {
        return once(new Held(jdbc));
    }

    private static final class Tell extends AfterCommit {
        private final DataSource dataSource;

        Tell(OjsJdbc jdbc, DataSource dataSource) {
            super(jdbc);
            this.dataSource = dataSource;
        }

        @Override
        public void afterCommit() {
            // Still the connection that has committed: asking the pool for another one could wait for this one.
            Connection connection = DataSourceUtils.getConnection(dataSource);
            try {
                jdbc.committed(connection);
            } finally {
                DataSourceUtils.releaseConnection(connection, dataSource);
            }
        }
    }

    /** Jobs in memory, and how many there were at each savepoint. */
    static final class Held extends AfterCommit {
        private final List<JobRequest> jobs = new ArrayList<>();
        private final Map<Object, Integer> savepoints = new HashMap<>();

        private Held(OjsJdbc jdbc) {
            super(jdbc);
        }

        void add(JobRequest request) {
            jobs.add(RequestContext.completed(request));
        }

        @Override
        public void savepoint(Object savepoint) {
            savepoints.put(savepoint, jobs.size());
        }

        @Override
        public void savepointRollback(Object savepoint) {
            // One from before the first job is not known here.
            jobs.subList(savepoints.getOrDefault(savepoint, 0), jobs.size()).clear();
        }

        @Override
        public void afterCommit() {
            if (!jobs.isEmpty()) jdbc.enqueueBulk(jobs);
        }
    }
}
