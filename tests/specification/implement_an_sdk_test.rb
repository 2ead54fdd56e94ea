# frozen_string_literal: true

# The Ruby example of "Implement an SDK", as printed there, against a real server.
#
# Code between the lines `# --- as printed` and `# ---` is the guide's own, to the letter.
require_relative "../../ruby/test/support"

class ImplementAnSdkTest < Minitest::Test
  include Support

  def send_email(to)
    @sent << to
  end

  def test_register_as_printed
    @sent = Queue.new
    client = client_of(Support.server)
    worker = worker_of(client, queues: "seed-ruby")

    # --- as printed: "Handler registration"
    # Ruby: block
    worker.register("email.send") do |ctx|
      send_email(ctx.job.args["to"])
      { status: "sent" }
    end
    # ---

    worker.start
    job = client.enqueue("email.send", { to: "ada@example.com" }, queue: "seed-ruby")
    assert_equal "ada@example.com", pop(@sent)
    assert_equal({ "status" => "sent" }, job_in(client, job.id, "completed").result)
  end

  # The guide's other examples for clients, in the words of this language: the checklist at its end.
  def test_the_checklist
    client = client_of(Support.server)
    job = client.enqueue("email.send", "a@example.com", queue: "seed-ruby-list", delay_until: "2099-01-01T00:00:00Z")
    assert_equal [["a@example.com"], "scheduled"], [job.args, job.state], "a single value is wrapped in an array"
    assert_equal job.id, client.get_job(job.id).id
    assert_equal "cancelled", client.cancel_job(job.id).state
    error = assert_raises(OJS::Error) { client.cancel_job(job.id) }
    assert_equal ["invalid_state_transition", false], [error.details["reason"] || error.code, error.retryable?]
  end
end
