# frozen_string_literal: true

# Made from xtask/schema.toml by make gen; do not edit.

module OJS
  # What may be said about a job besides its type and arguments, and how each is written on the wire.
  module Options
    PLAIN = ->(_name, value) { value }
    LIST = ->(name, value) { value.respond_to?(:to_a) ? value.to_a : raise(ValidationError, "#{name} must be a list, got #{value.inspect}") }
    MILLIS = Durations.method(:millis)
    TEXT = Durations.method(:text)
    TIME = Durations.method(:time)
    AFTER = Durations.method(:after)
    SECONDS = ->(name, value) { value.is_a?(Integer) ? value : Durations.seconds(name, value).ceil }

    # How each member of +retry+ is written, in the order of the wire.
    RETRY = {
      max_attempts: PLAIN,
      initial_interval: TEXT,
      backoff_coefficient: PLAIN,
      max_interval: TEXT,
      jitter: PLAIN,
      non_retryable_errors: LIST,
      on_exhaustion: PLAIN,
      backoff_strategy: PLAIN
    }.freeze

    # How each member of +unique+ is written, in the order of the wire.
    UNIQUE = {
      keys: LIST,
      args_keys: LIST,
      meta_keys: LIST,
      period: TEXT,
      states: LIST,
      on_conflict: PLAIN
    }.freeze

    # How each member of +train+ is written, in the order of the wire.
    TRAIN = {
      id: PLAIN,
      on_cancelled: PLAIN,
      on_discarded: PLAIN,
      cancel_active: PLAIN
    }.freeze

    # In the order of the wire: name there, and how the value is written.
    ALL = {
      queue: [:queue, PLAIN],
      priority: [:priority, PLAIN],
      timeout: [:timeout_ms, MILLIS],
      timeout_ms: [:timeout_ms, PLAIN],
      visibility_timeout: [:visibility_timeout_ms, MILLIS],
      visibility_timeout_ms: [:visibility_timeout_ms, PLAIN],
      result_ttl: [:result_ttl, SECONDS],
      delay: [:delay_until, AFTER],
      delay_until: [:delay_until, TIME],
      expires_at: [:expires_at, TIME],
      total_timeout: [:total_timeout, TEXT],
      retry: [:retry, ->(name, value) { Options.policy(name, RETRY, value) }],
      unique: [:unique, ->(name, value) { Options.policy(name, UNIQUE, value) }],
      rate_limit: [:rate_limit, PLAIN],
      train: [:train, ->(name, value) { Options.policy(name, TRAIN, value) }],
      tags: [:tags, LIST],
      version: [:version, PLAIN],
      tenant: [:tenant, PLAIN],
      fairness_key: [:fairness_key, PLAIN]
    }.freeze
    # These belong to the job itself.
    ENVELOPE = %i[id meta schema].freeze
    # Everything that a caller may name; +extra+ holds further options by their names on the wire.
    NAMES = [*ALL.keys, *ENVELOPE, :extra].freeze
    DEFAULTS = { queue: "default", priority: 0, tags: [] }.freeze

    TEXTUAL = [->(value) { (value.is_a?(String) || value.is_a?(Symbol)) && !value.empty? }, "text"].freeze
    WHOLE = [->(value) { value.is_a?(Integer) }, "a whole number"].freeze
    COUNTED = [->(value) { value.is_a?(Integer) && !value.negative? }, "a whole number, zero or more"].freeze
    LENGTH = [->(value) { value.is_a?(Integer) && value.positive? }, "more than zero: seconds (milliseconds for …_ms), or text such as \"30s\""].freeze
    # What values must be, by names of the wire, where the server would say no more than 400.
    MUST = {
      queue: TEXTUAL,
      priority: WHOLE,
      timeout_ms: LENGTH,
      visibility_timeout_ms: LENGTH,
      result_ttl: COUNTED,
      version: TEXTUAL,
      tenant: TEXTUAL,
      fairness_key: TEXTUAL,
      max_attempts: COUNTED
    }.freeze
    # What may stand in place of a policy.
    SHORT = {
      retry: [COUNTED.first, ->(attempts) { { max_attempts: attempts } },
              "how many attempts there are in all, or { max_attempts: 5, initial_interval: \"1s\" }"],
      train: [->(value) { value.is_a?(String) || value.is_a?(Symbol) }, ->(id) { { id: id.to_s } },
              "the id of a train, or { id: \"dest_123\", on_cancelled: :hold }"],
      unique: [->(value) { value == true }, ->(_) { { keys: %w[type args] } },
               "true (the same type and arguments), or { keys: %w[type args], period: \"1h\" }"]
    }.freeze
    # Of these +false+ says none, also where the type has a default.
    NONE = %i[unique train].freeze
    # These belong to one job, and not to all of a type.
    OF_ONE_JOB = [*ENVELOPE, :delay_until, :expires_at, :tenant].freeze

    # How many jobs of one kind may start or run at a time. How each member of +rate_limit+ is written.
    RATE_LIMIT = {
      key: PLAIN,
      concurrency: PLAIN,
      rate: ->(name, value) { Options.members(name, WINDOW, value) },
      throttle: ->(name, value) { Options.members(name, WINDOW, value) },
      on_limit: PLAIN,
      retry_priority: PLAIN,
      scope: PLAIN,
      max_per_second: PLAIN
    }.freeze

    # How many in which length of time. How each member of +window+ is written.
    WINDOW = {
      limit: PLAIN,
      period: TEXT
    }.freeze

    @with_defaults = {}

    module_function

    # The +options+ object of the wire: only what differs from the server's defaults, and all that is said where Worker#register has set
    # options of the type.
    def wire(given, type = nil)
      found = values(given)
      found.reject! { |name, value| DEFAULTS[name] == value || value == false } unless defaults?(type)
      found.merge(extra(given))
    end

    # Whether Worker#register has set options of this type.
    def defaults?(type)
      @with_defaults.key?(type)
    end

    # What goes to a transport of the program's own: with the options of each job's type, which the core fills in on its own connections.
    def completed(body)
      return body unless body.is_a?(Hash)

      whole = body.to_h do |name, value|
        case name
        when "jobs", "steps" then [name, Array(value).map { |one| completed(one) }]
        when "callbacks" then [name, value.transform_values { |one| completed(one) }]
        when "job_template" then [name, completed(value)]
        else [name, value]
        end
      end
      said = defaults?(body["type"]) || (body["options"].is_a?(Hash) && body["options"].key?("tenant"))
      said ? Wire.load(Native.completed_job(Wire.dump(whole))) : whole
    end

    # Options for all jobs of a type that this process makes. The core keeps them, for all of its clients.
    def defaults(type, given)
      own = given.keys & OF_ONE_JOB
      unless own.empty?
        raise ValidationError, "'#{own.first}' belongs to one job, and register sets defaults for all of '#{type}': give it to enqueue"
      end
      raise ValidationError, "'*' stands for types without a name, and defaults belong to one type: register that type" if type == "*"

      wire = wire(given.except(:delay))
      # A delay counts from each enqueue.
      wire[:delay] = Durations.text("delay", given[:delay]) if given[:delay]
      Native.set_job_defaults(type, Wire.dump(wire))
      @with_defaults = { **@with_defaults, type => true }.freeze
    end

    # A policy as the wire has it.
    def policy(kind, table, given)
      fits, long, wanted = SHORT.fetch(kind)
      return long.call(given) if fits.call(given)
      raise ValidationError, "#{kind} is #{wanted}; got #{given.inspect[0, 80]}" unless given.respond_to?(:to_hash)

      members(kind, table, given)
    end

    # The members of a policy or a limit as the wire has them.
    def members(kind, table, given)
      raise ValidationError, "#{kind} is a Hash with #{table.keys.join(", ")}; got #{given.inspect[0, 80]}" unless given.respond_to?(:to_hash)

      given.to_hash.each_with_object({}) do |(name, value), wire|
        name = name.to_sym
        # What earlier SDKs call it.
        name = :keys if kind == :unique && name == :key
        write = table.fetch(name) { raise ValidationError, Native.unknown_name("option", name.to_s, " of #{kind}", table.keys.map(&:to_s)) }
        wire[name] = checked("#{kind}[:#{name}]", name, write.call("#{kind}[:#{name}]", value)) unless value.nil?
      end
    end

    # Options by their names on the wire, each once.
    def values(given)
      given.each_with_object({}) do |(name, value), found|
        next if value.nil? || name == :extra

        to, write = ALL.fetch(name) { raise ValidationError, Native.unknown_name("option", name.to_s, "", NAMES.map(&:to_s)) }
        raise ValidationError, "'#{name}' and another option both set #{to}; give one of them" if found.key?(to)

        # false: none, and not even what the type's default says.
        found[to] = NONE.include?(name) && value == false ? false : checked(name, to, write.call(name, value))
      end
    end
    private_class_method :values

    def extra(given)
      extra = given[:extra] || {}
      return extra.to_hash if extra.respond_to?(:to_hash)

      raise ValidationError, "extra is a Hash of options by their names on the wire; got #{extra.inspect[0, 80]}"
    end
    private_class_method :extra

    def checked(name, to, value)
      return members(name, RATE_LIMIT, value) if to == :rate_limit

      fits, wanted = MUST[to]
      return value if fits.nil? || fits.call(value)

      raise ValidationError, "#{name} must be #{wanted}; got #{value.inspect[0, 80]}"
    end
    private_class_method :checked
  end
  private_constant :Options
end
