# frozen_string_literal: true

module OJS
  module Serverless
    # Handlers as a function of AWS Lambda: SQS, function URLs, API Gateway, EventBridge, and direct invocations. Lambda
    # says itself how much time an invocation has.
    #
    #   HANDLER = OJS::Serverless::LambdaHandler.new(ojs_url: "https://ojs.example.com")
    #   HANDLER.register("email.send") { |ctx| … }
    #
    #   def handler(event:, context:)
    #     HANDLER.handle_sqs(event: event, context: context)
    #   end
    class LambdaHandler < Handler
      # Takes an event of any kind, which it tells by its members.
      def handle(event:, context: nil)
        raise Delivery.invalid("the event must be an object") unless event.is_a?(Hash)
        return handle_sqs(event: event, context: context) if event.key?("Records")
        return handle_http(event: event, context: context) if http?(event)
        return handle_event_bridge(event: event, context: context) if event.key?("detail-type") || event.key?("source")

        handle_direct(event: event, context: context)
      end

      # Runs the jobs of a batch and returns those that SQS shall deliver again, as +batchItemFailures+. The event
      # source mapping needs ReportBatchItemFailures.
      #
      # A message comes again when it cannot be read, and when its outcome did not reach the server. Where the server
      # has taken note of a failure, the server decides about the next attempt. In a FIFO queue the first failure that
      # will be tried again ends the work on its message group: that message and those behind it come again, and other
      # groups go on. Jobs of other queues run side by side, as many as a worker would run.
      def handle_sqs(event:, context: nil)
        deadline = Deadline.of_lambda(context, @margin, @timeout)
        records = event.fetch("Records", [])
        failed = records.any? { |record| group(record) } ? in_order(records, deadline) : side_by_side(records, deadline)
        { "batchItemFailures" => failed.map { |record| { "itemIdentifier" => record["messageId"] } } }
      end

      # Answers a push delivery that came by a function URL or API Gateway (payload formats 1.0 and 2.0).
      def handle_http(event:, context: nil)
        body = event["body"].to_s
        body = body.unpack1("m0") if event["isBase64Encoded"]
        method = event["httpMethod"] || event.dig("requestContext", "http", "method")
        headers = event["headers"] || (event["multiValueHeaders"] || {}).transform_values(&:first)
        http(answer(method.to_s, headers, body, deadline: Deadline.of_lambda(context, @margin, @timeout)))
      rescue ArgumentError
        http(Answer.refusal(400, "invalid_request", "the body is not base64"))
      end

      # Runs the job in +detail+. Raises DeliveryFailedError when the job has failed and no server knows: then Lambda
      # calls the function again.
      def handle_event_bridge(event:, context: nil)
        deliver(event["detail"], deadline: Deadline.of_lambda(context, @margin, @timeout))
      end

      # Runs the job that the event is, and returns +status+, +job_id+, and +result+ or +error+.
      def handle_direct(event:, context: nil)
        delivery = Delivery.read(event)
        outcome, = @runner.settle(delivery, Deadline.of_lambda(context, @margin, @timeout))
        told(outcome, job_id: delivery.job_id)
      end

      private

      # The records of a FIFO queue that shall come again.
      def in_order(records, deadline)
        stopped = {}
        records.reject do |record|
          group = group(record)
          done = !stopped[group] && settled?(record, deadline, ordered: true)
          stopped[group] = true unless done
          done
        end
      end

      # The records of a standard queue that shall come again.
      def side_by_side(records, deadline)
        waiting = Queue.new(records.each_with_index.to_a).close
        failed = Queue.new
        threads = Array.new([worker.concurrency, records.size].min) do
          Thread.new do
            while (record, place = waiting.pop)
              failed << [place, record] unless settled?(record, deadline, ordered: false)
            end
          end
        end
        threads.each(&:join)
        Array.new(failed.size) { failed.pop }.sort_by(&:first).map(&:last)
      end

      def http?(event)
        event.key?("httpMethod") || !event.dig("requestContext", "http").nil?
      end

      def http(answer)
        { "statusCode" => answer.status, "headers" => answer.headers, "body" => answer.body,
          "isBase64Encoded" => false }
      end

      # The message group of a FIFO queue; nil in a standard queue, where groups order nothing.
      def group(record)
        record.dig("attributes", "MessageGroupId").to_s if record["eventSourceARN"].to_s.end_with?(".fifo")
      end

      # Runs the job of one message; false when SQS shall deliver it again.
      def settled?(record, deadline, ordered:)
        return false if deadline.passed?

        delivery = Delivery.read(record["body"].to_s)
        return true if record.dig("attributes", "ApproximateReceiveCount").to_i > 1 && @runner.stale?(delivery)

        outcome, taken = @runner.settle(delivery, deadline)
        taken && !(ordered && comes_again?(outcome))
      rescue ValidationError => e
        OJS.logger.error { "message #{record["messageId"]} of SQS has no job: #{e.message}" }
        false
      end

      def comes_again?(outcome)
        error = Outcome.reported(*outcome).last[:error]
        !error.nil? && error["retryable"]
      end
    end
  end
end
