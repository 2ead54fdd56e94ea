# frozen_string_literal: true

require "digest"

module OJS
  module Serverless
    # The job has failed, and no server has taken note of it: the platform shall deliver the event again. Raised to
    # platforms that take an exception as a failure.
    class DeliveryFailedError < Error; end

    # The answer to a request; +to_a+ is that of Rack.
    Answer = Struct.new(:status, :headers, :body) do
      # An answer with a JSON body.
      def self.json(status, body, headers = {})
        new(status, { "content-type" => "application/json", **headers }, JSON.generate(body))
      end

      # A refusal, in the form of the protocol. A fault of the function (5xx) is worth another try.
      def self.refusal(status, code, message, details: nil, headers: {})
        about = { code: code, message: message, retryable: status >= 500, details: details }.compact
        json(status, { error: about }, headers)
      end

      def to_a
        [status, headers, [body]]
      end
    end

    # Answers push deliveries, as an application for Rack: in Rails, Sinatra, and Google's functions framework
    # (<tt>FunctionsFramework.http("jobs") { |request| HANDLER.call(request.env) }</tt>).
    #
    #   HANDLER = OJS::Serverless::Handler.new(signing_secret: ENV["SECRET"])
    #   HANDLER.register("email.send") { |ctx| … }
    #   run HANDLER                                   # config.ru
    #
    # It is made once, and keeps nothing between calls but connections and the answers to push deliveries of late.
    class Handler
      # The most that the body of a push delivery may have, in bytes: AWS Lambda takes no more.
      MAX_BODY = 6 * 1024 * 1024
      # The variable with the secrets that no argument gives, with commas between several.
      VARIABLE = "OJS_SIGNING_SECRET"
      # Name the server, where no argument does.
      URL_VARIABLES = %w[OJS_URL OJS_BACKEND_URL].freeze
      NOT_REPORTED = "the job is done, and the server could not be told"
      NO_SECRET = "a push endpoint needs its signing secret: set signing_secret: or #{VARIABLE}; " \
                  "unsigned: true trusts every request".freeze
      private_constant :NOT_REPORTED, :NO_SECRET, :URL_VARIABLES

      # The worker whose handlers run. It is never started.
      attr_reader :worker

      # +worker+ has handlers and middleware that exist already. Without it the handler makes one of its own for the
      # server +ojs_url+ (else OJS_URL), and takes every option of a Worker: +auth_token+, +encryption_keys+ and so on.
      #
      # +signing_secret+ is the secret of the push endpoint, or an Array of two while it is being replaced. A request
      # that was signed more than +tolerance+ seconds ago is refused. +unsigned+ trusts every request, which is right
      # only where the platform has checked the caller. +timeout+ is what the platform allows for one request, in
      # seconds; a run ends +safety_margin+ seconds before that with a failure that is tried again.
      def initialize(worker = nil, ojs_url: nil, signing_secret: nil, unsigned: false, tolerance: 300, timeout: nil,
                     safety_margin: 5, clock: -> { Time.now }, **options)
        if worker && (ojs_url || !options.empty?)
          raise ValidationError, "ojs_url and connection options belong to the worker that was given: set them there"
        end

        @secrets = secrets(signing_secret)
        if unsigned && !@secrets.empty?
          raise ValidationError, "unsigned checks no signature, and there is a signing_secret: leave one of them out"
        end

        @worker = worker || Worker.new(ojs_url, **options)
        @unsigned = unsigned
        @tolerance = Durations.seconds("tolerance", tolerance)
        @timeout = Durations.seconds("timeout", timeout)
        @margin = Durations.seconds("safety_margin", safety_margin)
        @clock = clock
        known = worker || ojs_url || options.key?(:transport) ||
                URL_VARIABLES.any? { |name| !ENV.fetch(name, "").strip.empty? }
        @runner = Runner.new(@worker, server: known ? true : false)
        # A signature from the future is valid for twice the tolerance.
        @deliveries = Deliveries.new(2 * @tolerance)
      end

      # Registers the handler of a job type, see Worker#register.
      def register(...)
        worker.register(...)
        self
      end

      # Adds a layer around every handler, see Worker#use.
      def use(...)
        worker.use(...)
        self
      end

      # Runs around every handler, see MiddlewareChain.
      def middleware
        worker.middleware
      end

      # The application of Rack.
      def call(env)
        body = env["rack.input"]&.read(MAX_BODY + 1) || ""
        headers = env.select { |name, _| name.start_with?("HTTP_") }
        answer(env["REQUEST_METHOD"], headers, body).to_a
      end

      # The answer to one request: 200 with the outcome of its job, 401 without a valid signature, 400, 405 or 413 for
      # what is no push delivery, and 500 where the handler has no signing secret. +headers+ are all headers, with names
      # in any case; +body+ is that of the request byte for byte.
      def answer(method, headers, body, deadline: Deadline.new(@timeout, @margin))
        refused = refusal_of(method, body)
        return refused if refused
        return without_secret if @secrets.empty? && !@unsigned

        now = @clock.call
        OJS.verify_webhook(body, headers, @secrets, tolerance: @tolerance, now: now) unless @unsigned
        delivery = Delivery.read(body)
        # The header with the delivery's id is not signed, the body is.
        key = delivery.id || Digest::SHA256.hexdigest(body)
        @deliveries.once(key, now) { Answer.json(200, told(@runner.run(delivery, deadline))) }
      rescue UntrustedWebhookError => e
        OJS.logger.warn { "a push request is refused: #{e.message}" }
        Answer.refusal(401, "unauthenticated", e.message, details: e.details)
      rescue ValidationError => e
        Answer.refusal(400, e.code, e.message)
      end

      # Runs the job in a CloudEvent, and reports its outcome: the data of a Pub/Sub message, or the job that is the
      # event's data itself. +event+ answers to +data+, or is a Hash. Raises DeliveryFailedError when the job has failed
      # and no server knows: the event comes again.
      #
      #   FunctionsFramework.cloud_event("jobs") { |event| HANDLER.handle_cloud_event(event) }
      def handle_cloud_event(event)
        data = event.respond_to?(:data) ? event.data : event["data"]
        data = Wire.load(data) if data.is_a?(String)
        message = data["message"] if data.is_a?(Hash)
        return deliver(data) unless message.is_a?(Hash)

        begin
          deliver(message["data"].to_s.unpack1("m0"), count: data["deliveryAttempt"].to_i)
        rescue ArgumentError
          raise Delivery.invalid("'data' of the Pub/Sub message is not base64")
        end
      end

      # An application of Rack that answers the host of Azure Functions for a queue trigger of a custom handler (Service
      # Bus or storage queue): with 200, or with 500 when the message shall come again. +binding+ is the name of the
      # trigger in function.json.
      def azure_queue(binding)
        lambda do |env|
          call = Wire.load(env["rack.input"].read.force_encoding(Encoding::UTF_8))
          message = call.is_a?(Hash) ? call.dig("Data", binding.to_s) : nil
          raise Delivery.invalid("the request of the host has no '#{binding}' in its Data") unless message

          # The host puts a text with JSON into one more text.
          2.times { message = Wire.load(message) if message.is_a?(String) }
          about = call["Metadata"] || {}
          deliver(message, count: (about["DeliveryCount"] || about["DequeueCount"]).to_i)
          Answer.json(200, { Outputs: {}, Logs: [] }).to_a
        rescue Error => e
          OJS.logger.error { "a message shall come again: #{e.message}" }
          Answer.refusal(500, e.code, e.message).to_a
        end
      end

      # Runs one job for a platform that takes an exception as a failure, and returns what callers of direct invocations
      # get: +status+, +job_id+, and +result+ or +error+. +count+ is how often the platform has delivered the job.
      def deliver(job, count: 1, deadline: Deadline.new(@timeout, @margin))
        delivery = Delivery.read(job)
        return { status: "stale", job_id: delivery.job_id } if count > 1 && @runner.stale?(delivery)

        outcome, taken = @runner.settle(delivery, deadline)
        raise_failure(outcome) unless taken
        told(outcome, job_id: delivery.job_id)
      end

      def inspect
        "#<#{self.class} types=#{worker.types.inspect}>"
      end

      private

      def secrets(given)
        given = ENV.fetch(VARIABLE, "").split(",") if given.nil?
        Array(given).map { |secret| secret.to_s.strip }.reject(&:empty?)
      end

      def refusal_of(method, body)
        if method != "POST"
          allow = { "allow" => "POST" }
          return Answer.refusal(405, "method_not_allowed", "a push delivery is a POST request", headers: allow)
        end
        return if body.bytesize <= MAX_BODY

        Answer.refusal(413, "payload_too_large", "a push delivery has at most #{MAX_BODY} bytes")
      end

      # Only a setting is missing: 401 would end the job and disable the endpoint.
      def without_secret
        OJS.logger.error { NO_SECRET }
        Answer.refusal(500, "internal_error", "the function has no signing secret: its log says what to set")
      end

      def told(outcome, more = {})
        status = outcome.first == Outcome::COMPLETED ? "completed" : "failed"
        { status: status, **more, **Outcome.reported(*outcome).last }
      end

      def raise_failure(outcome)
        error = Outcome.reported(*outcome).last[:error]
        error ||= { "message" => NOT_REPORTED, "code" => "not_reported", "retryable" => true }
        about = error.slice("code", "retryable", "details").transform_keys(&:to_sym)
        raise DeliveryFailedError.new(error["message"], **about)
      end
    end
  end
end
