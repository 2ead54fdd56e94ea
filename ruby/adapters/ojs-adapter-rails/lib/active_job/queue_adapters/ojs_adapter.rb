# frozen_string_literal: true

module ActiveJob
  module QueueAdapters
    # <tt>config.active_job.queue_adapter = :ojs</tt>. Inside a transaction a job is enqueued if, and only if, it commits.
    class OjsAdapter
      # Called by Active Job.
      def enqueue(job)
        OJS::RailsAdapter::Jobs.enqueue(job)
      end

      # Called by Active Job, for <tt>set(wait: …)</tt>.
      def enqueue_at(job, timestamp)
        OJS::RailsAdapter::Jobs.enqueue(job, timestamp)
      end

      # Asked by Rails 7.2 and later: it need not wait for the commit, for the job is a row in the transaction.
      def enqueue_after_transaction_commit?
        false
      end
    end
  end
end
