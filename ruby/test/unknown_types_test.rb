# frozen_string_literal: true

require_relative "support"

# Jobs whose type has no handler: a dead letter, given back, or never asked for; and settings of a connection that the
# core checks.
class UnknownTypesTest < Minitest::Test
  include Support

  BY_STATE = { "discarded" => {}, "retryable" => { unknown_types: :release },
               "available" => { only_registered_types: true } }.freeze

  BY_STATE.each do |state, settings|
    define_method("test_#{settings.keys.first || "default"}_leaves_a_job_of_an_unknown_type_#{state}") do
      client = client_of(Support.server)
      queue = "unknown-#{state}"
      worker_of(client, queues: queue, **settings).tap { |worker| worker.register("own") { nil } }.start
      other = client.enqueue("other", [], queue: queue, retry: { max_attempts: 1 })
      job_in(client, client.enqueue("own", [], queue: queue).id, "completed")
      assert_equal state, job_in(client, other.id, state).state
    end
  end

  def test_wrong_settings_are_refused_by_the_core
    { { max_response_bytes: 0 } => "max_response_bytes must be at least 1",
      { proxy: "http://proxy" } => "'environment' or 'none'",
      { max_response_bytes: "many" } => "max_response_bytes must be a number of bytes" }.each do |settings, message|
      error = assert_raises(OJS::ValidationError) { OJS::Client.new("http://localhost:1", **settings) }
      assert_includes error.message, message
    end
    worker = OJS::Worker.new("memory:", unknown_types: :ignore)
    worker.register("own") { nil }
    assert_includes assert_raises(OJS::ValidationError) { worker.start }.message, "'fail' or 'release'"
  end

  def test_an_answer_has_a_largest_size
    client = client_of(Support.server, max_response_bytes: 10, proxy: :none, max_sends: 1)
    assert_raises(OJS::ConnectionError) { client.manifest }
  end
end
