# frozen_string_literal: true

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

    # gen:ruby/options.j2 (make gen; do not edit)
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
      tags: [:tags, LIST]
    }.freeze
    # These belong to the job itself.
    ENVELOPE = %i[id meta schema].freeze
    # gen:end
    # Everything that a caller may name; +extra+ holds further options by their names on the wire.
    NAMES = [*ALL.keys, *ENVELOPE, :extra].freeze
    DEFAULTS = { queue: "default", priority: 0, tags: [] }.freeze

    module_function

    # The +options+ object of the wire: only what differs from the defaults.
    def wire(given)
      found = {}
      given.each do |name, value|
        next if value.nil? || name == :extra

        to, write = ALL.fetch(name) { raise ValidationError, "unknown option '#{name}'; there are #{NAMES.join(", ")}" }
        raise ValidationError, "'#{name}' and another option both set #{to}; give one of them" if found.key?(to)

        found[to] = write.call(name, value)
      end
      found.reject! { |name, value| DEFAULTS[name] == value }
      found.merge(given[:extra].to_h)
    end

    # A policy as the wire has it.
    def policy(kind, table, given)
      raise ValidationError, "#{kind} must be a Hash, got #{given.inspect}" unless given.respond_to?(:to_h)

      given.to_h.each_with_object({}) do |(name, value), wire|
        name = name.to_sym
        # What earlier SDKs call it.
        name = :keys if kind == :unique && name == :key
        write = table.fetch(name) { raise ValidationError, "unknown member '#{name}' of #{kind}; there are #{table.keys.join(", ")}" }
        wire[name] = write.call(name, value) unless value.nil?
      end
    end
  end
  private_constant :Options
end
