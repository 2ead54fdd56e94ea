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

    # The worker, whose client handlers enqueue with.
    attr_writer :producer # :nodoc:
    # The job as JSON.
    attr_reader :envelope # :nodoc:

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

    # The tenant that the job belongs to; nil when it names none.
    def tenant
      meta["tenant_id"]
    end

    # The worker's client. What it enqueues belongs to the tenant of this job, and so does all that it sees.
    def client
      raise ValidationError, "this context belongs to no worker, and has no client" if @producer.nil?

      tenant.nil? ? @producer.client : @producer.client.of_tenant(tenant)
    end

    # Arguments of another version in the place of its own.
    def changed(args, version) # :nodoc:
      @job = Job.new(Wire.load(Wire.dump(job.to_h.merge("args" => args, "version" => version))))
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

    # Says how far the run has come: a fraction from 0 to 1, a sentence for people, data of the application. Returns
    # at once; of many reports the latest is sent, a few a second at most.
    def progress(fraction = nil, message = nil, data: nil)
      @link.progress(@token, fraction&.to_f, message&.to_s, data.nil? ? nil : Wire.dump(data))
    end

    # Saves the checkpoint of the job in place of the one before, and returns its sequence: it is on the server's disk
    # then. Raises JobCancelled when the lease is lost, and PayloadTooLargeError above 1 MiB.
    def checkpoint(state)
      save(nil, state)
    end

    # What this run, or an attempt before it, has saved; nil when there is nothing.
    def load_checkpoint
      text = @link.saved(@token, nil)
      text && Wire.load(text)
    end

    # Whether there is a checkpoint to go on from.
    def checkpoint?
      !@link.saved(@token, nil).nil?
    end

    # Runs the block once across all attempts of the job, and returns its result, which is saved with the checkpoint:
    # later attempts get it and do not run the block. A crash between the end of the block and the server's answer
    # runs it again.
    def step(name)
      text = @link.saved(@token, name.to_s)
      return Wire.load(text) if text

      result = yield
      save(name.to_s, result)
      result
    end

    def inspect
      "#<OJS::JobContext id=#{id.inspect} type=#{type.inspect} attempt=#{attempt}>"
    end

    private

    def save(step, value)
      sequence, reason = @link.save(@token, step, Wire.dump(value))
      raise JobCancelled, REASONS.fetch(reason) if reason

      sequence
    end
  end
end
