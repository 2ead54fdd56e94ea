# frozen_string_literal: true

module OJS
  # No handler is registered for the type of a job.
  class NoHandler < NonRetryableError
    def initialize(type)
      super("No handler is registered for job type '#{type}'.", code: "no_handler")
    end
  end
  private_constant :NoHandler

  # From what a handler did to what the core gets: a kind, and JSON text or seconds.
  module Outcome
    # gen:ruby/outcomes.j2 (make gen; do not edit)
    # Done; the payload is the result as JSON text, or empty.
    COMPLETED = 0
    # Failed; the payload is a JSON object: message, perhaps code, type, retryable, details, backtrace.
    FAILED = 1
    # Given back without counting an attempt; no payload.
    RELEASED = 2
    # To run again after the delay, without counting a failure; no payload.
    SNOOZED = 3
    # gen:end

    # The server keeps no more frames.
    FRAMES = 50
    # Where the files of this gem are.
    PACKAGE = "#{__dir__}/".freeze
    private_constant :PACKAGE

    module_function

    # The handler came to its end.
    def success(ctx)
      [COMPLETED, ctx.result.nil? ? nil : Wire.dump(ctx.result, "result")]
    rescue ValidationError => e
      failed(e, code: "serialization_error", message: "the handler's result cannot be kept: #{e.message}", retryable: false)
    end

    # How the plain protocol reports an outcome: the path of the call, and its members beside those that name the job.
    # An error has Strings as keys, as JSON that was read has.
    def reported(kind, payload)
      return ["/workers/ack", payload ? { result: Wire.load(payload) } : {}] if kind == COMPLETED
      return ["/workers/nack", { error: Wire.load(payload) }] if kind == FAILED

      code = kind == SNOOZED ? "snooze" : "released"
      error = { "code" => code, "type" => code, "message" => "given back by the handler", "retryable" => true }
      return ["/workers/nack", { requeue: true, error: error }] if kind == RELEASED

      # Servers without +delay_ms+ read the delay from the details.
      delay = (payload * 1000).round
      ["/workers/nack", { requeue: true, delay_ms: delay, error: { **error, "details" => { "snooze_ms" => delay } } }]
    end

    # The job fails before a handler of it has run, or because its handler does not end.
    def refused(code:, type:, message:, retryable:)
      [FAILED, Wire.dump({ code: code, type: type, message: clean(message), retryable: retryable })]
    end

    # It raised: anything.
    def failure(ctx, error)
      case error
      when Snooze then [SNOOZED, error.delay]
      when JobCancelled
        ctx.cancelled? ? [RELEASED, nil] : failed(error, code: "cancelled", retryable: false)
      when NonRetryableError then failed(error, code: error.code.to_s, retryable: false, details: error.details)
      else failed(error, code: "handler_error", retryable: true)
      end
    end

    def failed(error, code:, retryable:, message: nil, details: nil)
      type = error.is_a?(NoHandler) ? "NoHandler" : error.class.name || "Exception"
      message = clean(message || text(error))
      trace = frames(error).map { |line| clean(line) }
      about = { code: code, type: type, message: message.empty? ? type : message, retryable: retryable, backtrace: trace }
      ours = { "error_class" => type, "stack" => trace.join("\n") }
      begin
        [FAILED, Wire.dump({ **about, details: ours.merge((details || {}).to_h.transform_keys(&:to_s)) })]
      rescue StandardError
        [FAILED, Wire.dump({ **about, details: ours })]
      end
    end
    private_class_method :failed

    # The backtrace without the frames of this gem, which are on both sides of the handler's frames. An error that the
    # gem raised by itself has only frames of the gem; then all of them are kept.
    def frames(error)
      all = Array(error.backtrace)
      outside = all.reject { |line| line.start_with?(PACKAGE) }
      (outside.empty? ? all : outside).first(FRAMES)
    end
    private_class_method :frames

    def text(error)
      error.message.to_s
    rescue StandardError
      "an error that cannot be printed"
    end
    private_class_method :text

    # Text that UTF-8 has a form for.
    def clean(value)
      value = value.dup.force_encoding(Encoding::UTF_8) if value.encoding == Encoding::BINARY
      value.encode(Encoding::UTF_8, invalid: :replace, undef: :replace).scrub
    end
    private_class_method :clean
  end
  private_constant :Outcome
end
