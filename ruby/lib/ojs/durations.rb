# frozen_string_literal: true

module OJS
  # Lengths of time are seconds (also an ActiveSupport::Duration), or text: "5m", "1h", "PT30S". Points in time are anything with
  # +iso8601+ (Time, DateTime), or RFC 3339 text.
  module Durations
    module_function

    # Seconds of a length; nil stays nil.
    def seconds(name, value)
      return if value.nil?
      return Native.duration_seconds(value) if value.is_a?(String)

      length = value.is_a?(Time) ? raise(TypeError) : Float(value)
      return length if length >= 0 && length.finite?

      raise ArgumentError
    rescue ArgumentError, TypeError, ValidationError
      raise ValidationError, "#{name} must be zero or more seconds, or text such as \"5m\" or \"PT5M\"; got #{value.inspect}"
    end

    # Whole milliseconds of a length.
    def millis(name, value)
      (seconds(name, value) * 1000).round
    end

    # ISO 8601 text of a length. Text in that form stays as it is.
    def text(name, value)
      return value if value.is_a?(String) && value.start_with?("P")

      Native.duration_text(seconds(name, value))
    end

    # RFC 3339 text of the time after a delay.
    def after(name, delay)
      Native.time_after(seconds(name, delay))
    end

    # RFC 3339 text of a point in time.
    def time(name, value)
      return value if value.is_a?(String)
      return value.iso8601(3) if value.is_a?(Time)
      return value.to_time.iso8601(3) if value.respond_to?(:to_time) && value.respond_to?(:hour)

      raise ValidationError, "#{name} must be a Time, a DateTime or RFC 3339 text, got #{value.inspect}"
    end
  end
  private_constant :Durations
end
