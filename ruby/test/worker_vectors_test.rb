# frozen_string_literal: true

# The vectors of workers, chains, policies and keys. tests/vectors/judge.py is the server that workers talk to.
require "net/http"
require_relative "vectors_test"

class WorkerVectorsTest < Minitest::Test
  include Support

  FOLDER = VectorsRead::FOLDER
  LIFE = %w[concurrency directive grace_ms jobs name requests steps].freeze
  POLICY = %w[args error name options type].freeze
  CLASSES = VectorsTest::CLASSES

  class << self
    # The address of the server; it ends with its standard input, that is with this process.
    def judge
      @judge ||= (@process = IO.popen(["python3", File.join(FOLDER, "judge.py")], "r+")).gets.split.last
    end

    def verdicts(kind)
      JSON.parse(Net::HTTP.get(URI("#{judge}/verdicts/#{kind}"))).to_h { |verdict| [verdict["name"], verdict] }
    end

    # All outcomes, from one worker.
    def outcomes
      @outcomes ||= begin
        worker = OJS::Worker.new(judge, queues: "outcomes", worker_id: "vectors", heartbeat_interval: 0.02, max_sends: 1)
        worker.register("vector") { |ctx| does(ctx) }
        worker.start
        verdicts("outcomes").tap { worker.stop(0) }
      end
    end

    # Does what the argument says.
    def does(ctx)
      what = ctx.args[0]
      raise what["fail"] if what.key?("fail")
      raise OJS::NonRetryableError.new(what["refuse"], code: what.fetch("code", "non_retryable"), details: what["details"]) if what.key?("refuse")
      raise OJS::Snooze, what["snooze_ms"] / 1000.0 if what.key?("snooze_ms")

      return Float::NAN if what.key?("unserializable")

      sleep 0.002 until ctx.cancelled? || (what.keys & %w[wait wait_and_return]).empty?
      ctx.raise_if_cancelled if what.key?("wait")
      what.fetch("return") { what["wait_and_return"] }
    end
  end

  VectorsRead.vectors("outcomes", %w[answers cancelled does job name requests type]).each do |vector|
    define_method("test_outcome: #{vector["name"]}") do
      verdict = self.class.outcomes.fetch(vector["name"])
      assert_equal verdict["expected"], verdict["found"]
    end
  end

  VectorsRead.vectors("lives", LIFE, { "jobs" => %w[args type] }).each do |vector|
    name = vector["name"]
    define_method("test_life: #{name}") do
      worker = OJS::Worker.new(self.class.judge, queues: name, worker_id: name, concurrency: vector["concurrency"],
                                                 grace_period: vector["grace_ms"] / 1000.0, heartbeat_interval: 0.02, max_sends: 1)
      began = Queue.new
      go = false
      worker.register("hold") do |ctx|
        began << 1
        until go
          ctx.raise_if_cancelled
          sleep 0.002
        end
      end
      worker.start
      act = { "began" => -> { vector["jobs"].each { pop(began) } }, "go" => -> { go = true }, "quiet" => -> { worker.quiet },
              "stop" => -> { worker.shutdown }, "stop_now" => -> { worker.shutdown(0) }, "stopped" => -> { worker.wait(PATIENCE) } }
      vector["steps"].each { |step| act.fetch(step).call }
      worker.stop(0)
      verdict = self.class.verdicts("lives").fetch(name)
      assert_equal verdict["expected"], verdict["found"]
    end
  end

  # tests/vectors/published.py: no exchange, no route for results, attempts from 0, lists that are null, other forms of
  # errors.
  def test_a_published_server_costs_features_and_no_jobs
    url = JSON.parse(Net::HTTP.get(URI("#{self.class.judge}/published"))).fetch("url")
    client = OJS::Client.new(url)
    worker = OJS::Worker.new(client, worker_id: "w", heartbeat_interval: 0.02)
    worker.register("email.send") do |ctx|
      raise "the first attempt fails" if ctx.attempt == 1

      { attempt: ctx.attempt }
    end
    worker.start
    job = client.enqueue("email.send", [7])
    assert_equal({ "attempt" => 2 }, client.wait_for_result(job.id, timeout: PATIENCE).result)
    worker.stop(0)
    assert_equal [[], [], []], [client.list_queues, client.dead_letters, client.list_cron]
    %i[get_job cancel_job].each do |ask|
      assert_raises(OJS::NotFoundError) { client.public_send(ask, "019461a8-0000-7000-8000-00000000ffff") }
    end
    client.close
  end

  VectorsRead.vectors("policies", POLICY, { "error" => %w[class code field] }).each do |vector|
    define_method("test_policy: #{vector["name"]}") do
      found = nil
      begin
        memory.enqueue(vector["type"], vector["args"], extra: vector["options"])
      rescue OJS::Error => e
        # The core refuses some itself, before anything is sent.
        found = { "class" => CLASSES.key(e.class), "code" => e.code, "field" => e.details&.fetch("field", nil) }
      end
      assert_equal [vector["error"]], [found]
    end
  end

  VectorsRead.vectors("keys", %w[args key name options type unique]).each do |vector|
    define_method("test_key: #{vector["name"]}") do
      client = memory
      options = vector["options"].merge("unique" => vector["unique"].merge("on_conflict" => "reject"))
      client.enqueue(vector["type"], vector["args"], options)
      error = assert_raises(OJS::DuplicateError) { client.enqueue(vector["type"], vector["args"], options) }
      assert_equal vector["key"], error.details["unique_key"]
    end
  end

  VectorsRead.vectors("chains", %w[chain do layers name names steps trace]).each do |vector|
    define_method("test_chain: #{vector["name"]}") do
      client = memory
      worker = worker_of(client)
      sent = []
      ran = []
      [["enqueue", client.middleware, sent], ["execution", worker.middleware, ran]].each do |which, chain, trace|
        next unless ["both", which].include?(vector["chain"])

        steps = vector["do"].map { |method, *names| apply(chain, method, names, vector["layers"], trace) }
        assert_equal [vector["steps"], vector["names"]], [steps, chain.names]
      end
      assert_equal vector["trace"], one_job(client, worker, sent, ran) if vector.key?("trace")
    end
  end

  private

  def apply(chain, method, names, layers, trace)
    layer = [layer(names.last, layers[names.last], trace)] unless method == "remove"
    chain.public_send(method, *names, *layer)
    "ok"
  rescue OJS::MiddlewareError
    "error"
  end

  # A layer of either chain that writes down when it is passed.
  def layer(name, act, trace)
    lambda do |subject, going_on|
      trace << "#{name}>"
      next if act == "stop"
      raise name if act == "fail_before"

      subject.meta = { **subject.meta.to_h, "by" => name } if act == "change"
      going_on.call
      raise name if act == "fail_after"

      trace << "<#{name}"
    end
  end

  # What a job went through in both chains.
  def one_job(client, worker, sent, ran)
    worker.register("a") { ran << "handler" && nil }
    begin
      job = client.enqueue("a", [], retry: { max_attempts: 1 })
    rescue OJS::NotEnqueuedError
      return { "enqueue" => "dropped", "sent" => sent }
    rescue RuntimeError
      return { "enqueue" => "failed", "sent" => sent }
    end
    worker.start
    ended = job_in(client, job.id, "completed", "discarded")
    { "enqueue" => "enqueued", "sent" => sent, "ran" => ran, "state" => ended.state, "by" => ended.meta&.fetch("by", nil) }
  end
end
