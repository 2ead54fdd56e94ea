# frozen_string_literal: true

require_relative "support"

class FirstJobTest < Minitest::Test
  include Support

  def test_a_job_on_the_embedded_engine
    client = memory
    worker = worker_of(client)
    seen = Queue.new
    worker.register("email.send") do |ctx|
      seen << ctx.job.args["to"]
      { sent: true }
    end
    job = client.enqueue("email.send", to: "ada@example.com")
    assert_equal "available", job.state
    worker.start
    assert_equal "ada@example.com", pop(seen)
    done = job_in(client, job.id, "completed")
    assert_equal({ "sent" => true }, done.result)
    assert_equal [{ "to" => "ada@example.com" }], done.args
  end

  def test_a_file_keeps_the_jobs
    Dir.mktmpdir do |dir|
      url = "sqlite:#{dir}/jobs.db"
      id = OJS::Client.open(url) { |client| client.enqueue("a", [1]).id }
      OJS::Client.open(url) do |client|
        assert_equal [1], client.get_job(id).args
        worker = OJS::Worker.new(client).register("a") { |ctx| ctx.args[0] + 1 }
        worker.start
        assert_equal 2, job_in(client, id, "completed").result
        worker.stop
      end
    end
  end
end
