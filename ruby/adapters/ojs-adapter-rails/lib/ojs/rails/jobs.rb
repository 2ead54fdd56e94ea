# frozen_string_literal: true

module OJS
  module RailsAdapter
    # Active Job's jobs as jobs of Open Job Spec: one type for each class, and Active Job's own serialisation as the only argument.
    module Jobs
      # Said by a handler to OJS itself.
      OURS = [OJS::Snooze, OJS::JobCancelled, OJS::NonRetryableError].freeze
      private_constant :OURS

      module_function

      # <tt>Reports::YearlyJob</tt> is <tt>active_job.reports.yearly_job</tt>.
      def type(class_name)
        "active_job.#{class_name.underscore.tr("/", ".")}"
      end

      # Queues have no underscore and no capitals in Open Job Spec.
      def queue(name)
        name.to_s.downcase.tr("_", "-")
      end

      # Puts a job into the open transaction, or sends it. +at+: not before this time, in seconds since 1970.
      def enqueue(job, at = nil)
        request = request(job, at)
        stored = joins?(job) ? OJS.adapter.enqueue_after_commit(request) : OJS.client.enqueue_request(request)
        job.provider_job_id = stored.id
      end

      # The same for many; those that do not join are one request. Returns how many.
      def enqueue_all(jobs)
        joining, others = jobs.partition { |job| joins?(job) }
        joining.each { |job| enqueue(job, job.scheduled_at) }
        stored = others.empty? ? [] : OJS.client.enqueue_batch(others.map { |job| request(job, job.scheduled_at) })
        others.zip(stored) { |job, made| job.provider_job_id = made.id }
        # Rails asks each job.
        jobs.each { |job| job.successfully_enqueued = true if job.respond_to?(:successfully_enqueued=) }
        jobs.size
      end

      # Whether a job becomes a row of the open transaction.
      def joins?(job)
        OJS.configuration.adapter && job.class.ojs_options.fetch(:after_commit, true)
      end

      def request(job, at)
        # What Active Job lets through becomes a dead letter. The policy of a class whose retries are the server's
        # says by itself what happens in the end.
        options = { retry: { on_exhaustion: "dead_letter" }, **job.class.ojs_options.except(:after_commit),
                    queue: queue(job.queue_name), priority: job.priority }
        options[:delay_until] = Time.at(at).utc if at
        JobRequest.new(type(job.class.name), [job.serialize], **options.compact)
      end

      # Registers the handler of every Active Job class that is loaded, and of those that are not, unless the worker has one for
      # everything. Which code runs is looked up by name for each job, so that classes may be reloaded.
      def register(worker)
        types = ActiveJob::Base.descendants.filter_map(&:name).uniq.map { |name| type(name) }
        types.each { |type| worker.register(type) { |ctx| perform(ctx) } }
        worker.register("*") { |ctx| ctx.type.start_with?("active_job.") ? perform(ctx) : unknown(ctx) } unless worker.handles?("*")
      end

      # Retries and discards are Active Job's: what it lets through has failed for good, unless the class leaves it to the server
      # (<tt>self.ojs_options = { retry: { max_attempts: 5 } }</tt>). A worker that dies is another matter: its jobs run again.
      def perform(ctx)
        data = ctx.args[0]
        ActiveJob::Base.execute(data.merge("provider_job_id" => ctx.id))
        nil
      rescue *OURS
        raise
      rescue StandardError => e
        raise if data["job_class"].safe_constantize&.ojs_options&.key?(:retry)

        final = OJS::NonRetryableError.new(e.message, code: "active_job", details: { "error_class" => e.class.name })
        raise final, e.message, e.backtrace
      end

      def unknown(ctx)
        raise OJS::NonRetryableError.new("No handler is registered for job type '#{ctx.type}'.", code: "no_handler")
      end
      private_class_method :unknown, :joins?
    end
  end
end
