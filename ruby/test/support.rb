# frozen_string_literal: true

require "minitest"
require "open3"
require "socket"
require "tempfile"
require "timeout"
require "tmpdir"
require "ojs"
require "ojs/testing"

# What the tests of the gem share.
module Support
  ROOT = File.expand_path("../..", __dir__)
  LIB = File.join(ROOT, "ruby", "lib")
  # Longer than anything here takes.
  PATIENCE = 60

  OJS.logger = Logger.new(File::NULL)

  # A worker's threads, sockets and so on are gone when a test has ended.
  def teardown
    @workers&.each { |worker| worker.stop(0) if worker.state != "new" }
    @clients&.each(&:close)
    super
  end

  # A client of an engine of its own, in memory.
  def memory
    client_of("memory:test-#{Process.pid}-#{object_id}-#{@memories = @memories.to_i + 1}")
  end

  def client_of(url, **options)
    OJS::Client.new(url, **options).tap { |client| (@clients ||= []) << client }
  end

  # A worker that stops when the test ends.
  def worker_of(client, **options)
    OJS::Worker.new(client, **options).tap { |worker| (@workers ||= []) << worker }
  end

  # The first true value of a block, within a time; +what+ may be called for what it then says.
  def eventually(what = "the condition", patience: PATIENCE)
    ends = Process.clock_gettime(Process::CLOCK_MONOTONIC) + patience
    until (value = yield)
      flunk "#{what.respond_to?(:call) ? what.call : what}: not within #{patience} s" if Process.clock_gettime(Process::CLOCK_MONOTONIC) > ends
      sleep 0.005
    end
    value
  end

  # The job when it has this state.
  def job_in(client, id, *states)
    job = nil
    eventually("#{states.join(" or ")}, is #{job&.state}") { states.include?((job = client.get_job(id)).state) }
    job
  end

  # So many jobs, once they are on the server of `client`, in order; no more.
  def sent(count, queue: "default")
    stats = nil
    eventually(-> { "#{count} jobs in #{queue}, there is #{stats}" }) do
      stats = client.queue_stats(queue)
      stats = stats.fetch("stats", stats)
      stats["available"].to_i >= count
    end
    jobs = client.request("POST", "/workers/fetch", { queues: [queue], count: 1000, worker_id: "test" })["jobs"]
    assert_equal count, jobs.size, jobs.inspect
    jobs.map { |job| OJS::Job.new(job) }
  end

  # What a queue gives, or a failure instead of waiting for ever.
  def pop(queue)
    Timeout.timeout(PATIENCE) { queue.pop }
  end

  # The real server: a program of its own.
  def ojs_binary
    [ENV.fetch("OJS_BIN", nil), *[ENV.fetch("CARGO_TARGET_DIR", nil), File.join(ROOT, "target")].compact.flat_map do |target|
      %w[release debug].map { |profile| File.join(target, profile, "ojs") }
    end].compact.find { |path| File.executable?(path) } or flunk "no ojs binary: build it, or name it in OJS_BIN"
  end

  # Runs Ruby code in a process of its own, with the gem on its path.
  def ruby(code, *arguments)
    Tempfile.create("output") do |output|
      pid = Process.spawn(RbConfig.ruby, "-I#{LIB}", "-rojs", "-e", code, *arguments, %i[out err] => output.path)
      status = finish(pid)
      [File.read(output.path), status]
    end
  end

  # The status of a process, which must end by itself.
  def finish(pid)
    Timeout.timeout(PATIENCE) { Process.wait2(pid)[1] }
  rescue Timeout::Error
    Process.kill("KILL", pid)
    Process.wait(pid)
    flunk "process #{pid} did not end within #{PATIENCE} s"
  end

  # A server that runs as long as the process of the tests.
  def self.server
    @server ||= begin
      input, output = IO.pipe
      tests = Object.new.extend(Support)
      pid = Process.spawn(tests.ojs_binary, "server", "--store", "memory:", "--listen", "127.0.0.1:0", "--log-level", "error", out: output, err: File::NULL)
      ours = Process.pid
      at_exit do
        # Not for a forked child to do.
        if Process.pid == ours
          Process.kill("TERM", pid)
          Process.wait(pid)
        end
      end
      output.close
      input.gets[/http\S+/]
    end
  end
end
