# frozen_string_literal: true

require_relative "../ojs"

module OJS
  # A private engine in place of every client's server. Loaded by <tt>require "ojs/testing"</tt>.
  #
  #   OJS::Testing.fake do |jobs|
  #     SignUp.call("ada@example.com")
  #     jobs.assert_enqueued("email.welcome", args: ["ada@example.com"])
  #     jobs.drain(worker)                        # runs the worker's handlers, here and now
  #   end
  #
  # In Minitest or Test::Unit, include this module: ojs_fake! in setup, ojs_restore! in teardown, assert_enqueued, refute_enqueued,
  # drain_jobs.
  module Testing
    # What was enqueued while it is active. The newest active one gets the jobs.
    class Fake
      # Every enqueue request as it goes over the wire, oldest first.
      attr_reader :requests

      def initialize(inline: [])
        @inline = inline
        @requests = []
        @engine = engine
        Transport.sinks << self
      end

      # Takes the place of a connection.
      def request(method, path, body) # :nodoc:
        answer = @engine.direct(method, path, body)
        sent = Wire.load(Native.fake_recorded(method, path, body.nil? ? "" : Wire.dump(body)))
        @requests.concat(sent)
        drain(*@inline) unless sent.empty? || @inline.empty? || @draining
        answer
      end

      # The requests of this type that match: +args+, +meta+ (a part of it), +id+, +schema+, or any option by its name on the wire.
      # ValidationError for an option that does not exist.
      def enqueued(type = nil, **wanted)
        Native.fake_matching(Wire.dump(requests), Wire.dump({ type: type, **wanted })).map { |place| requests[place] }
      end

      # Fails unless such a job was enqueued (+count+ times, when given). Returns the requests.
      def assert_enqueued(type, count: nil, **wanted)
        found = enqueued(type, **wanted)
        return found if count ? found.size == count : found.any?

        all = requests.map { |request| "#{request["type"]}(#{Wire.dump(request["args"])})" }
        failed("expected #{count || "at least one"} '#{type}', found #{found.size}; enqueued were: #{all.empty? ? "none" : all.join(", ")}")
      end

      # Fails when such a job was enqueued.
      def refute_enqueued(type = nil, **wanted)
        found = enqueued(type, **wanted)
        failed("expected no '#{type || "job"}', found #{found.size}") if found.any?
      end

      # Forgets all jobs.
      def clear
        requests.clear
        @engine.close
        @engine = engine
      end

      # Runs the handlers of the workers on everything that is available, jobs enqueued on the way included; returns how many ran. What
      # a handler raises is raised here, after its job was marked as failed, unless +raise_errors+ is false.
      def drain(*workers, raise_errors: true)
        raise ValidationError, "drain needs the worker whose handlers shall run" if workers.empty?

        @draining = true
        workers.sum { |worker| drain_one(worker, raise_errors) }
      ensure
        @draining = false
      end

      # Ends it: clients reach their servers again.
      def restore
        @engine.close if Transport.sinks.delete(self)
      end

      private

      # A job's link when no worker stands behind it. What a run saves is kept for that run.
      class Unattended
        def initialize
          @saved = {}
        end

        def cancelled(_token) = nil
        def heartbeat(_token) = nil
        def progress(_token, _fraction, _message, _data) = nil
        def saved(_token, step) = @saved[step]

        def save(_token, step, text)
          @saved[step] = text
          [@saved.size, nil]
        end
      end
      private_constant :Unattended

      def engine
        Transport.new("memory:ojs-testing-#{Process.pid}-#{Testing.count}", nil, {})
      end

      def failed(message)
        raise defined?(Minitest::Assertion) ? Minitest::Assertion : AssertionFailed, message
      end

      def drain_one(worker, raise_errors)
        ran = 0
        loop do
          jobs = @engine.direct("POST", "/workers/fetch", { queues: worker.queues, count: 1, worker_id: "drain" })["jobs"]
          return ran if jobs.empty?

          perform(worker, jobs.first, raise_errors)
          ran += 1
        end
      end

      def perform(worker, job, raise_errors)
        ctx = JobContext.new(Unattended.new, 0, *job.values_at("type", "id", "attempt", "queue"), Wire.dump(job))
        begin
          worker.perform(ctx)
          outcome = Outcome.success(ctx)
        rescue StandardError, NotImplementedError => e
          outcome = Outcome.failure(ctx, e)
        end
        report(job, *outcome)
        return unless e && raise_errors && outcome.first == Outcome::FAILED

        raise e unless e.is_a?(NoHandler)

        there = worker.types.map { |type| "'#{type}'" }.join(", ")
        raise ValidationError.new("#{e.message.chomp(".")}; there are handlers for #{there.empty? ? "none" : there}.", code: e.code)
      end

      def report(job, kind, payload)
        path, members = Outcome.reported(kind, payload)
        lease = { job_id: job["id"], lease_token: job["lease_token"], worker_id: "drain" }
        @engine.direct("POST", path, { **lease, **members })
      end
    end

    # Raised by the assertions where there is no Minitest.
    class AssertionFailed < StandardError; end

    @lock = Mutex.new
    @count = 0

    class << self
      # Keeps the jobs of all clients in memory: while the block runs, or until restore.
      def fake(inline: [])
        fake = Fake.new(inline: inline)
        return fake unless block_given?

        begin
          yield fake
        ensure
          fake.restore
        end
      end

      # Runs jobs with the handlers of the workers as soon as they are enqueued; what they raise reaches who enqueues.
      def inline(*workers, &block)
        raise ValidationError, "inline(worker) needs the worker whose handlers shall run" if workers.empty?

        fake(inline: workers, &block)
      end

      # Ends all that are active.
      def restore
        Transport.sinks.dup.each(&:restore)
      end

      # Numbers the engines.
      def count # :nodoc:
        @lock.synchronize { @count += 1 }
      end
    end

    # For +setup+ of a test case.
    def ojs_fake!
      @ojs_fake = Testing.fake
    end

    # For +teardown+.
    def ojs_restore!
      @ojs_fake&.restore
      @ojs_fake = nil
    end

    # See Fake#assert_enqueued.
    def assert_enqueued(type, **wanted)
      found = ojs_jobs.assert_enqueued(type, **wanted)
      assert(true)
      found
    end

    # See Fake#refute_enqueued.
    def refute_enqueued(type = nil, **wanted)
      ojs_jobs.refute_enqueued(type, **wanted)
      assert(true)
    end

    # See Fake#drain.
    def drain_jobs(*workers, **options)
      ojs_jobs.drain(*workers, **options)
    end

    # The active fake.
    def ojs_jobs
      @ojs_fake or raise ValidationError, "call ojs_fake! first, in setup"
    end
  end
end
