package org.openjobspec.spring;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import javax.sql.DataSource;
import org.openjobspec.Job;
import org.openjobspec.JobRequest;
import org.openjobspec.OJSException;
import org.openjobspec.jdbc.OjsJdbc;
import org.springframework.dao.DataAccessException;
import org.springframework.jdbc.UncategorizedSQLException;
import org.springframework.jdbc.datasource.DataSourceUtils;
import org.springframework.jdbc.support.SQLStateSQLExceptionTranslator;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * Enqueues jobs with Spring's transactions (framework adapters, section 5.1).
 *
 * {@snippet :
 * @Transactional
 * public User signup(String email) {
 *     User user = users.save(new User(email));
 *     ojs.enqueueAfterCommit("email.welcome", user.id());
 *     return user;
 * }
 * }
 *
 * <p>The row is written on the connection of the present transaction: {@code NESTED} ones that are rolled back take their jobs along, and
 * the relay is woken after the outermost commit. For a second database make another one: {@code new OjsTemplate(ojsJdbc, dataSource, true)}.
 */
public class OjsTemplate {
    private final OjsJdbc jdbc;
    private final DataSource dataSource;
    private final boolean outbox;

    /** {@code outbox} false holds jobs in memory until the commit: a process that dies there loses them. */
    public OjsTemplate(OjsJdbc jdbc, DataSource dataSource, boolean outbox) {
        this.jdbc = jdbc;
        this.dataSource = dataSource;
        this.outbox = outbox;
    }

    /** Sends a job now, whatever becomes of any transaction. */
    public Job enqueue(String type, Object... args) {
        return jdbc.enqueue(type, args);
    }

    /** The same for a job with options. */
    public Job enqueue(JobRequest request) {
        return jdbc.enqueue(request);
    }

    /** Sends many jobs now, in one request: all are stored or none. */
    public List<Job> enqueueBulk(List<JobRequest> requests) {
        return jdbc.enqueueBulk(requests);
    }

    /**
     * Sends a job if, and only if, the outermost transaction commits; outside of one, now. The job that is returned has its id already;
     * it is null only when the outbox is disabled and a transaction is open, as the id is not made yet.
     */
    public Job enqueueAfterCommit(String type, Object... args) {
        return enqueueAfterCommit(JobRequest.of(type, args));
    }

    /** The same for a job with options: {@code JobRequest.of("email.welcome", 7).queue("mail")}. */
    public Job enqueueAfterCommit(JobRequest request) {
        if (!outbox) return held(request);
        if (TransactionSynchronizationManager.isCurrentTransactionReadOnly()) {
            String message = "the transaction is read-only and cannot hold a job: "
                    + "drop readOnly = true, or send the job at once (enqueue)";
            throw new OJSException.Outbox(message, "read_only_transaction", null);
        }
        return onConnection("enqueue after commit", connection -> {
            Job job = jdbc.enqueueAfterCommit(connection, request);
            if (!connection.getAutoCommit()) AfterCommit.tell(jdbc, dataSource);
            return job;
        });
    }

    /** The same for many. */
    public List<Job> enqueueBulkAfterCommit(List<JobRequest> requests) {
        List<Job> jobs = new ArrayList<>();
        for (JobRequest request : requests) jobs.add(enqueueAfterCommit(request));
        return jobs;
    }

    /** The jobs not sent yet, as the present transaction sees them: for tests, which then roll back. */
    public List<Job> staged() {
        return onConnection("list staged jobs", jdbc.outbox()::staged);
    }

    private Job held(JobRequest request) {
        if (!TransactionSynchronizationManager.isActualTransactionActive()) return enqueue(request);
        AfterCommit.held(jdbc).add(request);
        return null;
    }

    private <T> T onConnection(String task, OjsJdbc.Work<T> work) {
        Connection connection = DataSourceUtils.getConnection(dataSource);
        try {
            return work.in(connection);
        } catch (OJSException.Outbox e) {
            if (!e.code().equals("no_outbox_table")) throw e;
            String message = "there is no table " + jdbc.outbox().table()
                    + ": set ojs.outbox.migrate=true, or run 'ojs relay migrate' once";
            throw new OJSException.Outbox(message, e.code(), e);
        } catch (SQLException e) {
            DataAccessException translated = new SQLStateSQLExceptionTranslator().translate(task, null, e);
            throw translated != null ? translated : new UncategorizedSQLException(task, null, e);
        } finally {
            DataSourceUtils.releaseConnection(connection, dataSource);
        }
    }
}
