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

      # Called by <tt>ActiveJob.perform_all_later</tt> (Rails 7.1). Returns how many were enqueued: all, or an error is raised.
      def enqueue_all(jobs)
        OJS::RailsAdapter::Jobs.enqueue_all(jobs)
      end

      # Asked by Rails 7.2: it need not wait for the commit, for the job is a row in the transaction.
      def enqueue_after_transaction_commit?
        false
      end

      # Rails 8.2 keeps jobs in memory until the commit, and says that they are enqueued. A row in the transaction keeps that word: in
      # front of the setting of ActiveJob::Base. What a class sets for itself counts.
      module AtOnce
        # Asked by Active Job.
        def enqueue_after_transaction_commit
          queue_adapter.is_a?(OjsAdapter) ? false : super
        end
      end
    end
  end
end
