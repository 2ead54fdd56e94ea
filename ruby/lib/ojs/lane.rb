# frozen_string_literal: true

module OJS
  # A thread that pulls jobs and runs their handlers. Jobs come in batches of about two milliseconds; +step+ is asked before every
  # job whether it still belongs to this thread: a batch that is stuck behind a slow job is given to another one.
  class Lane
    # The core sends fewer when handlers are slow.
    BATCH = 256
    attr_reader :thread

    # +perform+ runs a handler on a JobContext; +killed+ is called with the lane when its thread was killed.
    def initialize(native, name, perform:, killed:)
      @native = native
      @perform = perform
      @killed = killed
      @context = @done = nil
      @thread = Thread.new { live }
      @thread.name = name
      @thread.report_on_exception = false
    end

    # A handler runs.
    def busy?
      !@context.nil?
    end

    private

    def live
      over = false
      begin
        work
        over = true
      rescue ForkedError, ClosedError
        over = true
      rescue Exception => e # rubocop:disable Lint/RescueException -- late interrupts of a handler that is over must not end the lane
        answer_held(e)
        retry
      end
    ensure
      # Killed, by the handler itself or from outside.
      unless over
        answer_held(ThreadError.new("the handler's thread was killed"))
        @killed.call(self)
      end
    end

    def work
      @done = nil
      jobs = 0
      busy = 0.0
      while (batch = @native.turn(@done, jobs, busy, BATCH))
        @done = nil
        jobs = 0
        began = now
        batch.each do |job|
          mine = @native.step(@done, job[0])
          @done = nil
          next unless mine

          jobs += 1
          run(job)
        end
        busy = now - began
      end
    end

    def run(job)
      @context = JobContext.new(@native, *job)
      begin
        @perform.call(@context)
        outcome = Outcome.success(@context)
      rescue Exception => e # rubocop:disable Lint/RescueException -- a handler ends its job, not the worker: SystemExit and others too
        outcome = Outcome.failure(@context, e)
      end
      @done = [job[0], *outcome]
      @context = nil
    end

    # Something came between: what is held here is answered before the lane goes on, or ends.
    def answer_held(error)
      context, @context = @context, nil
      done, @done = @done, nil
      @native.complete(done) if done
      @native.complete([context.token, *Outcome.failure(context, error)]) if context
    rescue ForkedError, ClosedError
      nil
    end

    def now
      Process.clock_gettime(Process::CLOCK_MONOTONIC)
    end
  end
  private_constant :Lane
end
