# frozen_string_literal: true

require "openssl"
require_relative "serverless_support"

# Handlers of a worker behind signed push endpoints and in functions.
class ServerlessTest < Minitest::Test
  include ServerlessSupport

  NOW = Time.at(1_708_030_665)

  def handler(**options)
    OJS::Serverless::LambdaHandler.new(**options).tap do |handler|
      @calls = 0
      handler.register("email.send") { { message_id: @calls += 1 } }
      handler.register("email.fail") { raise "SMTP connection refused" }
      handler.register("email.never") { raise OJS::NonRetryableError, "no such customer" }
      handler.register("email.later") { raise OJS::Snooze.new(90) }
    end
  end

  # --- push ---

  def test_a_push_delivery_is_answered_as_the_document_prints_it
    pushed = handler(signing_secret: SECRET)
    answer = ->(type) { push(pushed, delivery(plain(type))) }
    done = { "status" => "completed", "result" => { "message_id" => 1 } }
    assert_equal [200, done], answer.call("email.send")
    { "email.fail" => ["handler_error", "SMTP connection refused", true],
      "email.never" => ["non_retryable", "no such customer", false],
      "email.no" => ["no_handler", "No handler is registered for job type 'email.no'.", false] }.each do |type, wanted|
      status, said = answer.call(type)
      found = said["error"].values_at("code", "message", "retryable")
      assert_equal [200, "failed", wanted], [status, said["status"], found]
    end
    _, said = answer.call("email.later")
    assert_equal [90_000, "snooze"], [said["delay_ms"], said.dig("error", "code")]
    assert_equal 90_000, said.dig("error", "details", "snooze_ms")
  end

  def test_a_request_that_is_not_signed_runs_nothing
    pushed = handler(signing_secret: SECRET, clock: -> { NOW })
    body = delivery(plain("email.send"))
    good = signed(body, NOW, SECRET)
    { "missing_header" => {}, "signature_mismatch" => signed(body, NOW, "whsec_of_another_endpoint"),
      "stale_timestamp" => signed(body, NOW - 301, SECRET),
      "invalid_header" => good.merge("HTTP_X_OJS_TIMESTAMP" => "soon") }.each do |reason, headers|
      status, said = rack(pushed, headers, body)
      assert_equal [401, reason], [status, said.dig("error", "details", "reason")]
    end
    assert_equal 401, rack(pushed, good, "#{body} ").first
    assert_equal 0, @calls
    # While a secret is being replaced, a request has two signatures, or a receiver two secrets.
    two = handler(signing_secret: ["whsec_old", SECRET], clock: -> { NOW })
    [signed(body, NOW, "whsec_old"), signed(body, NOW, "whsec_old", "whsec_x"), good].each do |headers|
      assert_equal 200, rack(two, headers, body).first
    end
  end

  # 401 would end the job and disable the endpoint, although only a setting is missing.
  def test_a_handler_without_a_secret_answers_what_is_tried_again_and_logs_what_to_set
    before, log = OJS.logger, StringIO.new
    OJS.logger = Logger.new(log)
    body = delivery(plain("email.send"))
    status, said = rack(handler(signing_secret: ""), signed(body, Time.now, SECRET), body)
    assert_equal [500, "internal_error", true], [status, *said["error"].values_at("code", "retryable")]
    assert_equal 0, @calls
    assert_match(/ERROR.*OJS_SIGNING_SECRET/, log.string)
  ensure
    OJS.logger = before
  end

  def test_the_headers_of_standard_webhooks_are_enough
    pushed = handler(signing_secret: SECRET)
    body, time = delivery(plain("email.send")), Time.now.to_i.to_s
    key = SECRET.delete_prefix("whsec_").unpack1("m0")
    code = [OpenSSL::HMAC.digest("SHA256", key, "del_1.#{time}.#{body}")].pack("m0")
    headers = { "HTTP_WEBHOOK_ID" => "del_1", "HTTP_WEBHOOK_TIMESTAMP" => time,
                "HTTP_WEBHOOK_SIGNATURE" => "v1,#{code}" }
    assert_equal 200, rack(pushed, headers, body).first
    assert_equal 401, rack(pushed, headers.merge("HTTP_WEBHOOK_ID" => "del_2"), body).first
  end

  def test_what_is_no_delivery_is_refused
    pushed = handler(signing_secret: SECRET)
    ["", "[]", "{}", '{"job":{}}', '{"job":{"id":"1"}}', "{", "\xff", '{"id":"1","type":"a","args":{}}'].each do |body|
      status, said = push(pushed, body)
      assert_equal [400, "invalid_request"], [status, said.dig("error", "code")], body
    end
    assert_equal 413, rack(pushed, {}, " " * (OJS::Serverless::Handler::MAX_BODY + 1)).first
    assert_equal 405, Rack::MockRequest.new(pushed).get("/").status
    assert_equal 0, @calls
  end

  def test_a_delivery_that_arrives_twice_runs_once
    pushed = handler(signing_secret: SECRET)
    body = delivery(plain("email.send"))
    3.times { assert_equal 1, push(pushed, body).last.dig("result", "message_id") }
    began, finish = Queue.new, Queue.new
    pushed = OJS::Serverless::Handler.new(unsigned: true)
    pushed.register("slow") { began << 1 and pop(finish) }
    body = delivery(plain("slow"))
    both = Array.new(2) { Thread.new { rack(pushed, {}, body) } }
    pop(began)
    finish << "done"
    assert_equal [[200, "done"]] * 2, both.map(&:value).map { |status, said| [status, said["result"]] }
    assert_empty began
  end

  def test_the_memory_of_deliveries_is_bounded
    seen = OJS::Serverless.module_eval("Deliveries", __FILE__, __LINE__).new(600, 2)
    runs = 0
    ask = ->(key, at) { seen.once(key, at) { OJS::Serverless::Answer.json(200, runs += 1) }.body }
    asked = [["a", 0], ["a", 1], ["b", 2], ["b", 3], ["c", 4], ["a", 5]]
    assert_equal %w[1 1 2 2 3 4], (asked.map { |key, at| ask.call(key, at) })
    assert_equal "5", ask.call("b", 700)
  end

  def test_an_answer_that_was_forgotten_while_its_delivery_ran_takes_no_room
    seen = OJS::Serverless.module_eval("Deliveries", __FILE__, __LINE__).new(600, 2)
    runs = 0
    ask = ->(key) { seen.once(key, 0) { OJS::Serverless::Answer.json(200, runs += 1) }.body }
    seen.once("a", 0) do
      %w[b c].each { |key| ask.call(key) }
      OJS::Serverless::Answer.json(200, "x" * (9 * 1024 * 1024))
    end
    assert_equal %w[3 2], [ask.call("d"), ask.call("c")]
  end

  # --- queues ---

  def test_in_a_fifo_queue_a_failure_ends_the_work_on_its_group
    queue = handler
    records = [%w[m1 a send], %w[m2 b send], %w[m3 a fail], %w[m4 a send], %w[m5 b send]].map do |id, group, what|
      fifo(id, group, plain("email.#{what}"))
    end
    records += [fifo("m6", "c", "no job"), fifo("m7", "c", plain("email.send"))]
    assert_equal %w[m3 m4 m6 m7], again(queue, *records)
    assert_equal 3, @calls
  end

  # Each job waits for the other one.
  def test_jobs_of_a_standard_queue_run_side_by_side
    queue = handler
    one, two = Queue.new, Queue.new
    queue.register("one") { (two << 1) && pop(one) }
    queue.register("two") { (one << 1) && pop(two) }
    assert_equal %w[m3], again(queue, sqs("m1", plain("one")), sqs("m2", plain("two")), sqs("m3", plain("email.fail")))
    assert_empty again(queue)
  end

  def test_the_server_learns_the_outcomes_of_a_batch
    ran = handler(ojs_url: server)
    done, one = leased("email.send")
    failed, two = leased("email.fail")
    over, three = leased("email.never")
    later, four = leased("email.later")
    names = again(ran, sqs("m1", one), sqs("m2", two), sqs("m3", three), sqs("m4", four), sqs("m5", "{}"))
    assert_equal %w[m5], names
    assert_equal %w[completed retryable discarded], [done, failed, over].map { |id| client.get_job(id).state }
    assert_includes %w[available scheduled retryable], client.get_job(later).state
    assert_equal({ "message_id" => 1 }, client.get_job(done).result)

    # In order: the server's retry does not overtake the group. A message that comes again after that runs nothing.
    failed, two = leased("email.fail")
    assert_equal %w[m1 m2], again(ran, fifo("m1", "a", two), fifo("m2", "a", plain("email.send")))
    old = fifo("m1", "a", two)
    old["attributes"]["ApproximateReceiveCount"] = "2"
    assert_empty again(ran, old)
    assert_equal 1, client.get_job(failed).attempt
  end

  def test_what_the_server_does_not_learn_comes_again
    away = Object.new
    def away.request(*) = raise(OJS::ConnectionError, "away")
    ran = handler(transport: away)
    assert_equal %w[m1 m2], again(ran, sqs("m1", plain("email.send")), sqs("m2", plain("email.fail")))
    event = { "source" => "x", "detail" => JSON.parse(plain("email.fail")) }
    error = assert_raises(OJS::Serverless::DeliveryFailedError) { ran.handle(event: event) }
    assert_equal ["handler_error", true], [error.code, error.retryable?]
    assert_equal %w[m2], again(handler, sqs("m1", plain("email.send")), sqs("m2", plain("email.fail")))
  end

  def test_a_server_that_hangs_does_not_hold_up_a_function
    silent = TCPServer.new("127.0.0.1", 0)
    ran = handler(ojs_url: "http://127.0.0.1:#{silent.addr[1]}")
    began = Process.clock_gettime(Process::CLOCK_MONOTONIC)
    assert_equal %w[m1], again(ran, sqs("m1", plain("email.send")))
    taken = Process.clock_gettime(Process::CLOCK_MONOTONIC) - began
    assert_operator taken, :<, 20, "one call alone would wait for 30 s"
  ensure
    silent.close
  end

  def test_a_large_job_is_read_from_the_server
    ran = handler(ojs_url: server)
    got = nil
    ran.register("blob.keep") { |ctx| got = ctx.args[0].size and nil }
    id, = leased("blob.keep", ["x" * 300_000])
    assert_empty again(ran, sqs("m1", delivery(JSON.generate({ id: id, type: "blob.keep" }))))
    assert_equal [300_000, "completed"], [got, client.get_job(id).state]
  end

  # --- the other sources ---

  def test_a_function_url_and_api_gateway
    ran = handler(signing_secret: SECRET)
    body = delivery(plain("email.send"))
    headers = signed(body, Time.now, SECRET).transform_keys { |name| name.delete_prefix("HTTP_").tr("_", "-") }
    two = { "version" => "2.0", "requestContext" => { "http" => { "method" => "POST" } }, "headers" => headers,
            "body" => [body].pack("m0"), "isBase64Encoded" => true }
    many = headers.transform_values { |value| [value] }
    one = { "httpMethod" => "POST", "headers" => nil, "multiValueHeaders" => many, "body" => body }
    { two => 200, one => 200, one.merge("httpMethod" => "GET") => 405, two.merge("body" => "%") => 400,
      two.merge("headers" => {}) => 401 }.each do |event, status|
      assert_equal status, ran.handle(event: event)["statusCode"]
    end
  end

  def test_direct_calls_and_event_bridge
    ran = handler(ojs_url: server)
    id, body = leased("email.send")
    job = JSON.parse(body)
    told = ran.handle(event: { "detail-type" => "job", "detail" => job })
    assert_equal ["completed", id], told.values_at(:status, :job_id)
    assert_equal "completed", client.get_job(id).state
    id, body = leased("email.fail")
    assert_equal ["failed", id], ran.handle(event: JSON.parse(body)).values_at(:status, :job_id)
    assert_equal "retryable", client.get_job(id).state
    assert_raises(OJS::ValidationError) { ran.handle(event: {}) }
    assert_raises(OJS::ValidationError) { ran.handle(event: []) }
  end

  def test_google_functions
    ran = handler(ojs_url: server)
    event = Struct.new(:data)
    id, body = leased("email.send")
    # The data of an event of Pub/Sub, in the form that Google prints.
    at = "2021-02-26T19:13:55.749Z"
    message = { "attributes" => { "key" => "value" }, "data" => [body].pack("m0"), "messageId" => "2070443601311540",
                "message_id" => "2070443601311540", "publishTime" => at, "publish_time" => at }
    ran.handle_cloud_event(event.new({ "message" => message, "subscription" => "projects/p/subscriptions/s" }))
    assert_equal "completed", client.get_job(id).state
    ran.handle_cloud_event({ "data" => JSON.parse(plain("email.send")) })
    assert_raises(OJS::Serverless::DeliveryFailedError) { handler.handle_cloud_event(event.new(plain("email.fail"))) }
    assert_raises(OJS::ValidationError) { ran.handle_cloud_event(event.new({ "message" => { "data" => "%" } })) }
  end

  def test_azure_functions
    ran = handler(ojs_url: server)
    id, body = leased("email.send")
    # The request of the host for a queue trigger, in the form that Microsoft prints.
    metadata = { ExpirationTime: "2019-10-16T17:58:31+00:00", Id: "800ae4b3-bdd2-4c08-badd-f08e5a34b865",
                 InsertionTime: "2019-10-09T17:58:31+00:00", NextVisibleTime: "2019-10-09T18:08:32+00:00",
                 PopReceipt: "AgAAAAMAAAAAAAAAAgtnj8x+1QE=", sys: { MethodName: "job" } }
    call = lambda do |message, count = 1|
      JSON.generate({ Data: { message: message }, Metadata: { DequeueCount: count, **metadata } })
    end
    assert_equal 200, rack(ran.azure_queue("message"), {}, call.call(JSON.generate(body))).first
    assert_equal "completed", client.get_job(id).state
    assert_equal 200, rack(ran.azure_queue("message"), {}, call.call(JSON.parse(body), "2")).first
    alone = handler
    { plain("email.send") => 200, plain("email.fail") => 500, "no job" => 500 }.each do |job, status|
      assert_equal status, rack(alone.azure_queue("message"), {}, call.call(job)).first
    end
    assert_equal 500, rack(alone.azure_queue("other"), {}, call.call(plain("email.send"))).first
  end

  # --- the worker's own ---

  def test_a_handler_does_not_know_how_it_was_called
    seen = []
    worker = OJS::Worker.new(client)
    worker.use("loud") { |ctx, nxt| (seen << "before") && nxt.call(ctx) }
    worker.register("mail") { |ctx| seen << [ctx.args[0], ctx.attempt, ctx.queue] and ctx.args[0] }
    pushed = OJS::Serverless::Handler.new(worker, unsigned: true)
    id, body = leased("mail", ["ada"])
    assert_equal "ada", rack(pushed, {}, body).last["result"]
    OJS::Testing.fake do |jobs|
      client.enqueue("mail", ["bob"])
      jobs.drain(worker)
    end
    assert_equal ["before", ["ada", 1, client.get_job(id).queue], "before", ["bob", 1, "default"]], seen
    assert_raises(OJS::ValidationError) { OJS::Serverless::Handler.new(worker, ojs_url: server) }
    assert_raises(OJS::ValidationError) { OJS::Serverless::Handler.new(unsigned: true, signing_secret: "x") }
  end

  def test_encrypted_arguments_arrive_in_the_clear
    keys = { "k-1" => (0..31).to_a.pack("C*") }
    hidden = client_of(server, encryption_keys: keys)
    _, body = leased("card.charge", ["4111"], by: hidden, meta: { tenant: "acme" })
    refute_includes body, "4111"
    run = lambda do |given|
      ran = OJS::Serverless::Handler.new(unsigned: true, encryption_keys: given)
      ran.register("card.charge") { |ctx| [ctx.args.to_a, ctx.meta] }
      rack(ran, {}, body).last
    end
    assert_equal [["4111"], { "tenant" => "acme" }], run.call(keys)["result"]
    { "other" => ["x_codec_unknown_key", true], "k-1" => ["x_codec_auth_failed", false] }.each do |name, wanted|
      assert_equal wanted, run.call({ name => "\0" * 32 })["error"].values_at("code", "retryable")
    end
  end

  def test_a_context_reaches_the_server
    ran = handler(ojs_url: server)
    ran.register("import") do |ctx|
      assert ctx.heartbeat
      ctx.progress(0.1, "a tenth")
      ctx.progress(0.5, "half")
      ctx.step("charge") { "ch_1" }
      ctx.checkpoint({ page: 7 })
      raise "later"
    end
    id, body = leased("import", retry: { max_attempts: 3, backoff_strategy: "none" })
    assert_empty again(ran, sqs("m1", body))
    assert_equal "half", client.request("GET", "/jobs/#{id}/progress")["message"]
    found = Queue.new
    worker = worker_of(client, queues: client.get_job(id).queue)
    worker.register("import") { |ctx| found << [ctx.step("charge") { "again" }, ctx.load_checkpoint] }.start
    assert_equal ["ch_1", { "page" => 7 }], pop(found)
    worker.stop

    state = { "$ojs.state" => 1, "$ojs.steps" => { "charge" => "ch_1" } }
    job = { "id" => "1", "type" => "find", "args" => [], "checkpoint" => { "state" => state } }
    alone = handler.register("find") do |ctx|
      assert_raises(OJS::ValidationError) { ctx.checkpoint(2) }
      [ctx.step("charge") { "again" }, ctx.load_checkpoint]
    end
    assert_equal ["ch_1", 1], alone.handle(event: job)[:result]
  end

  def test_a_handler_learns_that_its_job_is_cancelled
    ran = handler(ojs_url: server)
    id, body = leased("import")
    ran.register("import") do |ctx|
      client.cancel_job(id)
      refute ctx.heartbeat
      assert_equal :cancelled, ctx.cancel_reason
      assert_raises(OJS::JobCancelled) { ctx.checkpoint(1) }
      ctx.raise_if_cancelled
    end
    assert_empty again(ran, sqs("m1", body))
    assert_equal "cancelled", client.get_job(id).state
  end

  # Lambda ends a function at its limit: the job is given up before, and the server knows.
  def test_a_job_is_given_up_before_the_limit_of_the_function
    ran = handler(ojs_url: server)
    asked, finish = Queue.new, Queue.new
    ran.register("slow") do |ctx|
      eventually { ctx.cancelled? }
      asked << ctx.cancel_reason
      pop(finish)
    end
    id, body = leased("slow")
    context = Struct.new(:get_remaining_time_in_millis).new(100)
    assert_empty ran.handle(event: { "Records" => [sqs("m1", body)] }, context: context)["batchItemFailures"]
    finish << 1
    assert_equal :timed_out, pop(asked)
    assert_equal ["retryable", "timeout"], client.get_job(id).then { |job| [job.state, job.error["code"]] }
    own = { "id" => "1", "type" => "slow", "args" => [], "timeout_ms" => 20 }
    assert_equal "timeout", ran.handle(event: own).dig(:error, "code")
    finish << 1
  end

  # Where the context does not say what is left, the time that the handler was given counts.
  def test_the_timeout_of_a_lambda_handler_counts_without_a_remaining_time
    ran = handler(timeout: 0.1)
    finish = Queue.new
    ran.register("slow") { pop(finish) }
    said = ran.handle(event: { "id" => "1", "type" => "slow", "args" => [] })
    finish << 1
    assert_equal "timeout", said.dig(:error, "code")
  end

  def test_errors_of_every_kind_have_the_same_keys
    ran = handler
    codes = %w[email.later email.fail].map do |type|
      ran.handle(event: { "id" => "1", "type" => type, "args" => [] }).dig(:error, "code")
    end
    assert_equal %w[snooze handler_error], codes
    later = ran.handle(event: { "id" => "1", "type" => "email.later", "args" => [] })
    assert_equal 90_000, later.dig(:error, "details", "snooze_ms")
  end

  # What the server sends for a job that is too large for a queue, and what runs then.
  def test_references_are_those_of_the_vectors
    vectors_of("serverless_reference")["cases"].each do |vector|
      delivery = OJS::Serverless::Delivery.read(JSON.generate(vector["message"]))
      refute_predicate delivery, :whole?
      assert_equal !vector["checkpoint"].nil?, delivery.checkpoint_ref?
      whole = delivery.with(vector["job"], vector["checkpoint"])
      assert_equal vector["runs"], whole.job, vector["name"]
      assert_equal delivery.lease, whole.lease
    end
  end

  # What a message comes to when a server answers so about its job.
  def test_references_end_as_the_answers_of_the_vectors_say
    vectors = vectors_of("serverless_reference")
    given = vectors["cases"].find { |one| one["message"]["checkpoint_ref"] }
    vectors["answers"].each do |answer|
      ends, saved, reported = ended(given, answer)
      assert_equal answer["ends"], ends, answer["name"]
      assert_equal ends == "runs" ? ["/ojs/v1/workers/ack"] : [], reported, answer["name"]
      next unless ends == "runs"

      wanted = answer["checkpoint"] ? nil : given["checkpoint"]["state"]
      assert wanted == saved.first, answer["name"]
    end
  end

  def test_a_timeout_has_the_error_of_the_vectors
    finish = Queue.new
    slow = handler
    slow.register("slow") { pop(finish) }
    error = slow.handle(event: { "id" => "1", "type" => "slow", "args" => [], "timeout_ms" => 10 })[:error]
    finish << 1
    wanted = vectors_of("serverless_timeout")["error"]
    assert_equal wanted, error.slice(*wanted.keys)
  end

  def test_a_reference_is_not_run_where_no_server_is_named
    answer = handler.handle_direct(event: { "id" => "1", "type" => "email.send" })
    assert_equal ["invalid_job", true], answer[:error].values_at("code", "retryable")
    assert_equal 0, @calls
  end

  def test_a_reference_to_a_job_that_is_gone_is_done
    reference = { "id" => "019539a4-0000-7000-8000-00000000dead", "type" => "email.send", "lease_token" => 7 }
    asked = handler(ojs_url: server)
    event = { "Records" => [{ "messageId" => "m1", "body" => JSON.generate(reference) }] }
    assert_empty asked.handle_sqs(event: event)["batchItemFailures"]
    answer = asked.handle_event_bridge(event: { "detail" => reference })
    assert_equal ["not_found", false], answer[:error].values_at("code", "retryable")
    assert_equal 0, @calls
  end

  def test_the_id_of_a_message_is_one_segment_of_a_path
    delivery = OJS::Serverless::Delivery.read(JSON.generate({ id: "../a?b/c", type: "email.send" }))
    assert_equal "/jobs/..%2Fa%3Fb%2Fc", delivery.path
  end
end
