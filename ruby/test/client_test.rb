# frozen_string_literal: true

require_relative "support"
require "bigdecimal"

# The producer's side against the real server.
class ClientTest < Minitest::Test
  include Support

  def client
    @client ||= client_of(Support.server)
  end

  def queue
    @queue ||= "client-#{name.downcase.tr("^a-z0-9", "-")[0, 60]}"
  end

  def test_all_options_arrive
    job = client.enqueue("report.build", [1], queue: queue, priority: 7, timeout: "30s", delay: 3600, expires_at: Time.now + 7200,
                                              retry: { max_attempts: 5, initial_interval: 2 }, tags: %w[yearly], meta: { tenant: "acme" })
    assert_equal [queue, 7, "scheduled", 5, %w[yearly], { "tenant" => "acme" }],
                 [job.queue, job.priority, job.state, job.max_attempts, job.tags, job.meta]
    assert_equal 30_000, job["timeout_ms"]
    assert_in_delta Time.now + 3600, Time.iso8601(job.scheduled_at), 60
    assert_equal job, client.get_job(job.id)
  end

  def test_the_forms_of_arguments
    assert_equal [], client.enqueue("a", nil, queue: queue).args
    assert_equal [[1, 2]], client.enqueue("a", [[1, 2]], queue: queue).args
    assert_equal ["x"], client.enqueue("a", "x", queue: queue).args
    job = client.enqueue("a", to: "x", options: { queue: queue })
    assert_equal [{ "to" => "x" }], job.args
    assert_equal ["x", "x", "x", nil, "d"], [job.args["to"], job.args[:to], job.args.dig("to"), job.args["cc"], job.args.fetch("cc", "d")]
    assert_equal [{ "queue" => 1 }], client.enqueue("a", { queue: 1 }, queue: queue).args
    assert_equal queue, client.enqueue("a", { n: 1 }, { "queue" => queue }).queue
  end

  def test_an_option_that_looks_like_an_argument_is_refused
    error = assert_raises(OJS::ValidationError) { client.enqueue("a", queue: "mail") }
    assert_match(/'queue' is the name of an option/, error.message)
    assert_raises(OJS::ValidationError) { client.enqueue("a", [], prioritty: 1) }
    error = assert_raises(OJS::ValidationError) { client.enqueue("a", [], delay: 1, delay_until: Time.now) }
    assert_match(/give one of them/, error.message)
  end

  def test_what_json_libraries_like_to_damage
    treasure = ["žluťoučký kůň 馬 🐎", 9_223_372_036_854_775_807, -9_007_199_254_740_993, 2**80, 0.1, nil, { "nested" => [true, ""] }]
    assert_equal treasure, client.get_job(client.enqueue("a", treasure, queue: queue).id).args
  end

  def test_big_payloads
    text = "ž" * 200_000
    assert_equal text, client.get_job(client.enqueue("a", [text], queue: queue).id).args[0]
    assert_raises(OJS::PayloadTooLargeError) { client.enqueue("a", ["x" * 20_000_000], queue: queue) }
  end

  def test_what_has_no_form_in_json_is_refused_before_it_is_sent
    circle = []
    circle << circle
    [Time.now, Object.new, Float::NAN, "\xFF", circle, { nil => 1 }, BigDecimal("1.5"), 1..2].each do |value|
      error = assert_raises(OJS::ValidationError, value.class) { client.enqueue("a", [value], queue: queue) }
      assert_equal "invalid_payload", error.code
      refute error.retryable?
    end
    assert_equal ["b", { "c" => "d" }], client.enqueue("a", [:b, { c: :d }], queue: queue).args
  end

  def test_batch_is_all_or_nothing
    jobs = client.enqueue_batch([{ type: "a", args: [1], queue: queue }, ["b", [2], { queue: queue }], OJS::JobRequest.new("c", [3], queue: queue)])
    assert_equal [["a", [1]], ["b", [2]], ["c", [3]]], jobs.map { |job| [job.type, job.args] }
    assert_raises(OJS::InvalidRequestError) { client.enqueue_batch([{ type: "a", queue: queue }, { type: "NO SUCH TYPE", queue: queue }]) }
    assert_equal 3, client.queue_stats(queue)["available"]
    assert_equal [], client.enqueue_batch([])
  end

  def test_bulk_leaves_good_ones_alone
    items = client.bulk_enqueue([{ type: "a", queue: queue }, { type: "NO SUCH TYPE", queue: queue }], idempotency_key: queue)
    assert_equal [true, false], items.map(&:ok?)
    assert_instance_of OJS::InvalidRequestError, items.last.error
    result = client.bulk_cancel([items.first.job.id, "00000000-0000-7000-8000-000000000000"])
    assert_equal [2, 1, 1], [result.matched, result.succeeded, result.skipped]
    assert_equal items.first.job.id, result.items.first.job_id
    assert_equal 1, client.bulk_delete(queue: queue, states: "cancelled").succeeded
    assert_raises(OJS::ValidationError) { client.bulk_cancel }
    assert_raises(OJS::ValidationError) { client.bulk_cancel(colour: "red") }
  end

  def test_cancel_and_errors
    job = client.enqueue("a", [], queue: queue)
    assert_equal "cancelled", client.cancel_job(job.id).state
    error = assert_raises(OJS::InvalidStateTransitionError) { client.cancel_job(job.id) }
    assert_kind_of OJS::ConflictError, error
    assert_equal [409, false], [error.status, error.retryable?]
    assert_equal 404, assert_raises(OJS::NotFoundError) { client.get_job("00000000-0000-7000-8000-000000000000") }.status
  end

  def test_unique_jobs
    unique = { keys: %w[type args], period: "1h" }
    first = client.enqueue("cache.warm", [queue], queue: queue, unique: unique)
    error = assert_raises(OJS::DuplicateError) { client.enqueue("cache.warm", [queue], queue: queue, unique: unique) }
    assert_equal first.id, error.existing_job_id
  end

  def test_no_server
    dead = client_of("http://127.0.0.1:1", max_sends: 1)
    error = assert_raises(OJS::ConnectionError) { dead.enqueue("a") }
    assert_equal [0, true], [error.status, error.retryable?]
  end

  def test_a_server_that_does_not_answer
    silent = TCPServer.new("127.0.0.1", 0)
    slow = client_of("http://127.0.0.1:#{silent.addr[1]}", max_sends: 1, timeout: 0.2)
    assert_kind_of OJS::ConnectionError, assert_raises(OJS::TimeoutError) { slow.get_job("x") }
  ensure
    silent&.close
  end

  def test_a_list_is_longer_than_a_page
    many = (1..51).map { |n| "#{queue}-#{n}" }
    client.enqueue_batch(many.map { |name| { type: "a", queue: name } })
    assert_empty many - client.list_queues.map { |one| one["name"] }
  end

  def test_queues
    client.create_queue(queue, concurrency: 20)
    assert_equal({ "concurrency" => 20, "max_size" => 1000 }, client.configure_queue(queue, max_size: 1000)["config"])
    client.pause_queue(queue)
    assert_equal("paused", client.list_queues.find { |one| one["name"] == queue }["status"])
    client.resume_queue(queue)
    3.times { client.enqueue("a", [], queue: queue) }
    assert_equal 3, client.queue_stats(queue)["available"]
    assert_equal 3, client.purge_queue(queue, "available")
    client.delete_queue(queue)
    assert_raises(OJS::NotFoundError) { client.get_queue(queue) }
  end

  def test_dead_letters_and_results
    worker = worker_of(client, queues: queue)
    worker.register("fails") { raise OJS::NonRetryableError.new("no", code: "declined", details: { amount: 3 }) }
    worker.register("works") { |ctx| { n: ctx.args[0] } }
    worker.start
    dead = client.enqueue("fails", [], queue: queue, retry: { on_exhaustion: "dead_letter" })
    good = client.enqueue("works", [7], queue: queue)
    result = client.wait_for_result(good.id, timeout: PATIENCE)
    assert_equal [true, { "n" => 7 }], [result.ok?, result.result]
    assert_equal "discarded", client.wait_for_result(dead.id, timeout: PATIENCE).state
    assert_equal "declined", client.get_job(dead.id).errors.last["code"]
    assert_equal [dead.id], client.dead_letters(queue: queue).map(&:id)
    assert_equal dead.id, client.get_dead_letter(dead.id).id
    assert_equal [good.id, nil], client.results([good.id, "00000000-0000-7000-8000-000000000000"]).map { |one| one&.job_id }
    client.discard_dead_letter(dead.id)
    assert_equal [], client.dead_letters(queue: queue)
  end

  def test_dead_letters_by_filter
    worker = worker_of(client, queues: queue)
    worker.register("fails") { |ctx| raise OJS::NonRetryableError, "no" unless ctx.job.errors.any? && ctx.args[0] == "heals" }
    worker.start
    dead = %w[heals stays].map { |arg| client.enqueue("fails", [arg], queue: queue, retry: { on_exhaustion: "dead_letter" }) }
    dead.each { |job| client.wait_for_result(job.id, timeout: PATIENCE) }
    assert_equal 2, client.dead_letters(queue: queue, type: "fails", limit: 10, offset: 0).size
    assert_operator client.dead_letter_stats["total"] || client.dead_letter_stats.size, :>, 0
    assert_equal 0, client.discard_dead_letters(queue: queue, until: Time.now - 3600)
    assert_equal "available", client.retry_dead_letter(dead[1].id).state
    eventually("it is dead again") { client.dead_letters(queue: queue).size == 2 }
    assert_equal 2, client.retry_dead_letters(queue: queue, type: "fails", since: Time.now - 3600)
    eventually("both ended") { client.queue_stats(queue).values_at("available", "active").sum.zero? }
    client.discard_dead_letters(queue: queue)
    assert_empty client.dead_letters(queue: queue)
  end

  def test_rate_limits_draining_and_pending_jobs
    held = client.enqueue("a", [], queue: queue, extra: { pending: true, rate_limit: { key: queue, concurrency: 5 } })
    assert_equal "pending", held.state
    assert_equal "available", client.activate_job(held.id).state
    assert(client.list_rate_limits.any? { |one| one["key"] == queue })
    assert_equal 2, client.override_rate_limit(queue, concurrency: 2, expires_at: Time.now + 3600)["concurrency"]["limit"]
    assert_equal 2, client.get_rate_limit(queue)["concurrency"]["limit"]
    assert_equal 5, client.override_rate_limit(queue)["concurrency"]["limit"]
    client.drain_queue(queue)
    assert_raises(OJS::APIError) { client.enqueue("a", [], queue: queue) }
    client.resume_queue(queue)
    assert_equal "available", client.enqueue("a", [], queue: queue).state
  end

  def test_bulk_retry
    worker = worker_of(client, queues: queue)
    worker.register("once") { |ctx| raise OJS::NonRetryableError, "no" if ctx.job.errors.empty? }
    worker.start
    job = client.enqueue("once", [], queue: queue)
    job_in(client, job.id, "discarded")
    assert_equal 1, client.bulk_retry([job.id]).succeeded
    job_in(client, job.id, "completed", "discarded")
  end

  def test_waiting_for_a_result_ends
    job = client.enqueue("never", [], queue: queue)
    assert_equal 408, assert_raises(OJS::APIError) { client.result(job.id) }.status
    assert_raises(OJS::TimeoutError) { client.wait_for_result(job.id, timeout: 0.1) }
  end

  def test_cron
    client.register_cron(queue, "0 7 * * 1-5", { type: "digest.send", args: [1], queue: queue }, timezone: "Europe/Prague", overlap_policy: "enqueue")
    entry = client.list_cron.find { |one| one["name"] == queue }
    assert_equal ["0 7 * * 1-5", "Europe/Prague", "enqueue"], entry.values_at("expression", "timezone", "overlap_policy")
    client.delete_cron(queue)
    refute(client.list_cron.any? { |one| one["name"] == queue })
  end

  def test_workflows
    worker = worker_of(client, queues: queue)
    worker.register("words") { |ctx| ctx.args[0].split }
    worker.register("count") { |ctx| ctx.parent_results.last.size }
    worker.start
    options = { queue: queue }
    started = client.workflow(OJS.chain({ type: "words", args: ["a b c"], **options }, { type: "count", **options }, name: "n"))
    assert_equal "n", started.name
    status = eventually("the chain") { (now = client.get_workflow(started.id)).state == "completed" && now }
    assert_equal 3, client.get_job(status.steps.last["job_id"]).result
    nested = OJS.chain(OJS.group([{ type: "words", args: ["a"], **options }, { type: "words", args: ["b"], **options }]), ["count", [], options])
    waiting = client.workflow(nested)
    eventually("the group") { client.get_workflow(waiting.id).state == "completed" }
    batch = OJS.batch([{ type: "words", args: ["a"], delay: 3600, **options }], on_complete: { type: "count", **options })
    assert_equal "cancelled", client.cancel_workflow(client.workflow(batch).id).state
    assert_raises(OJS::ValidationError) { OJS.chain }
    assert_raises(OJS::ValidationError) { OJS.graph("words") }
    assert_raises(OJS::ValidationError) { OJS.chain(OJS.node("a", "words")) }
  end

  def test_events
    client.enqueue("a", [], queue: queue)
    seen = client.events(types: ["job.*"], queues: [queue], after: "").first
    assert_equal "job.enqueued", seen.type
    more = Queue.new
    thread = Thread.new { client.events(queues: [queue], after: seen.id) { |event| more << event } }
    job = client.enqueue("b", [], queue: queue)
    assert_equal job.id, pop(more).subject
  ensure
    thread&.kill&.join
  end

  def test_enqueue_middleware
    order = []
    client.use("outer") do |request, nxt|
      order << "outer"
      request.meta = { "trace" => "t" }
      order << nxt.call.class
    end
    client.use("inner") { |request, &nxt| nxt.call(OJS::JobRequest.new(request.type, [*request.args, 2], request.options.merge(meta: request.meta))) }
    job = client.enqueue("a", [1], queue: queue)
    assert_equal [{ "trace" => "t" }, [1, 2]], [job.meta, job.args]
    assert_equal ["outer", OJS::Job], order
    assert_equal([[1, 2], [5, 2]], client.enqueue_batch([{ type: "a", args: [1], queue: queue }, { type: "a", args: [5], queue: queue }]).map(&:args))
    error = assert_raises(OJS::MiddlewareError) { client.use("late") { |_, nxt| nxt.call } }
    assert_match(/in use/, error.message)
  end

  def test_a_layer_that_drops_the_job
    client.use { |request, nxt| nxt.call unless request.args == [0] }
    assert_raises(OJS::NotEnqueuedError) { client.enqueue("a", [0], queue: queue) }
    assert_equal([[1]], client.enqueue_batch([["a", [0], { queue: queue }], ["a", [1], { queue: queue }]]).map(&:args))
  end

  def test_named_middleware
    chain = OJS::MiddlewareChain.new
    layer = ->(subject, nxt) { nxt.call(subject) }
    chain.add("b", layer).prepend("a", layer).insert_before("b", "x", layer).insert_after("b", "c", layer).remove("x")
    assert_equal %w[a b c], chain.names
    assert_raises(OJS::MiddlewareError) { chain.add("a", layer) }
    error = assert_raises(OJS::MiddlewareError) { chain.insert_before("nobody", "d", layer) }
    assert_equal "there is no middleware named 'nobody'; there is: a, b, c", error.message
    assert_raises(OJS::MiddlewareError) { chain.add("d", 5) }
    twice = OJS::MiddlewareChain.new.add { |_, nxt| 2.times { nxt.call } }
    assert_raises(OJS::MiddlewareError) { twice.run(1) { nil } }
  end

  def test_a_transport_of_my_own
    requests = []
    transport = Object.new
    transport.define_singleton_method(:request) do |method, path, body = nil|
      requests << [method, path, body]
      path == "/jobs" ? [201, { job: { id: "test-id", type: body["type"], args: body["args"] } }] : { status: 404, body: { error: { code: "not_found", message: "gone" } } }
    end
    mocked = client_of(nil, transport: transport)
    assert_equal "test-id", mocked.enqueue("email.send", ["test"]).id
    assert_equal ["POST", "/jobs", { "type" => "email.send", "args" => ["test"] }], requests.first
    assert_equal "gone", assert_raises(OJS::NotFoundError) { mocked.get_job("x") }.message
  end

  def test_the_core_says_what_a_reader_of_events_asks_and_when_it_ends
    asked = []
    refusal = { error: { code: "x", message: "m" } }
    event = { id: "evt_2", type: "job.enqueued", subject: "1", data: {} }
    none = { events: [], cursor: "1" }
    answers = [[200, none], [503, refusal], [200, { events: [event], cursor: "2" }], [401, refusal]]
    transport = Object.new
    transport.define_singleton_method(:request) do |_method, path, _body = nil|
      asked << path
      answers[asked.size - 1]
    end
    seen = []
    assert_raises(OJS::AuthenticationError) do
      client_of(nil, transport: transport).events(types: ["job.*"], queues: ["q"]) { |one| seen << one.subject }
    end
    assert_equal ["1"], seen
    steps = [["latest", 0], [1, 20_000], [1, 20_000], [2, 20_000]]
    path = "/events?after=%s&types=job.%%2A&queues=q&limit=500&wait_ms=%s"
    assert_equal(steps.map { |step| format(path, *step) }, asked)
  end

  def test_closed
    done = client_of(Support.server)
    done.close
    done.close
    assert_raises(OJS::ClosedError) { done.enqueue("a") }
  end

  def test_configure
    OJS.configure { |config| config.url = Support.server }
    assert_equal queue, OJS.enqueue("a", [1], queue: queue).queue
    assert_equal 1, OJS.enqueue_batch([{ type: "a", queue: queue }]).size
  ensure
    OJS.configure { |config| config.url = nil }
  end

  def test_wrong_settings_are_reported_at_once
    assert_raises(OJS::ValidationError) { OJS::Client.new("memory:", timeout: -1) }
    assert_raises(OJS::ValidationError) { OJS::Client.new("memory:", timeout: "soon") }
    assert_raises(OJS::ValidationError) { OJS::Client.new(transport: 5) }
    assert_match(/use http:/, assert_raises(OJS::ValidationError) { OJS::Client.new("ftp://example.com") }.message)
    [OJS::Client, OJS::Worker].each do |made|
      refused = assert_raises(OJS::ValidationError) { made.new("jobs.db") }
      assert_match(/write sqlite:jobs\.db for a file/, refused.message)
    end
  end

  def test_an_empty_url_is_as_good_as_none
    before = ENV.fetch("OJS_URL", nil)
    ENV["OJS_URL"] = "memory:from-the-environment"
    named, *others = ["memory:from-the-environment", "", " ", nil].map { |url| client_of(url) }
    id = named.enqueue("a").id
    assert_equal [id] * 3, (others.map { |client| client.get_job(id).id })
  ensure
    ENV["OJS_URL"] = before
  end

  def test_a_transport_of_the_users_own_gets_the_options_of_a_type
    bodies = []
    transport = Object.new
    transport.define_singleton_method(:request) do |_method, _path, body = nil|
      bodies << body
      jobs = (body["jobs"] || [body]).map { |job| { "id" => "1", "type" => job["type"] } }
      [201, { "job" => jobs.first, "jobs" => jobs }]
    end
    OJS::Worker.new("memory:").register("typed.custom", queue: "mail", retry: 3, delay: "1h") { nil }
    mocked = client_of(nil, transport: transport)
    mocked.enqueue("typed.custom", [], retry: 5)
    mocked.enqueue_batch(["typed.custom", { type: "typed.custom", queue: "default" }])
    options = bodies.first["options"]
    assert_equal ["mail", { "max_attempts" => 5 }], options.values_at("queue", "retry")
    assert_match(/\A\d{4}-/, options["delay_until"])
    assert_equal(%w[mail default], bodies.last["jobs"].map { |job| job["options"]["queue"] })
  end

  def test_health_and_manifest
    assert_equal "ok", client.health["status"]
    assert_kind_of Hash, client.manifest
  end
end
