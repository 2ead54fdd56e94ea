# frozen_string_literal: true

module OJS
  # What a handler gets: one run of one job.
  class JobContext
    # gen:ruby/cancel_reasons.j2 (make gen; do not edit)
    # By number of the core.
    REASONS = %i[cancelled lease_lost timed_out shutdown].freeze
    # gen:end
    private_constant :REASONS

    # gen:ruby/context.j2 (make gen; do not edit)
    # The job type.
    attr_reader :type

    # The job's id: the same in every attempt and redelivery.
    attr_reader :id

    # The number of the attempt, 1 during the first run.
    attr_reader :attempt

    # The queue that the job came from.
    attr_reader :queue

    # The arguments.
    def args
      job.args
    end

    # What travels with the job besides its arguments.
    def meta
      job.meta
    end

    # The results of the steps before this one, in a workflow.
    def parent_results
      job.parent_results
    end

    # The workflow that the job belongs to; nil when it belongs to none.
    def workflow_id
      job.workflow_id
    end

    # The job's place in its train; nil when it runs in none.
    def train
      job.train
    end
    # gen:end
    # The job's result: what the handler returned, if that is JSON data (nil, a Hash, an Array, a String, a number, true, false).
    # Handlers and middleware may set it.
    attr_accessor :result
    # What the core knows this run by.
    attr_reader :token # :nodoc:

    # +link+ answers to cancelled(token) and heartbeat(token).
    def initialize(link, token, type, id, attempt, queue, envelope) # :nodoc:
      @link = link
      @token = token
      @type = type
      @id = id
      @attempt = attempt
      @queue = queue
      @envelope = envelope
    end

    # The whole job; its JSON is read when it is asked for.
    def job
      @job ||= Job.from_json(@envelope)
    end

    # A place for middleware to leave things for the layers inside; gone after this run.
    def metadata
      @metadata ||= {}
    end

    # Whether the handler should stop. Costs nothing; ask often.
    def cancelled?
      !@link.cancelled(@token).nil?
    end

    # Why it should stop: +:cancelled+, +:lease_lost+, +:timed_out+, +:shutdown+, or nil.
    def cancel_reason
      number = @link.cancelled(@token)
      number && REASONS.fetch(number)
    end

    # Raises JobCancelled when the handler should stop.
    def raise_if_cancelled
      reason = cancel_reason
      raise JobCancelled, reason if reason
    end

    # Extends the lease now; the worker does so every few seconds by itself. False when the handler should stop.
    def heartbeat
      @link.heartbeat(@token).nil?
    end

    def inspect
      "#<OJS::JobContext id=#{id.inspect} type=#{type.inspect} attempt=#{attempt}>"
    end
  end
end
