# frozen_string_literal: true

module OJS
  # A job to be. Enqueue middleware gets it and may change everything but its id.
  class JobRequest
    attr_accessor :type, :args, :meta, :schema
    # The options, by name.
    attr_accessor :options
    attr_reader :id

    # +args+ is an Array; anything else becomes an Array of one.
    def initialize(type, args = [], options = nil, **more)
      type = type.name if type.is_a?(Symbol)
      unless type.is_a?(String) && !type.empty?
        what = "a job needs a type, such as \"email.send\"; got #{type.inspect}"
        raise ValidationError.new(what, code: "invalid_payload")
      end

      given = self.class.hash_of("options", options).transform_keys(&:to_sym).merge(more)
      @type = type
      @args = self.class.wrap(args)
      @id, @meta, @schema = given.values_at(*Options::ENVELOPE)
      @options = given.except(*Options::ENVELOPE)
    end

    # A request from the forms that are handy to write: a request, <tt>{ type:, args:, **options }</tt>, <tt>[type, args,
    # options]</tt>, a type.
    def self.of(value)
      case value
      when JobRequest then value
      when String, Symbol then new(value)
      when Array then new(*value)
      when Hash
        given = value.transform_keys(&:to_sym)
        new(given[:type], given.fetch(:args, []), given[:options], **given.except(:type, :args, :options))
      else raise ValidationError.new("a job is { type:, args: … }, [type, args] or a type, got #{value.class}", code: "invalid_payload")
      end
    end

    # What was given for +name+, which must be a Hash or nothing.
    def self.hash_of(name, given) # :nodoc:
      return {} if given.nil?
      return given.to_hash if given.respond_to?(:to_hash)

      example = name == "meta" ? "tenant_id: \"acme\"" : "queue: \"mail\""
      raise ValidationError, "#{name} is a Hash, such as { #{example} }; got #{given.inspect[0, 80]}"
    end

    # Arguments as the wire wants them.
    def self.wrap(args)
      case args
      when nil then []
      when Array then args
      else [args]
      end
    end

    # The queue it goes to.
    def queue
      options[:queue] || "default"
    end

    # The request as the wire has it.
    def to_h
      body = { type: type, args: self.class.wrap(args) }
      body[:id] = id if id
      meta = self.class.hash_of("meta", self.meta)
      body[:meta] = meta unless meta.empty?
      body[:schema] = schema if schema
      wire = Options.wire(options, type)
      body[:options] = wire unless wire.empty?
      body
    end

    # Never the arguments: they may be secret, and logs are not.
    def inspect
      "#<OJS::JobRequest type=#{type.inspect} queue=#{queue.inspect}>"
    end
  end
end
