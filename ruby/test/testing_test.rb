# frozen_string_literal: true

require_relative "support"

# The helpers for tests of applications.
class TestingTest < Minitest::Test
  include Support
  include OJS::Testing

  def setup
    super
    ojs_fake!
    @client = OJS::Client.new("http://127.0.0.1:1") # no server listens there
  end

  def teardown
    ojs_restore!
    super
  end

  def test_assertions
    @client.enqueue("email.send", ["ada@example.com"], queue: "mail", meta: { tenant: "acme", n: 1 })
    assert_equal 1, assert_enqueued("email.send").size
    assert_enqueued("email.send", count: 1, args: ["ada@example.com"], queue: "mail", meta: { tenant: "acme" }, priority: 0)
    refute_enqueued("email.send", queue: "default")
    refute_enqueued("email.receive")
    error = assert_raises(Minitest::Assertion) { assert_enqueued("email.send", count: 2) }
    assert_equal "expected 2 'email.send', found 1; enqueued were: email.send([\"ada@example.com\"])", error.message
    assert_raises(Minitest::Assertion) { refute_enqueued("email.send") }
    ojs_jobs.clear
    refute_enqueued
  end

  def test_drain_runs_handlers_with_their_middleware
    order = []
    worker = OJS::Worker.new(@client)
    worker.use { |ctx, nxt| order << ctx.type; nxt.call }
    worker.register("first") { @client.enqueue("second", [1]) }
    worker.register("second") { |ctx| order << ctx.args[0] }
    job = @client.enqueue("first")
    assert_equal 2, drain_jobs(worker)
    assert_equal ["first", "second", 1], order
    assert_equal "completed", @client.get_job(job.id).state
  end

  def test_drain_raises_what_handlers_raise
    worker = OJS::Worker.new(@client)
    worker.register("fails") { raise ArgumentError, "no" }
    worker.register("later") { raise OJS::Snooze, 60 }
    job = @client.enqueue("fails", [], retry: { max_attempts: 1 })
    assert_equal "no", assert_raises(ArgumentError) { drain_jobs(worker) }.message
    assert_equal "discarded", @client.get_job(job.id).state
    @client.enqueue("fails", [], retry: { max_attempts: 1 })
    assert_equal 1, drain_jobs(worker, raise_errors: false)
    later = @client.enqueue("later")
    assert_equal 1, drain_jobs(worker)
    later = @client.get_job(later.id)
    assert_equal ["retryable", []], [later.state, later.errors], "not a failure"
    assert_raises(OJS::ValidationError) { drain_jobs }
  end

  def test_inline
    worker = OJS::Worker.new(@client)
    worker.register("double") { |ctx| ctx.args[0] * 2 }
    OJS::Testing.inline(worker) do |jobs|
      job = @client.enqueue("double", [21])
      assert_equal 42, @client.get_job(job.id).result
      assert_equal 1, jobs.requests.size
    end
    @client.enqueue("double", [1])
    assert_enqueued("double", count: 1)
  end

  def test_a_block_ends_it
    OJS::Testing.fake { |jobs| @client.enqueue_batch([["a", [1]]]) && jobs.assert_enqueued("a") }
    refute_enqueued("a")
    ojs_restore!
    assert_raises(OJS::ConnectionError) { @client.health }
  end
end
