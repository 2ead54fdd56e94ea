# frozen_string_literal: true

# The vectors that all languages share: what goes over the wire, and which error an answer becomes. A server of this test listens.
require_relative "support"
require_relative "operation_calls"
require_relative "vectors_read"

# Remembers the latest request, answers what it is told.
class Listener
  attr_accessor :answer, :request
  attr_reader :received, :url

  def initialize
    @server = TCPServer.new("127.0.0.1", 0)
    @url = "http://127.0.0.1:#{@server.addr[1]}"
    Thread.new { loop { Thread.new(@server.accept) { |socket| converse(socket) } } }
  end

  private

  def converse(socket)
    while (line = socket.gets)
      @request = line
      headers = {}
      while (header = socket.gets&.chomp) && !header.empty?
        name, value = header.split(": ", 2)
        headers[name.downcase] = value
      end
      length = headers.fetch("content-length", 0).to_i
      @received = length.zero? ? nil : socket.read(length)
      status, body = answer
      body = JSON.generate(body)
      socket.write("HTTP/1.1 #{status} Answer\r\ncontent-type: application/openjobspec+json\r\ncontent-length: #{body.bytesize}\r\n\r\n#{body}") if line
    end
  ensure
    socket.close
  end
end

class VectorsTest < Minitest::Test
  include Support

  # What a workflow, or a step of one, may say.
  TREE = %w[args batch callbacks chain graph group name options type].freeze
  # What is compared of an error, a detection and a fake.
  ERROR = %w[class code details hint message retryable status].freeze
  ONE_OF = %w[error value].freeze
  DETECTED = { "calls" => %w[asked lasting reason shared], "database" => ONE_OF, "server" => ONE_OF }.freeze
  FAKED = { "jobs" => %w[args meta options type], "questions" => %w[error found wanted] }.freeze
  # By the number all languages share.
  CLASSES = { 1 => OJS::APIError, 2 => OJS::DuplicateError, 3 => OJS::NotFoundError, 4 => OJS::QueuePausedError, 5 => OJS::RateLimitError,
              6 => OJS::InvalidStateTransitionError, 7 => OJS::PayloadTooLargeError, 8 => OJS::InvalidRequestError,
              9 => OJS::AuthenticationError, 11 => OJS::UnsupportedExtensionError, 30 => OJS::ValidationError }.freeze

  def self.listener
    @listener ||= Listener.new
  end

  def self.client
    @client ||= OJS::Client.new(listener.url, max_sends: 1)
  end

  def listener = self.class.listener
  def client = self.class.client

  def test_a_member_that_no_test_compares_fails
    error = assert_raises(ArgumentError) { VectorsRead.known({ "name" => "x", "more" => 1 }, %w[body name], "x") }
    assert_includes error.message, "these tests do not know more"
  end

  VectorsRead.vectors("requests", %w[args body name options text type why]).each do |request|
    define_method("test_request: #{request["name"]}") do
      listener.answer = [201, { job: { id: "x" } }]
      client.enqueue(request["type"], request["args"], request["options"])
      sent = JSON.parse(listener.received)
      sent.delete("id")
      assert_equal request["body"], sent
      assert_equal request["text"], listener.received.force_encoding(Encoding::UTF_8) if request["text"]
    end
  end

  VectorsRead.vectors("refusals", %w[name options says]).each do |vector|
    define_method("test_refusal: #{vector["name"]}") do
      error = assert_raises(OJS::ValidationError) { client.enqueue("email.send", [], vector["options"]) }
      assert error.message.start_with?(vector["says"]), error.message
    end
  end

  # The method, the decoded segments of the path below /ojs/v1, and the query of a request's first line.
  def in_parts(line)
    method, target, = line.split
    path, query = target.split("?", 2)
    segments = path.delete_prefix("/ojs/v1").delete_prefix("/").split("/").map { |name| URI.decode_www_form_component(name) }
    { "method" => method, "path" => segments, "query" => URI.decode_www_form(query.to_s).to_h }
  end

  CALLED = %w[answer arguments body method name path query].freeze
  OPERATIONS = VectorsRead.vectors("operations", CALLED, file: "operations.json")

  OPERATIONS.zip(OPERATION_CALLS).each do |vector, ask|
    define_method("test_operation: #{vector["name"]} #{vector["arguments"]}") do
      listener.answer = [200, vector["answer"]]
      ask.call(client)
      body = listener.received && JSON.parse(listener.received)
      assert_equal vector.slice("method", "path", "query"), in_parts(listener.request)
      vector["body"] ? assert_equal(vector["body"], body) : assert_nil(body)
    end
  end

  # A workflow, or a step of one, as a program would write it.
  def built(tree)
    VectorsRead.known(tree, TREE, "workflows")
    if tree.key?("graph")
      tree["graph"].each { |node| VectorsRead.known(node, %w[after id step], "workflows") }
      nodes = tree["graph"].map { |node| OJS.node(node["id"], built(node["step"]), after: node["after"] || []) }
      return OJS.graph(*nodes, name: tree["name"])
    end
    kind = %w[chain group batch].find { |name| tree.key?(name) }
    return tree if kind.nil?

    callbacks = (tree["callbacks"] || {}).transform_keys(&:to_sym)
    OJS.public_send(kind, *tree[kind].map { |step| built(step) }, name: tree["name"], **callbacks)
  end

  VectorsRead.vectors("workflows", %w[body name workflow]).each do |vector|
    define_method("test_workflow: #{vector["name"]}") do
      listener.answer = [201, { workflow: { id: "x" } }]
      client.workflow(built(vector["workflow"]))
      assert_equal vector["body"], JSON.parse(listener.received)
    end
  end

  VectorsRead.vectors("crons", %w[body cron name], { "cron" => %w[expression job name timezone] }).each do |vector|
    define_method("test_cron: #{vector["name"]}") do
      listener.answer = [201, { cron: { name: "x" } }]
      cron = vector["cron"]
      client.register_cron(cron["name"], cron["expression"], cron["job"], timezone: cron["timezone"])
      assert_equal vector["body"], JSON.parse(listener.received)
    end
  end

  VectorsRead.vectors("webhooks", %w[body headers name now reason secrets tolerance]).each do |vector|
    define_method("test_webhook: #{vector["name"]}") do
      request = vector.values_at("body", "headers", "secrets")
      verify = -> { OJS.verify_webhook(*request, tolerance: vector["tolerance"], now: vector["now"]) }
      next assert_nil(verify.call) unless vector["reason"]

      error = assert_raises(OJS::UntrustedWebhookError, &verify)
      assert_equal vector["reason"], error.details["reason"]
    end
  end

  VectorsRead.vectors("answers", %w[answer error name status], { "error" => ERROR }).each do |answer|
    define_method("test_answer: #{answer["name"]}") do
      listener.answer = answer.values_at("status", "answer")
      error = assert_raises(OJS::APIError) { client.get_job("x") }
      expected = answer["error"]
      assert_instance_of CLASSES.fetch(expected["class"]), error
      found = { "class" => expected["class"], "code" => error.code, "message" => error.message, "retryable" => error.retryable?,
                "status" => error.status, "hint" => error.hint, "details" => error.details }
      assert_equal expected, found
    end
  end

  VectorsRead.vectors("environments", %w[error name settings variables]).each do |vector|
    define_method("test_environment: #{vector["name"]}") do
      before = ENV.to_h
      before.each_key { |name| ENV.delete(name) if name.start_with?("OJS_") }
      ENV.update(vector["variables"])
      if vector["error"]
        [OJS::Client, OJS::Worker].each do |maker|
          assert_equal vector["error"], assert_raises(OJS::ValidationError) { maker.new("memory:") }.message
        end
      else
        assert_equal vector["settings"], OJS.const_get(:Transport, false).environment.transform_keys(&:to_s)
        worker = OJS::Worker.new("memory:")
        assert_equal vector["settings"].values_at("queues", "concurrency"), [worker.queues, worker.concurrency]
      end
    ensure
      ENV.replace(before)
    end
  end

  VectorsRead.vectors("detections", %w[calls database name server wanted], DETECTED).each do |vector|
    define_method("test_same_database: #{vector["name"]}") do
      theirs, ours = vector.values_at("server", "database")
      failed = { error: { code: "backend_error", message: "refused" } }
      listener.answer = theirs.key?("value") ? [200, theirs["value"]] : [500, failed]
      asked = []
      query = lambda do |sql|
        assert_includes sql, "pg_control_system"
        asked << "database"
        ours.key?("error") ? raise(ours["error"]) : ours["value"]
      end
      same = OJS::SameDatabase.new(client, vector["wanted"])
      vector["calls"].each do |call|
        asked.clear
        listener.request = nil
        assert_equal call["shared"], same.shared?(&query)
        assert_equal call["asked"], asked + (listener.request.to_s.include?("/health") ? ["server"] : [])
      end
    end
  end

  VectorsRead.vectors("statements", %w[database in_engine migration name notify staged table]).each do |vector|
    define_method("test_statements: #{vector["name"]}") do
      database, table, in_engine = vector.values_at("database", "table", "in_engine")
      assert_equal vector["migration"], OJS::Outbox.migration(database, table)
      outbox = OJS::Outbox.new(client, database: database, table: table, in_engine: in_engine)
      assert_equal vector["staged"], outbox.waiting_query
      assert_equal vector["notify"], OJS::SameDatabase::NOTIFY
    end
  end

  VectorsRead.vectors("fakes", %w[jobs name questions recorded], FAKED).each do |vector|
    define_method("test_fake: #{vector["name"]}") do
      OJS::Testing.fake do |fake|
        vector["jobs"].each do |job|
          client.enqueue(job["type"], job["args"], { **(job["options"] || {}), **job.slice("meta") })
        end
        assert_equal vector["recorded"], fake.requests
        vector["questions"].each { |question| check_question(fake, question) }
      end
    end
  end

  def check_question(fake, question)
    wanted = question["wanted"].transform_keys(&:to_sym)
    type = wanted.delete(:type)
    if question["error"]
      assert_equal question["error"], assert_raises(OJS::ValidationError) { fake.enqueued(type, **wanted) }.message
    else
      assert_equal question["found"], fake.enqueued(type, **wanted).size, question.to_s
    end
  end
end
