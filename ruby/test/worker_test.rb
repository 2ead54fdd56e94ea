# frozen_string_literal: true

require_relative "support"

# The consumer's side against the real server.
class WorkerTest < Minitest::Test
  include Support

  def client
    @client ||= client_of(Support.server)
  end

  def queue
    @queue ||= "worker-#{name.downcase.tr("^a-z0-9", "-")[0, 60]}"
  end

  def worker(**options, &setup)
    worker_of(client, queues: queue, **options).tap { |worker| setup&.call(worker) }
  end

  def enqueue(type, args = [], **options)
    client.enqueue(type, args, queue: queue, **options)
  end

  # Once, so that a failure ends the job.
  ONCE = { max_attempts: 1 }.freeze

  def test_results_are_json_data
    worker do |w|
      w.register("hash") { { a: [1, nil, "ž", 2**80] } }
      w.register("none") { nil }
      w.register("object") { Object.new }
      w.register("set") { |ctx| ctx.result = 5; Object.new }
      w.register("wrong") { { a: Object.new } }
    end.start
    results = %w[hash none object set].to_h { |type| [type, job_in(client, enqueue(type).id, "completed").result] }
    assert_equal({ "hash" => { "a" => [1, nil, "ž", 2**80] }, "none" => nil, "object" => nil, "set" => 5 }, results)
    failed = job_in(client, enqueue("wrong").id, "discarded")
    assert_equal "serialization_error", failed.errors.last["code"]
  end

  def test_concurrency
    here = Queue.new
    go = Queue.new
    worker(concurrency: 4) { |w| w.register("wait") { here << Thread.current; go.pop } }.start
    jobs = client.enqueue_batch(Array.new(6) { { type: "wait", queue: queue } })
    threads = Array.new(4) { pop(here) }
    assert_equal 4, threads.uniq.size
    assert here.empty?, "no more than asked for"
    6.times { go << 1 }
    jobs.each { |job| job_in(client, job.id, "completed") }
  end

  def test_exceptions_of_all_kinds_end_in_a_failure
    boom = Class.new(Exception) { def self.name = "Boom" } # rubocop:disable Lint/InheritException
    worker(concurrency: 1) do |w|
      w.register("standard") { raise ArgumentError, "wrong" }
      w.register("exception") { raise boom, "bad" }
      w.register("exit") { exit 3 }
      w.register("throw") { throw :nobody }
      w.register("timeout") { Timeout.timeout(0.01) { sleep } }
      w.register("kill") { Thread.current.kill }
      w.register("message") { raise "\xFF broken" }
      w.register("stack") { |_| stack = -> { stack.call }; stack.call }
      w.register("fine") { "ok" }
    end.start
    expected = { "standard" => "ArgumentError", "exception" => "Boom", "exit" => "SystemExit", "throw" => "UncaughtThrowError",
                 "timeout" => "Timeout::Error", "kill" => "ThreadError", "message" => "RuntimeError", "stack" => "SystemStackError" }
    expected.each do |type, kind|
      error = job_in(client, enqueue(type, [], retry: ONCE).id, "discarded").errors.last
      assert_equal ["handler_error", kind], error.values_at("code", "type"), type
      refute_empty error["message"]
    end
    assert_equal "ok", job_in(client, enqueue("fine").id, "completed").result, "the only lane lives on"
  end

  def test_failures_are_retried
    worker { |w| w.register("flaky") { |ctx| ctx.attempt < 3 ? raise("not yet") : ctx.attempt } }.start
    job = enqueue("flaky", [], retry: { max_attempts: 5, initial_interval: "10ms", backoff_strategy: "constant" })
    done = job_in(client, job.id, "completed")
    assert_equal [3, "not yet"], [done.result, done.errors.first["message"]]
    assert_includes done.errors.first["details"]["stack"], "worker_test.rb"
  end

  def test_a_stack_trace_begins_where_the_handler_was_and_has_no_frames_of_the_gem
    worker { |w| w.register("refused") { client.enqueue("a", [], wrong: 1) } }.start
    error = job_in(client, enqueue("refused", [], retry: ONCE).id, "discarded").errors.last
    frames = error["details"]["stack"].lines
    assert_match(/worker_test\.rb:\d+/, frames.first)
    assert_empty(frames.grep(%r{ruby/lib/ojs/}))
    assert_includes error["message"], "unknown option 'wrong'"
  end

  def test_non_retryable_and_snooze
    worker do |w|
      w.register("never") { raise OJS::NonRetryableError.new("declined", code: "card_declined", details: { "n" => 1 }) }
      w.register("later") { |ctx| (@slept ||= []) << ctx.attempt; raise OJS::Snooze, 0.01 if @slept.size == 1 }
    end.start
    error = job_in(client, enqueue("never").id, "discarded").errors.last
    assert_equal ["card_declined", 1], [error["code"], error["details"]["n"]]
    done = job_in(client, enqueue("later").id, "completed")
    assert_empty done.errors
    assert_equal 2, @slept.size
    assert_raises(OJS::ValidationError) { OJS::Snooze.new(-1) }
  end

  def test_an_unknown_type_fails_for_good
    worker { |w| w.register("known") { nil } }.start
    error = job_in(client, enqueue("unknown").id, "discarded").errors.last
    assert_equal "no_handler", error["code"]
  end

  def test_a_handler_for_everything_else
    handler = Class.new { def call(ctx) = ctx.type.upcase }.new
    worker { |w| w.register("*", handler) }.start
    assert_equal "ANY.TYPE", job_in(client, enqueue("any.type").id, "completed").result
  end

  def test_middleware_order_and_forms
    order = []
    around = Class.new do
      define_method(:call) do |ctx, &block|
        order << "object-before"
        ctx.metadata[:user] = 7
        block.call
        order << "object-after"
      end
    end
    seen = nil
    worker do |w|
      w.use("first") { |_ctx, nxt| order << "first-before"; seen = nxt.call; order << "first-after" }
      w.use("object", around.new)
      w.use("last") { |_ctx, &nxt| nxt.call; Object.new }
      w.register("a") { |ctx| order << "handler"; ctx.metadata[:user] }
    end.start
    assert_equal 7, job_in(client, enqueue("a").id, "completed").result, "what layers return is not looked at"
    assert_equal %w[first-before object-before handler object-after first-after], order
    assert_kind_of Object, seen
  end

  def test_a_layer_may_keep_the_handler_from_running_and_see_failures
    seen = Queue.new
    worker do |w|
      w.use("cache") { |ctx, nxt| ctx.type == "cached" ? ctx.result = "from the cache" : nxt.call }
      w.use("report") do |_ctx, nxt|
        nxt.call
      rescue StandardError => e
        seen << e
        raise
      end
      w.register("cached") { raise "never" }
      w.register("fails") { raise "oh" }
    end.start
    assert_equal "from the cache", job_in(client, enqueue("cached").id, "completed").result
    job_in(client, enqueue("fails", [], retry: ONCE).id, "discarded")
    assert_equal "oh", pop(seen).message
  end

  def test_cancellation
    began = Queue.new
    ended = Queue.new
    worker(heartbeat_interval: 0.05) do |w|
      w.register("long") do |ctx|
        began << ctx.id
        loop do
          ctx.raise_if_cancelled
          sleep 0.005
        end
      rescue OJS::JobCancelled => e
        ended << [e.reason, ctx.cancelled?, ctx.heartbeat]
        raise
      end
    end.start
    job = enqueue("long")
    pop(began)
    client.cancel_job(job.id)
    assert_equal [:cancelled, true, false], pop(ended)
    assert_equal "cancelled", client.get_job(job.id).state
  end

  def test_time_outs
    began = Queue.new
    reasons = Queue.new
    worker do |w|
      w.register("slow") do |ctx|
        began << 1
        sleep 0.005 until ctx.cancelled?
        reasons << ctx.cancel_reason
      end
    end.start
    # The time counts from the fetch: on a busy machine it may be over before a handler begins, and then none does.
    while began.empty?
      job = enqueue("slow", [], timeout: 0.5, retry: ONCE)
      assert_equal "timeout", job_in(client, job.id, "discarded").errors.last["code"]
    end
    assert_equal :timed_out, pop(reasons)
  end

  def test_a_graceful_stop_waits_for_handlers
    began = Queue.new
    go = Queue.new
    w = worker(concurrency: 1) { |w| w.register("slow") { began << 1; go.pop } }
    w.start
    jobs = Array.new(2) { enqueue("slow") }
    pop(began)
    w.shutdown
    eventually { w.state == "terminate" }
    go << "done"
    w.stop
    assert_equal ["stopped", 0], [w.state, w.held]
    states = jobs.map { |job| client.get_job(job.id).state }
    assert_equal %w[available completed], states.sort
  end

  def test_the_end_of_the_grace_period_gives_jobs_back
    began = Queue.new
    reasons = Queue.new
    w = worker do |w|
      w.register("stuck") do |ctx|
        began << 1
        sleep 0.005 until ctx.cancelled?
        reasons << ctx.cancel_reason
        ctx.raise_if_cancelled
      end
    end
    w.start
    job = enqueue("stuck")
    pop(began)
    w.stop(0.3)
    assert_equal :shutdown, pop(reasons)
    back = job_in(client, job.id, "available")
    assert_empty back.errors
  end

  def test_quiet_and_resume_and_directives
    w = worker(heartbeat_interval: 0.05, worker_id: queue) { |w| w.register("a") { "ok" } }
    w.start
    job_in(client, enqueue("a").id, "completed")
    w.quiet
    eventually { w.state == "quiet" }
    job = enqueue("a")
    w.resume
    job_in(client, job.id, "completed")
    eventually("its first heartbeat: before that it cannot be directed") do
      client.request("POST", "/admin/workers/#{w.id}/quiet", {})
    rescue OJS::NotFoundError
      false
    end
    eventually("the server says quiet") { w.state == "quiet" }
    client.request("POST", "/admin/workers/#{w.id}/terminate", {})
    assert w.wait(PATIENCE), "the server says terminate"
    assert_equal "stopped", w.state
  end

  def test_a_worker_over_a_transport_of_my_own
    real = client
    paths = Queue.new
    transport = Object.new
    transport.define_singleton_method(:request) do |method, path, body = nil|
      paths << path
      [200, real.request(method, path, body)]
    rescue OJS::APIError => e
      raise e
    end
    w = worker_of(nil, transport: transport, queues: queue, poll_interval: 0.01)
    w.register("a") { "ok" }
    w.start
    assert_equal "ok", job_in(client, enqueue("a").id, "completed").result
    w.stop
    refute paths.empty?
  end

  def test_misuse
    w = worker
    assert_raises(OJS::ValidationError) { w.start }
    assert_raises(OJS::ValidationError) { w.register("a") }
    w.register("a") { nil }
    assert_raises(OJS::ValidationError) { w.register("a") { nil } }
    assert_raises(OJS::ValidationError) { w.quiet }
    w.start
    assert_raises(OJS::ValidationError) { w.start }
    assert_raises(OJS::ValidationError) { w.register("b") { nil } }
    assert_raises(OJS::MiddlewareError) do
      job_in(client, enqueue("a").id, "completed")
      w.use { |_, nxt| nxt.call }
    end
    w.stop
    w.stop
    assert_raises(OJS::ValidationError) { OJS::Worker.new(client, concurrency: 0) }
    error = assert_raises(OJS::ValidationError) { OJS::Worker.new(client, concurency: 1) }
    assert_match(/unknown option 'concurency'; did you mean 'concurrency'\? There are queues, concurrency, .*auth_token/, error.message)
    assert_raises(OJS::ValidationError) { OJS::Worker.new(client, queues: []) }
    {
      { concurrency: "ten" } => /concurrency must be at least 1, got "ten"/,
      { concurrency: 1.5 } => /concurrency must be at least 1, got 1.5/,
      { concurrency: true } => /concurrency must be at least 1, got true/,
      { queues: 5 } => /queues must be a list of names.*got 5/,
      { queues: [1] } => /queues must be a list of names/,
      { queues: ["Mail Room"] } => /queues: queue must be lowercase letters/,
      { labels: "eu" } => /labels must be a list of words, got "eu"/,
      { worker_id: "two\nlines" } => /worker_id: it must be 1 to 255 bytes/,
      { visibility_timeout: 0.5 } => /visibility_timeout: it must be at least 1000/,
      { heartbeat_interval: 0 } => /heartbeat_interval: must be longer than zero/
    }.each do |settings, message|
      error = assert_raises(OJS::ValidationError, settings.inspect) do
        worker_of(client, **settings).register("a") { 1 }.start
      end
      assert_match(message, error.message)
    end
    {
      { timeout: 0 } => /timeout must be longer than zero/,
      { headers: ["a"] } => /headers must be names with a text each/
    }.each do |settings, message|
      assert_match(message, assert_raises(OJS::ValidationError) { OJS::Client.new("memory:", **settings) }.message)
    end
    assert_match(/the URL must be text/, assert_raises(OJS::ValidationError) { OJS::Client.new(8080) }.message)
  end

  def test_a_handler_may_enqueue_and_stop_its_worker
    w = worker(concurrency: 1)
    w.register("first") { enqueue("second", [1]).id }
    w.register("second") do
      w.stop
    rescue OJS::ValidationError
      w.shutdown
    end
    w.start
    enqueue("first")
    assert w.wait(PATIENCE)
  end

  def test_many_jobs_arrive_exactly_once
    seen = Queue.new
    worker(concurrency: 4) { |w| w.register("n") { |ctx| seen << ctx.args[0] } }.start
    (0...2000).each_slice(500) { |slice| client.enqueue_batch(slice.map { |n| { type: "n", args: [n], queue: queue } }) }
    numbers = Array.new(2000) { pop(seen) }
    assert_equal (0...2000).to_a, numbers.sort
    eventually { client.queue_stats(queue)["completed"] == 2000 }
  end
end
