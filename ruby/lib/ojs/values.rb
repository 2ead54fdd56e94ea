# frozen_string_literal: true

module OJS
  # Which values go over the wire: those that arrive as they were passed (a Symbol arrives as text). Anything else is refused, with its
  # place and with what to pass instead, before anything is sent. The table is in the guide, docs/guide/values.md.
  module Values
    # Deeper than any server takes: a value that contains itself ends here.
    DEPTH = 500
    # Integers of more digits are refused: Python reads no longer ones.
    DIGITS = 4300
    BITS = (10**DIGITS).bit_length
    # What to pass instead, by the name of a class or of an ancestor.
    REMEDIES = {
      "Time" => ".iso8601(3)", "Date" => ".iso8601", "ActiveSupport::TimeWithZone" => ".iso8601(3)", "ActiveSupport::Duration" => ".to_i",
      "BigDecimal" => ".to_s", "Rational" => ".to_s", "Complex" => ".to_s", "Set" => ".to_a", "Range" => ".to_a",
      "Enumerator" => ".to_a", "Struct" => ".to_h", "Data" => ".to_h", "OpenStruct" => ".to_h", "Exception" => ".message",
      "Pathname" => ".to_s", "URI::Generic" => ".to_s", "Regexp" => ".source", "Module" => ".name", "ActiveRecord::Relation" => ".ids",
      "ActionController::Parameters" => ".permit(…).to_h", "ActiveRecord::Base" => ".id, and find it in the handler",
      "Proc" => "what the handler needs of it", "Method" => "what the handler needs of it", "IO" => "its path"
    }.freeze
    # What is wrong, and the steps to the place, the last one first.
    Fault = Struct.new(:why, :steps)

    module_function

    # Raises ValidationError unless all of a value has a form. +name+ begins the path, where the value is no request.
    def check(value, name = nil)
      fault = fault(value, 0) or return

      steps = fault.steps.size > 40 ? [*fault.steps.last(3).reverse, "…"] : fault.steps.reverse
      path = "#{name}#{steps.join}".delete_prefix(".")
      raise ValidationError.new(path.empty? ? fault.why : "#{path}: #{fault.why}", code: "invalid_payload")
    end

    def fault(value, depth)
      case value
      when nil, true, false then nil
      when String then text_fault(value)
      when Integer then Fault.new("an integer of more than #{DIGITS} digits: pass .to_s", []) if value.bit_length >= BITS
      when Float then Fault.new("JSON has no #{value}: pass nil, or text", []) unless value.finite?
      when Symbol then text_fault(value.name)
      when Hash then hash_fault(value, depth)
      when Array then array_fault(value, depth)
      else Fault.new("#{named(value.class.name || "object")} has no form in JSON: pass #{remedy(value)}", [])
      end
    end

    def array_fault(array, depth)
      return too_deep if depth >= DEPTH

      array.each_with_index do |member, index|
        found = fault(member, depth + 1) or next
        found.steps << "[#{index}]"
        return found
      end
      nil
    end
    private_class_method :array_fault

    def hash_fault(hash, depth)
      return too_deep if depth >= DEPTH

      symbols = false
      hash.each do |key, member|
        symbols ||= key.is_a?(Symbol)
        found = key_fault(key) and return found
        found = fault(member, depth + 1) or next
        found.steps << (/\A[A-Za-z_]\w*\z/.match?(key) ? ".#{key}" : "[#{key.to_s.inspect}]")
        return found
      end
      twice(hash) if symbols
    end
    private_class_method :hash_fault

    # A Symbol and a String of the same letters are one name in JSON: one of their members would be lost.
    def twice(hash)
      name = hash.each_key.find { |key| key.is_a?(Symbol) && hash.key?(key.name) } or return
      Fault.new("the keys #{name.inspect} and #{name.name.inspect} are one name in JSON: leave one of them out", [])
    end
    private_class_method :twice

    def key_fault(key)
      return text_fault(key.is_a?(Symbol) ? key.name : key) if key.is_a?(String) || key.is_a?(Symbol)

      shown = key.is_a?(Numeric) || key.nil? || key == true || key == false ? key.inspect : "of a member"
      Fault.new("the key #{shown} is #{named(key.class.name || "object")}, and keys in JSON are text: pass key.to_s", [])
    end
    private_class_method :key_fault

    def text_fault(text)
      return if text.encoding == Encoding::UTF_8 ? text.valid_encoding? : text.ascii_only?
      return if text.encoding != Encoding::BINARY && text.valid_encoding? && convertible?(text)

      Fault.new("the text is not #{text.encoding == Encoding::BINARY ? "UTF-8 but binary" : "valid #{text.encoding}"}: " \
                "pass [bytes].pack(\"m0\"), which is Base64, or text.scrub", [])
    end
    private_class_method :text_fault

    def convertible?(text)
      text.encode(Encoding::UTF_8)
      true
    rescue EncodingError
      false
    end
    private_class_method :convertible?

    def too_deep
      Fault.new("nested more than #{DEPTH} levels deep, or it contains itself: pass flatter data", [])
    end
    private_class_method :too_deep

    def remedy(value)
      known = value.class.ancestors.filter_map { |ancestor| REMEDIES[ancestor.name] }.first
      return known if known
      return ".to_h" if value.respond_to?(:to_h)

      "text, a number, a Hash or an Array"
    end
    private_class_method :remedy

    def named(name)
      "#{name.match?(/\A[AEIO]/i) ? "an" : "a"} #{name}"
    end
    private_class_method :named
  end
  private_constant :Values
end
