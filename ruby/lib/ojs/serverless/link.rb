# frozen_string_literal: true

module OJS
  module Serverless
    # What the context of a job asks of the server, where a function runs the job instead of a worker.
    class Link
      # By number of the core.
      REASONS = { cancelled: 0, lease_lost: 1, timed_out: 2, shutdown: 3 }.freeze
      # The least time between two reports of progress, in seconds.
      PAUSE = 0.25
      private_constant :REASONS, :PAUSE

      # +transport+ is nil where there is no server.
      def initialize(delivery, transport)
        @delivery = delivery
        @transport = transport
        @checkpoint = Checkpoint.new(delivery.job["checkpoint"])
        @reported = -Float::INFINITY
      end

      # Asks the handler to stop. The first reason counts.
      def stop(reason)
        @reason ||= REASONS.fetch(reason)
      end

      # The run is over: its last report of progress is sent before the platform may freeze the process.
      def close
        send_progress if @progress
      end

      # --- what the context calls ---

      def cancelled(_token)
        @reason
      end

      def heartbeat(_token)
        beat if @transport && @delivery.worker_id
        @reason
      end

      # A report that cannot be sent is dropped: the job does not depend on it.
      def progress(_token, fraction, message, data)
        return unless @transport

        @progress = { progress: fraction, message: message, data: data && Wire.load(data) }.compact
        send_progress if now - @reported >= PAUSE
      end

      def save(_token, step, text)
        unless @transport
          raise ValidationError, "checkpoints are kept by the server: give the function its URL, ojs_url: or OJS_URL"
        end

        [@checkpoint.save(step, text) { |document| put("checkpoint", { state: document })["sequence"] }, nil]
      rescue ConflictError => e
        [nil, lose(e)]
      end

      def saved(_token, step)
        @checkpoint.saved(step)
      end

      private

      def put(what, members)
        @transport.request("PUT", "#{@delivery.path}/#{what}", { **members, **@delivery.lease })
      end

      def beat
        job = @delivery.job_id
        said = { worker_id: @delivery.worker_id, state: "running", active_jobs: [job] }
        said[:lease_tokens] = { job => @delivery.lease[:lease_token] } if @delivery.fenced?
        answer = @transport.request("POST", "/workers/heartbeat", said) || {}
        return stop(:cancelled) if answer.fetch("cancelled_jobs", []).include?(job)

        stop(:lease_lost) unless answer.fetch("jobs_extended", [job]).include?(job)
      rescue Error => e
        OJS.logger.warn { "the heartbeat of job #{job} was not taken: #{e.message}" }
      end

      def send_progress
        said, @progress = @progress, nil
        @reported = now
        put("progress", said)
      rescue ConflictError => e
        lose(e)
      rescue Error => e
        OJS.logger.debug { "a report of progress of job #{@delivery.job_id} was not taken: #{e.message}" }
      end

      def lose(error)
        cancelled = error.details.is_a?(Hash) && error.details["current_state"] == "cancelled"
        stop(cancelled ? :cancelled : :lease_lost)
      end

      def now
        Process.clock_gettime(Process::CLOCK_MONOTONIC)
      end
    end
    private_constant :Link
  end
end
