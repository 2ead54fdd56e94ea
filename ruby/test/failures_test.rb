# frozen_string_literal: true

require_relative "support"

# Failures are seen without any setting: a worker process that does nothing about logging writes them to its stderr, once each.
class FailuresTest < Minitest::Test
  include Support

  # A worker in a process of its own; yields its stderr as a function of what has to be in it.
  def running(code)
    OJS::Server.open("memory:") do |server|
      client = client_of(server.url)
      Tempfile.create("stderr") do |log|
        input, output = IO.pipe
        text = "worker = OJS::Worker.new(heartbeat_interval: 0.1, visibility_timeout: 5)\n#{code}\nputs 'ready'\n$stdout.flush\nworker.run"
        pid = Process.spawn({ "OJS_URL" => server.url }, RbConfig.ruby, "-I#{LIB}", "-rojs", "-e", text, out: output, err: log.path)
        output.close
        assert_equal "ready\n", input.gets
        seen = lambda do |*words|
          said = nil
          eventually(-> { "#{words} in #{said}" }) { words.all? { |word| (said = File.read(log.path)).include?(word) } }
          said
        end
        yield client, seen, input, pid
      ensure
        Process.kill("KILL", pid)
        Process.wait(pid)
        input.close
      end
    end
  end

  def test_a_handler_that_raises
    running("def tray(number) = raise(RangeError, \"no paper in tray \#{number}\")\nworker.register('report.make') { |ctx| tray(ctx.args[0]) }") do |client, seen|
      job = client.enqueue("report.make", [7], retry: { max_attempts: 2, initial_interval: 0.001, jitter: false })
      job_in(client, job.id, "discarded")
      text = seen.call("no paper in tray 7", "in `tray'", job.id, "report.make", "RangeError", "attempt=2")
      assert_equal [1, 1], [text.scan("attempt=1 of 2").size, text.scan("attempt=2 of 2").size], text
    end
  end

  def test_a_misspelt_type_a_result_that_cannot_be_kept_and_a_time_out
    running("worker.register('email.send') {}\nworker.register('bad.result') { { list: [Time.now] } }\n" \
            "worker.register('too.slow') { |ctx| sleep 0.005 until ctx.cancelled?; raise 'told to stop' }") do |client, seen|
      jobs = client.enqueue_batch([{ type: "email.snd" }, { type: "bad.result" }, { type: "too.slow", timeout: 0.05, retry: 1 }])
      jobs.each { |job| job_in(client, job.id, "discarded") }
      seen.call("email.snd", "No handler is registered", "bad.result", "result.list[0]: a Time has no form in JSON", "too.slow", *jobs.map(&:id))
    end
  end

  def test_a_lost_lease
    running("worker.register('held') { |ctx| puts 'began'; $stdout.flush; sleep 0.005 until ctx.cancelled? }") do |client, seen, output, pid|
      job = client.enqueue("held")
      assert_equal "began\n", output.gets
      # As a machine does that sleeps: it is silent until the lease is over, and another one has the job by then.
      Process.kill("STOP", pid)
      # The fetch with which the stopped worker waits for more jobs may get the job first, under one lease more.
      other = { queues: ["default"], count: 1, worker_id: "other" }
      fetched = eventually("another worker gets the job") { client.request("POST", "/workers/fetch", other)["jobs"][0] }
      assert_equal job.id, fetched["id"]
      Process.kill("CONT", pid)
      seen.call(job.id, "held", "lease")
    end
  end
end
