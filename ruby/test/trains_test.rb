# frozen_string_literal: true

require_relative "support"

# The train of a job: how it is said, what a type says once, what comes back.
class TrainsTest < Minitest::Test
  include Support
  include OJS::Testing

  DETAILS = { extension: "urn:ojs:ext:x:openjobspec:job-trains" }.freeze
  REFUSAL = { error: { code: "EXTENSION_NOT_SUPPORTED", message: "no", details: DETAILS } }.freeze

  def client
    @client ||= OJS::Client.new("memory:")
  end

  # The train of a job as it is sent: the core has written it into the row of an outbox. Its metadata says the same.
  def train(type, args = [], **options)
    row = OJS::Outbox.new(client, database: "sqlite").stage({ type: type, args: args, **options }).params
    written = JSON.parse(row.find { |value| value.to_s.start_with?("{") })
    said = written["train"]
    said ? assert_equal(said["id"], written.dig("meta", "train_id")) : assert_nil(written.dig("meta", "train_id"))
    said
  end

  def test_a_train_is_an_id_or_a_hash
    assert_equal({ "id" => "dest_1" }, train("deploy", train: "dest_1"))
    said = { id: "dest_1", on_cancelled: :hold, cancel_active: "immediate" }
    sent = { "id" => "dest_1", "on_cancelled" => "hold", "cancel_active" => "immediate" }
    assert_equal sent, train("deploy", train: said)
    assert_equal({ "id" => "dest_7" }, train("deploy", [7], train: "dest_{0}"))
    assert_nil train("deploy")
  end

  def test_a_wrong_train_is_refused_by_field_and_rule
    {
      "a b" => /train\.id: must be 1 to 255 letters/, { on_cancelled: :hold } => /train\.id: is missing/,
      { id: "a", on_cancelled: :wait } => /train\.on_cancelled: must be "advance" or "hold", got "wait"/,
      { id: "a", on_canceled: :hold } => /did you mean 'on_cancelled'/, 7 => /train is the id of a train/
    }.each do |wrong, message|
      error = assert_raises(OJS::ValidationError) { client.enqueue("deploy", [], train: wrong) }
      assert_match message, error.message
    end
  end

  def test_a_type_says_its_train_once
    worker = OJS::Worker.new(client)
    worker.register("trains.policy", train: { on_cancelled: :hold }) {}
    assert_nil train("trains.policy"), "policies alone are no train"
    assert_equal({ "id" => "dest_1", "on_cancelled" => "hold" }, train("trains.policy", train: "dest_1"))
    own = { id: "dest_1", on_cancelled: :advance }
    assert_equal({ "id" => "dest_1", "on_cancelled" => "advance" }, train("trains.policy", train: own))
    worker.register("trains.derived", train: "dest_{destination_id}") {}
    args = { destination_id: 123, action: "deploy" }
    assert_equal({ "id" => "dest_123" }, train("trains.derived", [args]))
    assert_nil train("trains.derived", [args], train: false)
    error = assert_raises(OJS::ValidationError) { train("trains.derived", [{}]) }
    assert_match(/names the argument 'destination_id'/, error.message)
  end

  def test_a_server_without_trains_is_an_error_of_its_own
    transport = Object.new
    transport.define_singleton_method(:request) { |_method, _path, _body = nil| [422, REFUSAL] }
    refusing = OJS::Client.new(transport: transport)
    error = assert_raises(OJS::UnsupportedExtensionError) { refusing.enqueue("deploy", [], train: "dest_1") }
    assert_kind_of OJS::InvalidRequestError, error
    assert_equal DETAILS[:extension], error.details["extension"]
  end

  def test_a_fake_runs_the_jobs_of_a_train_in_order
    fake = ojs_fake!
    own = OJS::Client.new("http://127.0.0.1:1") # no server listens there
    ran = []
    worker = OJS::Worker.new(own)
    worker.register("trains.fake", train: { on_discarded: :hold }) do |ctx|
      ran << [ctx.args[0], ctx.train.position]
      raise OJS::NonRetryableError, "no such destination" if ctx.args[0].negative?
    end
    [[1, -5], [2, 0], [3, 5]].each do |number, priority|
      own.enqueue("trains.fake", [number], train: "dest_1", priority: priority)
    end
    assert_enqueued("trains.fake", train: "dest_1", count: 3)
    refute_enqueued("trains.fake", train: "dest_2")
    assert_equal 3, drain_jobs(worker)
    assert_equal [[1, 1], [2, 2], [3, 3]], ran

    [-1, 5].each { |number| own.enqueue("trains.fake", [number], train: "dest_2") }
    assert_raises(OJS::NonRetryableError) { drain_jobs(worker) }
    assert_equal 0, drain_jobs(worker), "the train is held"
    own.advance_train("dest_2")
    assert_equal 1, drain_jobs(worker)
    assert_equal [5, 2], ran.last
  ensure
    ojs_restore! if fake
  end

  def test_a_job_knows_its_place
    place = { "id" => "dest_1", "position" => 3, "role" => "locomotive", "ahead" => 0, "state" => "held", "epoch" => 9 }
    train = OJS::Job.new({ "id" => "1", "train" => place }).train
    assert_equal place.values, [train.id, train.position, train.role, train.ahead, train.state, train.epoch]
    assert_nil OJS::Job.new({ "id" => "1" }).train
  end
end
