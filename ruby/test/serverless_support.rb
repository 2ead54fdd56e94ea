# frozen_string_literal: true

require "rack"
require "socket"
require "rack/mock"
require_relative "support"
require "ojs/serverless"

# What the tests of serverless handlers share.
module ServerlessSupport
  include Support

  SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
  COUNT = Enumerator.produce(1, &:succ)
  LOCK = Mutex.new

  def vectors_of(name)
    JSON.parse(File.read(File.expand_path("../../tests/vectors/#{name}.json", __dir__)))
  end

  # What a message comes to (+runs+, +gone+, +again+), the checkpoints that runs had, and the paths of reports: on a
  # server that answers about the job of +given+ as +answer+ says.
  def ended(given, answer)
    saved, reported = [], []
    listening = TCPServer.new("127.0.0.1", 0)
    serving = Thread.new { loop { answered(listening.accept, given, answer, reported) } }
    lambda = OJS::Serverless::LambdaHandler.new(ojs_url: "http://127.0.0.1:#{listening.addr[1]}")
    lambda.register("email.send") { |ctx| saved << ctx.load_checkpoint && nil }
    left = again(lambda, sqs("m1", JSON.generate(given["message"])))
    [left.empty? ? (saved.empty? ? "gone" : "runs") : "again", saved, reported]
  ensure
    serving.kill.join
    listening.close
  end

  # Answers one request of a connection, which ends with it.
  def answered(socket, given, answer, reported)
    method, path = socket.gets.split
    length = 0
    while (line = socket.gets.chomp) != ""
      length = line[/\Acontent-length: (\d+)/i, 1]&.to_i || length
    end
    socket.read(length)
    reported << path if method == "POST"
    name, found = path.end_with?("/checkpoint") ? ["checkpoint", given["checkpoint"]] : ["job", { job: given["job"] }]
    said = method == "GET" && answer[name] || { "status" => 200, "body" => JSON.generate(method == "GET" ? found : {}) }
    socket.write("HTTP/1.1 #{said["status"]} Answered\r\ncontent-length: #{said["body"].bytesize}\r\n" \
                 "connection: close\r\n\r\n#{said["body"]}")
    socket.close
  end

  def server
    Support.server
  end

  def client
    @client ||= client_of(server)
  end

  # A job, taken as the sender of a push endpoint takes it: its id, and the body of a delivery.
  def leased(type, args = [], by: client, **options)
    queue = "push-#{number}"
    # A failed job stays where a test looks for it.
    id = by.enqueue(type, args, queue: queue, retry: { initial_interval: "1h" }, **options).id
    jobs = client.request("POST", "/workers/fetch", { queues: [queue], count: 1, worker_id: "push_worker_1" })["jobs"]
    assert_equal [id], jobs.map { |job| job["id"] }
    [id, delivery(JSON.generate(jobs.first))]
  end

  def number
    LOCK.synchronize { COUNT.next }
  end

  def delivery(job)
    %({"job":#{job},"worker_id":"push_worker_1","delivery_id":"del_#{number}"})
  end

  # A job that no server knows.
  def plain(type)
    id = format("01234567-89ab-7cde-8000-%012d", number)
    JSON.generate({ specversion: "1.0", id: id, type: type, queue: "default", args: [1], attempt: 1 })
  end

  # The headers of the document.
  def signed(body, time, *secrets)
    stamp = time.to_i.to_s
    values = secrets.map { |secret| "sha256=#{OpenSSL::HMAC.hexdigest("SHA256", secret, "#{stamp}.#{body}")}" }
    { "HTTP_X_OJS_TIMESTAMP" => stamp, "HTTP_X_OJS_SIGNATURE" => values.join(", ") }
  end

  # Status and body of an answer, by way of Rack, which checks both sides.
  def rack(handler, headers, body)
    answer = Rack::MockRequest.new(Rack::Lint.new(handler)).post("/", **headers.transform_keys(&:to_s), input: body)
    [answer.status, JSON.parse(answer.body)]
  end

  def push(handler, body)
    rack(handler, signed(body, Time.now, SECRET), body)
  end

  def sqs(id, body)
    arn = "arn:aws:sqs:eu-central-1:1:ojs-default"
    { "messageId" => id, "body" => body, "attributes" => {}, "eventSourceARN" => arn }
  end

  def fifo(id, group, body)
    one = sqs(id, body)
    { **one, "eventSourceARN" => "#{one["eventSourceARN"]}.fifo", "attributes" => { "MessageGroupId" => group } }
  end

  # The messages of a batch that SQS shall deliver again.
  def again(handler, *records)
    handler.handle(event: { "Records" => records })["batchItemFailures"].map { |failure| failure["itemIdentifier"] }
  end
end
