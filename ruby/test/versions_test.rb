# frozen_string_literal: true

require_relative "support"

# Versions of the arguments of a job type: what a worker takes, and how old arguments become new ones.
class VersionsTest < Minitest::Test
  include Support

  ADDRESSED = ->(args) { [{ to: args[0] }] }

  # The same test against an engine in this process, and against a server over HTTP.
  def self.on_every_connection(name, &test)
    define_method("test_#{name}_in_memory") { instance_exec(memory, "versions", &test) }
    define_method("test_#{name}_over_http") { instance_exec(client_of(Support.server), name.tr("_", "-"), &test) }
  end

  def result_of(client, job)
    client.wait_for_result(job.id, timeout: PATIENCE)
  end

  on_every_connection "a_worker_takes_the_versions_of_its_handler" do |client, queue|
    old, recent = Array.new(2) { worker_of(client, queues: queue) }
    old.register("versions.mail", versions: "1") { |ctx| "old #{ctx.args[0]}" }
    recent.register("versions.mail", versions: [">=2.0 <3.0"]) { |ctx| "new #{ctx.args[0]}" }
    held = client.enqueue("versions.mail", ["3"], queue: queue, version: "3")
    [old, recent].each(&:start)
    { "1" => "old 1", "2.4" => "new 2.4", "2" => "new 2", "1.0.0" => "old 1.0.0" }.each do |version, result|
      job = client.enqueue("versions.mail", [version], queue: queue, version: version)
      assert_equal result, result_of(client, job).result
    end
    held = client.get_job(held.id)
    assert_equal ["available", 0], [held.state, held.attempt]
  end

  on_every_connection "old_arguments_become_those_of_the_handler" do |client, queue|
    seen = Queue.new
    worker = worker_of(client, queues: queue)
    worker.use("outer") { |ctx, nxt| seen << ctx.args.dup && nxt.call }
    worker.register("versions.mail", version: "3.1", queue: queue) { |ctx| [ctx.args[0], ctx.job["version"]] }
    worker.transform("versions.mail", "2", "3.0") { |args| [args[0].merge("copy" => nil)] }
    worker.transform("versions.mail", "1.0", "2", ADDRESSED)
    worker.start
    jobs = [["ada", "1"], [{ to: "bob" }, "2.0"], [{ to: "eve" }, "3.9"]].map do |argument, version|
      client.enqueue("versions.mail", [argument], version: version)
    end
    jobs << client.enqueue("versions.mail", [{ to: "joe" }])
    wanted = [[{ "to" => "ada", "copy" => nil }, "3.0"], [{ "to" => "bob", "copy" => nil }, "3.0"],
              [{ "to" => "eve" }, "3.9"], [{ "to" => "joe" }, "3.1"]]
    assert_equal wanted, jobs.map { |job| result_of(client, job).result }
    changed = [{ "to" => "ada", "copy" => nil }]
    assert_includes Array.new(4) { pop(seen) }, changed, "the middleware sees what the handler sees"
  end

  on_every_connection "a_change_that_fails_ends_the_job" do |client, queue|
    worker = worker_of(client, queues: queue)
    %w[versions.mail versions.note].each { |type| worker.register(type) { nil } }
    worker.transform("versions.note", "1", "2") { |_| raise "no address" }
    worker.transform("versions.mail", "1", "2") { |_| { no: "array" } }
    worker.start
    { "versions.note" => "cannot become those of version 2: no address",
      "versions.mail" => "must return an Array of arguments" }.each do |type, message|
      error = result_of(client, client.enqueue(type, [], queue: queue, version: "1")).error
      assert_equal "version_transform", error["code"]
      assert_includes error["message"], message
    end
  end

  # A server that knows no versions: it hands out what the worker does not run.
  class Old
    JOB = { id: "019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f", type: "versions.mail", args: [], version: "4.0" }.freeze
    attr_reader :asked, :refused

    def initialize
      @jobs = [JOB]
      @asked = Queue.new
      @refused = Queue.new
    end

    def request(_method, path, body = nil)
      case path
      when "/workers/fetch"
        @asked << body
        [200, { jobs: @jobs.slice!(0..) }]
      when "/workers/nack"
        @refused << body
        [200, {}]
      else path.include?("manifest") ? [404, {}] : [200, {}]
      end
    end
  end

  def test_a_version_that_no_handler_runs_is_refused_by_the_worker_too
    server = Old.new
    worker = OJS::Worker.new(transport: server, poll_interval: 0.01).tap { |made| (@workers ||= []) << made }
    worker.register("versions.mail", version: "2") { nil }.transform("versions.mail", "1", "2", ADDRESSED).start
    error = pop(server.refused)["error"]
    assert_equal [{ "type" => "versions.mail", "versions" => [">=2.0 <3.0", "1.0.0"] }], pop(server.asked)["handlers"]
    assert_equal "unsupported_version", error["code"]
    assert_includes error["message"], "'versions.mail' in versions >=2.0 <3.0; the arguments have version 4.0.0"
  end

  def test_changes_that_contradict_each_other_are_refused_at_the_start
    {
      [%w[1 2], %w[1.0 3]] => "has a transform already", [%w[1 2], %w[2 1]] => "back to it",
      [%w[1 two]] => "must be a version such as 2 or 2.1, got 'two'",
      [%w[1 1.5]] => "which transforms change into 1.5.0"
    }.each do |changes, message|
      worker = OJS::Worker.new("memory:").register("versions.mail", version: "2") { nil }
      changes.each { |from, to| worker.transform("versions.mail", from, to, ADDRESSED) }
      assert_includes assert_raises(OJS::ValidationError) { worker.start }.message, message
    end
    assert_raises(OJS::ValidationError) { OJS::Worker.new("memory:").transform("versions.mail", "1", "2") }
  end

  def test_a_fake_changes_old_arguments_too
    seen = []
    worker = OJS::Worker.new("memory:").register("versions.fake", version: "2.0.0") { |ctx| seen << ctx.args }
    worker.transform("versions.fake", "1", "2", ADDRESSED)
    OJS::Testing.fake do |fake|
      memory.enqueue("versions.fake", ["ada"], version: "1")
      assert_equal 1, fake.drain(worker)
    end
    assert_equal [[{ "to" => "ada" }]], seen
  end
end
