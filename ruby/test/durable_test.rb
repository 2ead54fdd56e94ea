# frozen_string_literal: true

require_relative "support"

# Progress, checkpoints and steps of handlers, against the real server.
class DurableTest < Minitest::Test
  include Support

  def client
    @client ||= client_of(Support.server)
  end

  def queue
    @queue ||= "durable-#{name.downcase.tr("^a-z0-9", "-")[0, 60]}"
  end

  def worker(&setup)
    worker_of(client, queues: queue).tap(&setup).start
  end

  def test_a_step_runs_once_across_attempts
    charges = []
    seen = []
    worker do |w|
      w.register("pay") do |ctx|
        page = ctx.load_checkpoint || 0
        charge = ctx.step("charge") { charges << 1; { "id" => "ch_#{charges.size}" } }
        seen << [ctx.attempt, ctx.checkpoint?, charge["id"], page, ctx.checkpoint(page + 1)]
        raise "again" if page < 2
      end
    end
    job = client.enqueue("pay", [], queue: queue, retry: { max_attempts: 5, initial_interval: "PT0.05S" })
    job_in(client, job.id, "completed")
    assert_equal [[1, false, "ch_1", 0, 2], [2, true, "ch_1", 1, 3], [3, true, "ch_1", 2, 4]], seen
    state = client.get_checkpoint(job.id)["state"]
    assert_equal({ "$ojs.state" => 3, "$ojs.steps" => { "charge" => { "id" => "ch_1" } } }, state)
  end

  def test_a_handler_goes_on_where_another_language_stopped
    job = client.enqueue("import", [], queue: queue)
    client.save_checkpoint(job.id, { "$ojs.state" => { "row" => 7 }, "$ojs.steps" => { "open" => [1, nil] } })
    seen = []
    worker do |w|
      w.register("import") do |ctx|
        seen << ctx.load_checkpoint << ctx.step(:open) { raise "run again" } << ctx.step(:close) { "ä" }
        seen << begin
          ctx.checkpoint("x" * 1_100_000)
        rescue OJS::PayloadTooLargeError => e
          e.class
        end
        nil
      end
    end
    job_in(client, job.id, "completed")
    assert_equal [{ "row" => 7 }, [1, nil], "ä", OJS::PayloadTooLargeError], seen
  end

  def test_a_lost_lease_is_the_typed_error
    began = Queue.new
    go = Queue.new
    refused = Queue.new
    worker do |w|
      w.register("import") do |ctx|
        began << 1
        go.pop
        ctx.checkpoint(1)
      rescue OJS::JobCancelled => e
        refused << e
      end
    end
    job = client.enqueue("import", [], queue: queue)
    pop(began)
    client.cancel_job(job.id)
    go << 1
    assert_kind_of OJS::JobCancelled, pop(refused)
    assert_raises(OJS::NotFoundError) { client.get_checkpoint(job.id) }
  end

  def test_of_many_reports_the_latest_is_sent
    go = Queue.new
    worker do |w|
      w.register("import") do |ctx|
        51.times { |percent| ctx.progress(percent / 100.0, "rows", data: { percent: percent }) }
        go.pop
      end
    end
    job = client.enqueue("import", [], queue: queue)
    seen = eventually { (found = client.get_progress(job.id))["progress"] == 0.5 && found }
    assert_equal ["rows", { "percent" => 50 }], seen.values_at("message", "data")
    go << 1
    job_in(client, job.id, "completed")
    assert_equal 1.0, client.get_progress(job.id)["progress"]
  end
end
