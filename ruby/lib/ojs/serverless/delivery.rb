# frozen_string_literal: true

module OJS
  module Serverless
    # A job as it reaches a function, and what its delivery says about the lease under which the job runs.
    class Delivery
      # The job, a Hash.
      attr_reader :job
      # The name under which the server has leased the job; nil where the delivery does not say.
      attr_reader :worker_id
      # New for every attempt to push a job; nil where a queue has brought it.
      attr_reader :id

      # Reads the body of a push delivery (+job+, +worker_id+, +delivery_id+), or a job alone: JSON text, or what was
      # read from it. Raises ValidationError (+invalid_request+), which names the wrong member.
      def self.read(body)
        data = body.is_a?(String) ? Wire.load(body.dup.force_encoding(Encoding::UTF_8)) : body
        new(data)
      rescue ValidationError
        raise
      rescue Error => e
        raise invalid("the body cannot be read: #{e.message}"), cause: nil
      end

      def self.invalid(message)
        ValidationError.new(message, code: "invalid_request")
      end

      def initialize(data)
        wrong("the body must be a JSON object with a job") unless data.is_a?(Hash)
        @job = data.fetch("job", data)
        wrong("'job' must be an object") unless @job.is_a?(Hash)
        %w[id type].each do |name|
          given = @job[name].is_a?(String) && !@job[name].empty?
          wrong("'#{name}' of the job must be a text that is not empty") unless given
        end
        wrong("'args' of the job must be an array") unless @job.fetch("args", []).is_a?(Array)
        @worker_id = data["worker_id"] || @job["worker_id"]
        @lease_token = data["lease_token"] || @job["lease_token"]
        @id = data["delivery_id"]
      end

      def job_id
        job["id"]
      end

      # The path of the job on the server. An id of a message may hold anything.
      def path
        "/jobs/#{ERB::Util.url_encode(job_id)}"
      end

      def attempt
        job["attempt"] || 1
      end

      # The most that one run may take, in seconds; nil without a limit of the job's own.
      def timeout
        length = job["timeout_ms"]
        return length / 1000.0 if length.is_a?(Numeric) && length.positive?

        length = job["timeout"]
        length if length.is_a?(Numeric) && length.positive?
      end

      # Whether the message has the job itself. A queue of a cloud takes 256 KiB: of a larger job it has the name only.
      def whole?
        job.key?("args")
      end

      # Whether the server has a checkpoint of the job that is too large for the message as well.
      def checkpoint_ref?
        job["checkpoint_ref"] == true
      end

      # The same delivery with the whole job, as the server has it. Members of the message count: its lease and its
      # attempt are those of this delivery.
      def with(found, checkpoint = nil)
        whole = found.merge(job).except("checkpoint_ref")
        whole["checkpoint"] = checkpoint.slice("state", "sequence") if checkpoint
        Delivery.new({ "job" => whole, "worker_id" => worker_id, "lease_token" => @lease_token, "delivery_id" => id })
      end

      # Whether the delivery proves the lease by a token.
      def fenced?
        !@lease_token.nil?
      end

      # The members by which a call to the server names the lease.
      def lease
        { worker_id: worker_id, lease_token: @lease_token }.compact
      end

      private

      def wrong(message)
        raise Delivery.invalid(message)
      end
    end
  end
end
