# frozen_string_literal: true

require_relative "support"

# Options: what is misspelt or cannot be is refused with what there is, through every door; short forms; defaults of a type.
class OptionsTest < Minitest::Test
  include Support

  WRONG = {
    { retries: 5 } => /unknown option 'retries'; did you mean 'retry'\? There are queue, priority, timeout/,
    { retry: "5" } => /retry is how many attempts there are in all, or \{ max_attempts: 5/,
    { retry: true } => /retry is how many/,
    { retry: { max_attemps: 5 } } => /unknown option 'max_attemps' of retry; did you mean 'max_attempts'\? There are max_attempts/,
    { retry: { max_attempts: "5" } } => /retry\[:max_attempts\] must be a whole number/,
    { retry: { max_attempts: -1 } } => /retry\[:max_attempts\]/,
    { retry: { initial_interval: -1 } } => /retry\[:initial_interval\] must be zero or more seconds/,
    { unique: "type" } => /unique is true \(the same type and arguments\), or/,
    { unique: { keys: "type" } } => /must be a list/,
    { timeout: 0 } => /timeout must be more than zero/,
    { timeout: "0s" } => /timeout must be more than zero/,
    { timeout: -1 } => /timeout must be zero or more seconds/,
    { timeout_ms: 0 } => /timeout_ms must be more than zero/,
    { visibility_timeout: 0 } => /visibility_timeout must be more than zero/,
    { delay: -5 } => /delay must be zero or more seconds/,
    { delay: "soon" } => /"soon"/,
    { result_ttl: -1 } => /result_ttl must be a whole number, zero or more/,
    { priority: 1.5 } => /priority must be a whole number/,
    { queue: 7 } => /queue must be text/,
    { tags: "yearly" } => /tags must be a list/,
    { extra: 5 } => /extra is a Hash/,
    { rate_limit: 5 } => /rate_limit is a Hash with key, concurrency/,
    { rate_limit: { key: "x", concurency: 1 } } => /unknown option 'concurency' of rate_limit; did you mean 'concurrency'\? There are key/,
    { rate_limit: { key: "x", rate: 5 } } => /rate.* is a Hash with limit, period/
  }.freeze

  def doors(client, options)
    job = { type: "a", **options }
    {
      "enqueue" => -> { client.enqueue("a", [], **options) },
      "enqueue_batch" => -> { client.enqueue_batch([job]) },
      "below options" => -> { client.enqueue_batch([{ type: "a", options: options }]) },
      "bulk_enqueue" => -> { client.bulk_enqueue([job]) },
      "a step of a workflow" => -> { client.workflow(OJS.chain("b", job)) },
      "a callback of a batch" => -> { client.workflow(OJS.batch("b", on_complete: job)) },
      "the job of a schedule" => -> { client.register_cron("x", "0 0 * * *", job) },
      "a row of an outbox" => -> { OJS::Outbox.new(client, database: "sqlite").stage(job) },
      "defaults of a type" => -> { OJS::Worker.new(client).register("wrong.defaults", **options) {} }
    }
  end

  def test_what_cannot_be_is_refused_through_every_door
    client = memory
    WRONG.each do |options, message|
      doors(client, options).each do |door, call|
        assert_match message, assert_raises(OJS::ValidationError, "#{options} by #{door}", &call).message
      end
    end
    assert_raises(OJS::ValidationError) { client.enqueue("a", [], "mail") }
    { nil => "nil", "" => '""', OJS::Job.new({ "id" => "x" }) => "a OJS::Job" }.each do |id, shown|
      error = assert_raises(OJS::ValidationError) { client.get_job(id) }
      assert_equal "a path under /jobs needs an id or a name as text, such as job.id; got #{shown}", error.message
    end
    { "5 minutes" => '"5 minutes"', Time.at(0).utc => "1970-01-01 00:00:00 UTC" }.each do |delay, shown|
      error = assert_raises(OJS::ValidationError) { client.enqueue("a", [], delay: delay) }
      assert_equal "delay must be zero or more seconds, or text such as \"5m\" or \"PT5M\"; got #{shown}", error.message
    end
    assert_raises(OJS::ValidationError) { client.enqueue("a", [], meta: "x") }
    assert_raises(ArgumentError) { client.register_cron("x", "0 0 * * *", "a", overlap: "skip") }
    assert_equal [0, []], [client.list_jobs.total, client.list_cron], "nothing was sent"
  end

  def test_short_forms
    client = memory
    first = client.enqueue("a", [1], unique: true, retry: 7, timeout: "30s")
    assert_equal [7, 30_000], [first.max_attempts, first["timeout_ms"]]
    client.enqueue("a", [2], unique: true)
    2.times { client.enqueue("b", [], queue: "limited", rate_limit: { key: "short", concurrency: 1, rate: { limit: 100, period: 60 } }) }
    fetched = client.request("POST", "/workers/fetch", { queues: ["limited"], count: 10, worker_id: "test" })["jobs"]
    assert_equal [1, 1], [fetched.size, client.get_rate_limit("short")["waiting_count"]]
    assert_equal first.id, assert_raises(OJS::DuplicateError) { client.enqueue("a", [1], unique: true) }.existing_job_id
  end

  def test_defaults_of_a_type_hold_through_every_door_and_what_a_job_says_wins
    client = memory
    OJS::Worker.new(client).register("defaults.ruby", queue: "mail", retry: { max_attempts: 9 }, timeout: 45, tags: ["default"]) {}
    seen = ->(job) { [job.queue, job.max_attempts, job["timeout_ms"], job.tags] }
    OJS::Worker.new(client).register("defaults.zero", queue: "mail", priority: 7) {}
    zero = client.enqueue("defaults.zero", [], priority: 0, queue: "default")
    assert_equal [7, 0, "default"], [client.enqueue("defaults.zero").priority, zero.priority, zero.queue]
    all = ["mail", 9, 45_000, ["default"]]
    assert_equal all, seen.call(client.enqueue("defaults.ruby"))
    assert_equal all, seen.call(client.enqueue_batch(["defaults.ruby"]).first)
    assert_equal all, seen.call(client.bulk_enqueue(["defaults.ruby"]).first.job)
    client.workflow(OJS.chain(["defaults.ruby", ["step"]], "other"))
    assert_equal [all], client.list_jobs(type: "defaults.ruby").select { |job| job.args == ["step"] }.map(&seen)
    staged = OJS::Outbox.new(client, database: "sqlite").stage("defaults.ruby").job
    assert_equal ["mail", 9], [staged.queue, staged.dig("retry", "max_attempts")]
    # The usual queue too, though it is not written on the wire.
    own = client.enqueue("defaults.ruby", [], queue: "default", retry: 2, timeout_ms: 1000, tags: ["own"])
    assert_equal ["default", 2, 1000, ["own"]], seen.call(own)
    assert_equal "default", client.enqueue("without.defaults").queue
    OJS::Worker.new(client).register("once", unique: true) {}
    client.enqueue("once")
    assert_raises(OJS::DuplicateError) { client.enqueue("once") }
    client.enqueue("once", [], unique: false)
    error = assert_raises(OJS::ValidationError) { OJS::Worker.new(client).register("b", delay_until: Time.now) {} }
    assert_match(/'delay_until' belongs to one job/, error.message)
    assert_raises(OJS::ValidationError) { OJS::Worker.new(client).register("*", queue: "x") {} }
  end

  def test_a_worker_that_does_not_ask_for_the_queue_of_its_own_type_says_so
    before, output = OJS.logger, StringIO.new
    OJS.logger = Logger.new(output)
    worker_of(memory).register("elsewhere", queue: "mail") {}.start.stop(0)
    assert_match(/jobs of type 'elsewhere' go to the queue 'mail', and this worker asks for default only/, output.string)
  ensure
    OJS.logger = before
  end

  def test_what_cannot_be_called_with_the_context_alone_is_refused_when_it_is_registered
    worker = OJS::Worker.new(memory)
    two = Class.new { def call(_to, _subject); end }.new
    none = Class.new { def call; end }.new
    { nil => /must be a block or answer to call/, "send" => /must be a block/, ->(_a, _b) {} => /takes 2 parameters, and is called with the context alone/,
      -> {} => /takes no parameter/, proc { |_a, _b| } => /takes 2 parameters/, ->(_ctx, to:) { to } => /wants the keyword to:/,
      two => /takes 2 parameters/, none => /takes no parameter/ }.each do |handler, message|
      assert_match message, assert_raises(OJS::ValidationError) { worker.register("a", handler) }.message
    end
    good = [proc {}, proc { |ctx| ctx }, proc { |*all| all }, ->(ctx) { ctx }, ->(ctx, limit = 5) { [ctx, limit] }, ->(*all) { all }, method(:assert)]
    good.each_with_index { |handler, number| worker.register("good-#{number}", handler) }
    assert_equal good.size, worker.types.size
  end

  def test_jobs_are_listed_by_filter_in_pages
    client = memory
    jobs = (1..5).map { |n| client.enqueue(n == 5 ? "list.other" : "list.this", [n], priority: n) }
    client.cancel_job(jobs[0].id)
    numbers = ->(**filter) { client.list_jobs(**filter).map { |job| job.args[0] } }
    assert_equal [1, 2, 3, 4, 5], numbers.call(queue: "default", sort: "priority", order: "asc")
    assert_equal [4, 3, 2], numbers.call(sort: "priority", type: "list.th*", state: "available")
    assert_equal [1], numbers.call(state: "cancelled", since: Time.now - 60)
    assert_equal [], numbers.call(until: Time.now - 60)
    page = client.list_jobs(sort: "priority", page: 2, per_page: 2)
    assert_equal [[jobs[2], jobs[1]].map(&:id), 5, 2, true], [page.jobs.map(&:id), page.total, page.page, page.more?]
    assert_raises(OJS::InvalidRequestError) { client.list_jobs(state: "done") }
    assert_raises(ArgumentError) { client.list_jobs(quue: "x") }
  end

  def test_inline_and_fake_mode_raise_the_gems_own_error_for_a_type_without_a_handler
    worker = OJS::Worker.new("memory:").register("email.send") {}
    client = OJS::Client.new("http://127.0.0.1:1")
    error = assert_raises(OJS::ValidationError) { OJS::Testing.inline(worker) { client.enqueue("email.snd") } }
    assert_equal ["no_handler", "No handler is registered for job type 'email.snd'; there are handlers for 'email.send'."], [error.code, error.message]
    OJS::Testing.fake do |jobs|
      job = client.enqueue("email.snd")
      assert_raises(OJS::ValidationError) { jobs.drain(worker) }
      failed = client.get_job(job.id)
      assert_equal ["discarded", 1, "no_handler"], [failed.state, failed.attempt, failed.error["code"]]
    end
    assert_raises(OJS::ValidationError) { OJS::Testing.inline }
  end
end
