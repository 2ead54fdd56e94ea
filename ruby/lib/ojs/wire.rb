# frozen_string_literal: true

require "json"

module OJS
  # JSON, strictly: what has no form in JSON is an error, never its +to_s+ (see Values). Integers of any size survive.
  module Wire
    GENERATE = { max_nesting: 0 }.freeze
    # Deeper than any value that may be sent.
    PARSE = { max_nesting: 10_000 }.freeze
    LONG = /\d{#{Values::DIGITS + 1}}/
    STRING = /"(?:[^"\\]|\\.)*"/m

    module_function

    # JSON text of a value. +name+ is what a path in an error begins with, where the value is no request.
    def dump(value, name = nil)
      Values.check(value, name)
      JSON.generate(value, GENERATE)
    rescue JSON::GeneratorError, EncodingError => e
      raise ValidationError.new("this has no form in JSON: #{e.message}", code: "invalid_payload")
    end

    # The value of a JSON text; nil of an empty one. Raises Error where it is not JSON, never with the text itself: it may hold what must
    # not be shown.
    def load(text)
      return if text.empty?

      unreadable("it is not UTF-8") unless text.valid_encoding?
      unreadable("an integer has more than #{Values::DIGITS} digits") if text.match?(LONG) && text.gsub(STRING, '""').match?(LONG)
      JSON.parse(text, PARSE)
    rescue JSON::NestingError
      unreadable("it is nested too deeply")
    rescue JSON::ParserError, EncodingError
      unreadable("it is malformed")
    end

    # Whether a value is data of the kinds JSON knows, its members not looked at.
    def data?(value)
      case value
      when nil, true, false, String, Symbol, Integer, Float, Hash, Array then true
      else false
      end
    end

    def unreadable(why)
      raise Error.new("the answer is not JSON that this gem can read: #{why}", code: "unexpected_answer"), cause: nil
    end
    private_class_method :unreadable
  end
  private_constant :Wire
end
