# frozen_string_literal: true

require "json"

module OJS
  # JSON, strictly: what has no form in JSON is an error, never its +to_s+. Integers of any size survive.
  module Wire
    # Deeper than any server takes.
    DEPTH = 500
    GENERATE = { max_nesting: 0 }.freeze
    PARSE = { max_nesting: false }.freeze

    module_function

    # JSON text of a value.
    def dump(value)
      check(value, 0)
      JSON.generate(value, GENERATE)
    rescue JSON::GeneratorError, EncodingError => e
      raise ValidationError.new("this has no form in JSON: #{e.message}", code: "invalid_payload")
    end

    # The value of a JSON text; nil of an empty one.
    def load(text)
      JSON.parse(text, PARSE) unless text.empty?
    rescue JSON::ParserError => e
      raise Error.new("the answer is not JSON: #{e.message}", code: "unexpected_answer")
    end

    # Whether a value is data of the kinds JSON knows, its members not looked at.
    def data?(value)
      case value
      when nil, true, false, String, Symbol, Integer, Float, Hash, Array then true
      else false
      end
    end

    def check(value, depth)
      raise ValidationError.new("deeper than #{DEPTH} levels, or it contains itself", code: "invalid_payload") if depth > DEPTH

      case value
      when Hash then value.each { |key, member| check_key(key) || check(member, depth + 1) }
      when Array then value.each { |member| check(member, depth + 1) }
      else wrong(value) unless data?(value)
      end
    end
    private_class_method :check

    def check_key(key)
      return if key.is_a?(String) || key.is_a?(Symbol) || key.is_a?(Integer)

      raise ValidationError.new("#{key.class} is no key of a JSON object", code: "invalid_payload")
    end
    private_class_method :check_key

    def wrong(value)
      raise ValidationError.new("#{value.class} has no form in JSON: pass text, a number, a Hash or an Array", code: "invalid_payload")
    end
    private_class_method :wrong
  end
  private_constant :Wire
end
