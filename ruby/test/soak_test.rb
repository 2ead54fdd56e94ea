# frozen_string_literal: true

require_relative "support"

# Memory does not grow with the number of jobs. The engine is another process: it keeps the events of all jobs for a while.
# OJS_SOAK_JOBS=1000000 (make soak) is the long form.
class SoakTest < Minitest::Test
  include Support

  JOBS = Integer(ENV.fetch("OJS_SOAK_JOBS", "20000"))
  BATCH = 1000
  # Bytes. 20,000 jobs of which a kilobyte each stayed would be 20 MB; a million, a gigabyte.
  MAY_GROW = 20 << 20

  def test_memory_does_not_grow_with_the_jobs
    queue = "soak-#{Process.pid}"
    client = client_of(Support.server)
    worker = worker_of(client, queues: queue, concurrency: 4)
    worker.register("a") { |ctx| ctx.args[0] }
    worker.start
    run = lambda do |jobs|
      (jobs / BATCH).times do
        client.enqueue_batch(Array.new(BATCH) { |n| { type: "a", args: [n, "x" * 200], queue: queue } })
        eventually("a batch is done", patience: 3 * PATIENCE) { client.queue_stats(queue)["completed"] == BATCH }
        client.purge_queue(queue, ["completed"])
      end
    end
    run.call(JOBS / 2)
    before = held
    run.call(JOBS)
    after = held
    assert_operator after[0] - before[0], :<, MAY_GROW, "#{JOBS} jobs left #{(after[0] - before[0]) >> 10} KB behind"
    assert_operator after[1], :<, before[1] * 1.1, "objects are left behind"
    # A connection more or less is under way at any time.
    assert_operator after[2], :<=, before[2] + 8, "descriptors are left behind"
    assert_equal 0, worker.held
  end

  private

  # Bytes, live objects, descriptors.
  def held
    GC.start
    [File.read("/proc/self/statm").split[1].to_i * 4096, GC.stat(:heap_live_slots), Dir.children("/proc/self/fd").size]
  end
end
