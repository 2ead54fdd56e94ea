# frozen_string_literal: true

module OJS
  module Serverless
    # Runs single jobs with the handlers of a worker that is never started, and reports their outcomes.
    class Runner
      # What a handler that was asked to stop gets to end in order, in seconds: a part of the margin before the limit.
      WIND_UP = 1.0
      # How often an outcome is sent while no clear answer comes. The server takes it once.
      SENDS = 2
      # The longest wait for an answer of the server, in seconds: all sends fit into the margin before the limit.
      CALL = 2.0
      private_constant :WIND_UP, :SENDS, :CALL

      # Without a server the platform alone learns what has become of a job.
      def initialize(worker, server:)
        @worker = worker
        @server = server
      end

      def server?
        @server
      end

      # Runs the handler of a job; its outcome is a kind and a payload.
      def run(delivery, deadline)
        job = delivery.job
        envelope = transport.decrypted(Wire.dump(job))
        link = Link.new(delivery, server? ? transport : nil)
        ctx = JobContext.new(link, 0, job["type"], job["id"], delivery.attempt, job["queue"] || "default", envelope)
        outcome = within(deadline.left(delivery.timeout), link) { attempt(ctx) }
        link.close
        warn_of(ctx, outcome)
        outcome
      rescue Error => e
        Outcome.refused(code: e.code, type: "DecryptionError", message: e.message, retryable: e.retryable?)
      end

      # Runs a job that a queue has brought, and reports its outcome. Returns the outcome, and whether the server has
      # taken note of it: then the server decides what comes next. Without a server, completed jobs alone count as
      # taken. A job that the server does not have any more is not run, and counts as taken.
      def settle(delivery, deadline)
        unless delivery.whole?
          return [lost(delivery), false] unless server?

          delivery = complete(delivery)
        end
        outcome = run(delivery, deadline)
        [outcome, server? ? report(delivery, outcome) : outcome.first == Outcome::COMPLETED]
      rescue NotFoundError => e
        OJS.logger.warn { "job #{delivery.job_id} is gone: it is not run" }
        [Outcome.refused(code: e.code, type: "JobGone", message: e.message, retryable: false), true]
      rescue Error => e
        OJS.logger.error { "job #{delivery.job_id} cannot be read from the server: #{e.message}" }
        [lost(delivery), false]
      end

      # Whether the server has moved on since a message was sent that a queue delivers again: the job has ended, or is
      # at a later attempt. A server that does not answer has not moved on.
      def stale?(delivery)
        return false unless server?

        job = call("GET", delivery.path)["job"]
        runnable = delivery.fenced? ? %w[active] : %w[active available]
        !runnable.include?(job["state"]) || job["attempt"].to_i > delivery.attempt
      rescue NotFoundError
        true
      rescue Error => e
        OJS.logger.warn { "job #{delivery.job_id} came again, and the server cannot be asked about it: #{e.message}" }
        false
      end

      private

      def transport
        @worker.transport
      end

      # The answer of the server. One that hangs does not hold up a function until the platform ends it.
      def call(...)
        thread = Thread.new { transport.request(...) }
        thread.report_on_exception = false
        return thread.value if thread.join(CALL)

        thread.kill
        raise TimeoutError.new("the server has not answered within #{CALL} s", code: "timeout", retryable: true)
      end

      def complete(delivery)
        found = call("GET", delivery.path)["job"]
        delivery.with(found, delivery.checkpoint_ref? ? saved(delivery) : nil)
      end

      # The checkpoint that the server has. A server without checkpoints answers 404, in a form of its own: the job is
      # there, and runs without one.
      def saved(delivery)
        call("GET", "#{delivery.path}/checkpoint")
      rescue Error => e
        raise unless e.status == 404

        OJS.logger.warn { "the server has no checkpoint of job #{delivery.job_id}: the job runs without it" }
        nil
      end

      def attempt(ctx)
        @worker.perform(ctx)
        Outcome.success(ctx)
      rescue Exception => e # rubocop:disable Lint/RescueException -- a handler ends its job, not the function
        Outcome.failure(ctx, e)
      end

      # The outcome of the block, which runs for so many seconds at most. A handler that does not stop when it is asked
      # to runs on in its thread; what it does changes nothing.
      def within(seconds, link, &block)
        return yield if seconds.nil?

        thread = Thread.new(&block)
        thread.report_on_exception = false
        return thread.value if thread.join(seconds)

        link.stop(:timed_out)
        late = thread.value if thread.join(WIND_UP)
        return late if late && late.first == Outcome::COMPLETED

        Outcome.refused(code: "timeout", type: "timeout", retryable: true,
                        message: "The attempt took longer than its timeout_ms, or than the platform allows.")
      end

      # A server that says that the job is settled, or another worker's by now, has taken note.
      def report(delivery, outcome)
        path, members = Outcome.reported(*outcome)
        tell(path, { job_id: delivery.job_id, **delivery.lease, **members })
        true
      rescue ConflictError, NotFoundError => e
        OJS.logger.warn { "the outcome of job #{delivery.job_id} was not taken: #{e.message}" }
        true
      rescue Error => e
        # The result is the reason: the same result would be refused again.
        result = e.is_a?(InvalidRequestError) || e.is_a?(PayloadTooLargeError)
        return report(delivery, refused_result(e)) if result && outcome.first == Outcome::COMPLETED

        OJS.logger.error { "the outcome of job #{delivery.job_id} did not reach the server: #{e.message}" }
        false
      end

      def refused_result(error)
        message = "the result was not accepted: #{error.message}"
        Outcome.refused(code: "serialization_error", type: "ResultRefused", message: message, retryable: false)
      end

      def tell(path, body)
        sends ||= 0
        call("POST", path, body)
      rescue ConnectionError
        retry if (sends += 1) < SENDS
        raise
      end

      def lost(delivery)
        message = "the message of job #{delivery.job_id} has no args, and the server could not be asked"
        Outcome.refused(code: "invalid_job", type: "InvalidJob", message: message, retryable: true)
      end

      def warn_of(ctx, outcome)
        return unless outcome.first == Outcome::FAILED

        OJS.logger.warn do
          error = Outcome.reported(*outcome).last[:error]
          "job #{ctx.type} #{ctx.id} failed, attempt #{ctx.attempt}: #{error["code"]}: #{error["message"]}"
        end
      end
    end
    private_constant :Runner
  end
end
