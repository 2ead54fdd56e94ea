# frozen_string_literal: true

require_relative "support"

# What happens where Ruby and the core meet: interrupts, threads, forks, ends of processes, the garbage collector.
class BoundaryTest < Minitest::Test
  include Support

  def test_other_threads_run_while_one_waits_for_an_answer
    silent = TCPServer.new("127.0.0.1", 0)
    slow = client_of("http://127.0.0.1:#{silent.addr[1]}", max_sends: 1, timeout: 60)
    thread = Thread.new { slow.get_job("x") }
    thread.report_on_exception = false
    socket = silent.accept
    assert socket.gets.start_with?("GET"), "the request is out, and we run"
    thread.raise(IOError, "enough")
    assert_equal("enough", assert_raises(IOError) { thread.value }.message)
  ensure
    [socket, silent].each { |one| one&.close }
  end

  def test_timeout_and_kill_interrupt_a_wait
    silent = TCPServer.new("127.0.0.1", 0)
    slow = client_of("http://127.0.0.1:#{silent.addr[1]}", max_sends: 1, timeout: 60)
    began = Process.clock_gettime(Process::CLOCK_MONOTONIC)
    assert_raises(Timeout::Error) { Timeout.timeout(0.1) { slow.get_job("x") } }
    thread = Thread.new { slow.get_job("x") }
    silent.accept
    thread.kill
    assert thread.join(PATIENCE), "a killed thread ends"
    assert_operator Process.clock_gettime(Process::CLOCK_MONOTONIC) - began, :<, 50
  ensure
    silent&.close
  end

  # An interruption that comes while a thread is on its way into the wait is not lost.
  def test_lanes_are_interrupted_at_any_moment
    100.times do
      worker = OJS::Worker.new(@one ||= memory, concurrency: 2).register("a") { nil }
      worker.start
      worker.instance_variable_get(:@ending) || worker.instance_variable_set(:@ending, true)
      worker.instance_variable_get(:@lanes).each do |lane|
        lane.thread.kill
        assert lane.thread.join(PATIENCE), "a lane that waits can be killed"
      end
      worker.stop(0)
    end
  end

  def test_a_killed_lane_is_replaced
    client = memory
    worker = worker_of(client, concurrency: 1)
    worker.register("who") { Thread.current.name }
    worker.start
    job_in(client, client.enqueue("who").id, "completed")
    worker.instance_variable_get(:@lanes).first.thread.kill.join
    job_in(client, client.enqueue("who").id, "completed")
  end

  def test_no_thread_is_left_behind
    run = lambda do
      client = memory
      worker = OJS::Worker.new(client).register("a") { nil }
      worker.start
      job_in(client, client.enqueue("a").id, "completed")
      worker.stop
      client.close
    end
    run.call
    before = Thread.list.size
    3.times { run.call }
    # Fewer, when a thread of the test before has ended meanwhile.
    eventually(-> { "#{Thread.list.size} threads, there were #{before}" }) { Thread.list.size <= before }
  end

  def test_nothing_starts_with_require
    output, status = ruby('p Thread.list.size, Dir.children("/proc/self/task").size') if File.directory?("/proc/self/task")
    skip "no /proc" unless output
    assert status.success?
    assert_equal "1", output.lines.first.chomp
    assert_operator output.lines.last.to_i, :<=, 2, "Ruby's own timer thread at most"
  end

  # As Puma does with preload_app!: the client is made and used before the fork.
  def test_a_client_works_in_forked_children
    output, status = ruby(<<~'RUBY', Support.server)
      client = OJS::Client.new(ARGV[0])
      client.enqueue("fork.parent")
      children = 3.times.map do |n|
        fork do
          job = client.enqueue("fork.child", [n])
          worker = OJS::Worker.new(client, queues: "fork-#{Process.pid}").register("x") { |ctx| ctx.args[0] }
          worker.start
          id = client.enqueue("x", [n], queue: "fork-#{Process.pid}").id
          raise "wrong" unless client.wait_for_result(id, timeout: 60).result == n
          worker.stop
        end
      end
      states = children.map { |pid| Process.wait2(pid)[1].exitstatus }
      client.enqueue("fork.parent")
      p states
    RUBY
    assert_equal "[0, 0, 0]\n", output
    assert status.success?
  end

  def test_what_does_not_follow_a_fork_says_so
    output, status = ruby(<<~'RUBY')
      client = OJS::Client.new("memory:")
      server = OJS::Server.new("memory:")
      remote = OJS::Client.new(server.url)
      worker = OJS::Worker.new(client).register("a") { "ok" }
      worker.start
      client.wait_for_result(client.enqueue("a").id, timeout: 60)
      pid = fork do
        [-> { client.enqueue("a") }, -> { worker.quiet }, -> { worker.start }].each do |use|
          use.call
          puts "no error"
        rescue OJS::ForkedError => e
          puts e.code
        end
        worker.stop
        client = worker = server = nil
        GC.start
      end
      raise "the child failed" unless Process.wait2(pid)[1].success?
      remote.enqueue("the.server.is.still.there")
      puts client.wait_for_result(client.enqueue("a").id, timeout: 60).result
      worker.stop
    RUBY
    assert_equal "forked\nforked\nforked\nok\n", output
    assert status.success?
  end

  WORKER = <<~'RUBY'
    client = OJS::Client.new(ARGV[0])
    worker = OJS::Worker.new(client, queues: ARGV[1], concurrency: 2, visibility_timeout: 3600)
    worker.register("quick") { "ok" }
    began = Queue.new
    worker.register("slow") { |ctx| $stdout.puts("began"); $stdout.flush; began << 1; sleep 0.005 until ctx.cancelled? || File.exist?(ARGV[2]); "finished" }
  RUBY

  # Runs a worker's program, sends it what the block says when the slow job has begun; gives the job and the status.
  def with_slow_job(ending = "worker.run")
    queue = "boundary-#{name.tr("^a-z", "-")}"
    client = client_of(Support.server)
    job = client.enqueue("slow", [], queue: queue)
    Dir.mktmpdir do |dir|
      input, output = IO.pipe
      pid = Process.spawn(RbConfig.ruby, "-I#{LIB}", "-rojs", "-e", WORKER + ending, Support.server, queue, "#{dir}/go", out: output, err: File::NULL)
      output.close
      assert_equal "began\n", Timeout.timeout(PATIENCE) { input.gets }
      yield pid, "#{dir}/go", input
      status = finish(pid)
      pid = nil
      # A busy server may take in what it was sent when the process has ended already. The lease would last for an hour.
      return eventually("#{job.id} is not active") { (now = client.get_job(job.id)).state != "active" && now }, status
    ensure
      Process.kill("KILL", pid) if pid
    end
  end

  # All threads wait in the core then, and Ruby has none of its own that would notice.
  def test_an_idle_worker_notices_signals
    3.times do
      input, output = IO.pipe
      code = 'worker = OJS::Worker.new("memory:").register("a") { nil }; Thread.new { sleep 0.01 until worker.id; puts "idle"; $stdout.flush }; worker.run'
      pid = Process.spawn(RbConfig.ruby, "-I#{LIB}", "-rojs", "-e", code, out: output)
      output.close
      assert_equal "idle\n", input.gets
      Process.kill("TERM", pid)
      assert_equal 0, finish(pid).exitstatus
    end
  end

  def test_sigterm_lets_handlers_finish
    job, status = with_slow_job do |pid, go|
      Process.kill("TERM", pid)
      File.write(go, "")
    end
    assert_equal ["completed", "finished", 0], [job.state, job.result, status.exitstatus]
  end

  def test_a_second_signal_ends_it_at_once
    %w[INT TERM].each do |signal|
      # Two signals in a row are one to a process that has not looked yet.
      heard = 'Thread.new { sleep 0.005 until worker.state == "terminate"; $stdout.puts("heard"); $stdout.flush }; worker.run'
      job, status = with_slow_job(heard) do |pid, _go, input|
        Process.kill(signal, pid)
        # The job of the round before has come back and began, too.
        Timeout.timeout(PATIENCE) { nil until input.gets == "heard\n" }
        Process.kill(signal, pid)
      end
      assert_equal ["available", 0], [job.state, status.exitstatus], signal
    end
  end

  # At its end a process gives its workers two seconds: more than enough, but for a machine that does something else.
  PATIENT = "OJS::Worker.class_eval { remove_const(:EXIT); const_set(:EXIT, 60.0) }; "

  def test_a_process_that_ends_gives_its_jobs_back
    { "worker.start; began.pop; Process.kill('TERM', $$); sleep" => nil,
      "worker.start; began.pop; exit 3" => 3,
      "worker.start; began.pop; raise 'oh'" => 1,
      "worker.start; began.pop; Thread.new { Thread.main.raise(Interrupt) }; worker.wait" => nil }.each do |ending, code|
      job, status = with_slow_job(PATIENT + ending) { nil }
      assert_equal ["available", code], [job.state, status.exitstatus], ending
    end
  end

  # As little as Ruby asks of one; real ones are in the gems async and the like.
  class Scheduler
    def initialize
      @ready = Thread::Queue.new
      @alive = 0
    end

    def fiber(&block)
      @alive += 1
      Fiber.new(blocking: false) { block.call.tap { @alive -= 1 } }.tap(&:resume)
    end

    def block(_blocker, _timeout = nil) = Fiber.yield || true
    def unblock(_blocker, fiber) = @ready << fiber
    def kernel_sleep(_duration = nil) = Fiber.yield
    def io_wait(_io, events, _timeout = nil) = events

    def close
      @ready.pop.resume while @alive.positive?
    end
  end

  def test_other_fibers_go_on_while_one_waits_for_an_answer
    servers = Array.new(2) { TCPServer.new("127.0.0.1", 0) }
    Thread.new do
      sockets = servers.map(&:accept) # both requests are out, and none is answered yet
      sockets.each do |socket|
        nil until socket.gets == "\r\n"
        socket.write("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}")
      end
    end
    answers = []
    fibers = Thread.new do
      Fiber.set_scheduler(Scheduler.new)
      servers.each { |server| Fiber.schedule { answers << client_of("http://127.0.0.1:#{server.addr[1]}", max_sends: 1, timeout: 60).health } }
    end
    assert fibers.join(PATIENCE)
    assert_equal [{}, {}], answers
  ensure
    servers&.each(&:close)
  end

  def test_ctrl_c_interrupts_a_client_that_waits
    silent = TCPServer.new("127.0.0.1", 0)
    code = 'begin; OJS::Client.new(ARGV[0], timeout: 60).health; rescue Interrupt; exit 7; end'
    pid = Process.spawn(RbConfig.ruby, "-I#{LIB}", "-rojs", "-e", code, "http://127.0.0.1:#{silent.addr[1]}")
    silent.accept.gets
    Process.kill("INT", pid)
    assert_equal 7, finish(pid).exitstatus
  ensure
    silent&.close
  end

  # One slot, heartbeats, cancellations, a handler that calls the client, other threads that hold the lock: nothing hangs.
  def test_no_deadlock
    client = client_of(Support.server)
    worker = worker_of(client, queues: "deadlock", concurrency: 1, heartbeat_interval: 0.02)
    worker.use { |ctx, nxt| ctx.heartbeat && nxt.call }
    worker.register("enter") { |ctx| client.enqueue("leaf", [ctx.attempt], queue: "deadlock").id }
    worker.register("leaf") { |ctx| ctx.raise_if_cancelled }
    worker.start
    busy = Thread.new { loop { 10_000.times { |n| n.to_s } } }
    jobs = Array.new(10) { client.enqueue("enter", [], queue: "deadlock") }
    jobs.each_slice(5) { |slice| client.cancel_job(slice.last.id) rescue OJS::ConflictError }
    eventually("all jobs are over", patience: 3 * PATIENCE) { client.queue_stats("deadlock").values_at("available", "active").sum.zero? }
  ensure
    busy&.kill
  end

  def test_gc_stress
    client = memory
    worker = worker_of(client, concurrency: 2)
    worker.use { |_ctx, nxt| nxt.call }
    worker.register("a") { |ctx| ctx.args.to_a }
    worker.register("fails") { raise OJS::NonRetryableError, "no" }
    worker.start
    GC.stress = 1 # at every chance, the young ones
    ids = %w[a fails].map { |type| client.enqueue(type, [{ "n" => [1, "ž"] }]).id }
    assert_raises(OJS::NotFoundError) { client.get_job("00000000-0000-7000-8000-000000000000") }
    eventually("they are taken") { client.queue_stats("default")["available"].zero? }
    GC.stress = false
    assert_equal(%w[completed discarded], ids.map { |id| client.wait_for_result(id, timeout: PATIENCE).state })
  ensure
    GC.stress = false
  end

  def test_forgotten_objects_are_collected
    20.times do
      client = OJS::Client.new("memory:forgotten-#{object_id}")
      worker = OJS::Worker.new(client).register("a") { nil }
      client.enqueue("a")
      worker = nil if worker
    end
    GC.start
    GC.compact if GC.respond_to?(:compact)
    assert_operator ObjectSpace.each_object(OJS::Client).count, :<, 20
  end

  def test_memory_stays
    skip "no /proc" unless File.directory?("/proc/self/fd")
    client = memory
    worker = worker_of(client, concurrency: 4)
    worker.register("n") { |ctx| ctx.args[0] }
    worker.start
    sent = 0
    run = lambda do |jobs|
      jobs.times.each_slice(1000) { |slice| client.enqueue_batch(slice.map { |n| { type: "n", args: [n, "x" * 200] } }) }
      sent += jobs
      eventually("the jobs are done", patience: 3 * PATIENCE) { client.queue_stats("default")["completed"] == sent }
      client.bulk_delete(states: "completed", queue: "default")
      sent = client.queue_stats("default")["completed"]
      GC.start
      [GC.stat(:heap_live_slots), Dir.children("/proc/self/fd").size]
    end
    run.call(2000)
    before = run.call(2000)
    after = 2.times.map { run.call(3000) }.last
    assert_operator after[0], :<, before[0] * 1.1, "no objects are left behind"
    # Fewer, when a connection of the test before has been closed meanwhile.
    assert_operator after[1], :<=, before[1], "nor descriptors"
    assert_equal 0, worker.held
  end
end
