# frozen_string_literal: true

module OJS
  # Settings of framework adapters by the names that the specification prints (framework adapters, section 5.2): what comes from a file.
  module AdapterConfig # :nodoc:
    TOP = { "ojs_url" => :url=, "backend_type" => :backend_type=, "outbox" => nil }.freeze
    OUTBOX = { "enabled" => :outbox_enabled=, "table_name" => :outbox_table=, "poll_interval" => :outbox_poll_interval=,
               "batch_size" => :outbox_batch_size= }.freeze

    module_function

    # Sets what +settings+ says, with or without "adapter" around it; keys are text or symbols.
    def apply(settings, configuration)
      settings = named(settings)
      settings = named(settings["adapter"]) if settings.keys == ["adapter"]
      set(settings, TOP, configuration)
      set(named(settings["outbox"] || {}), OUTBOX, configuration)
      configuration.adapter ||= :active_record
    end

    def set(settings, known, configuration)
      settings.each do |name, value|
        setter = known.fetch(name) do
          raise ValidationError, Native.unknown_name("setting", name.to_s, "", known.keys.map(&:to_s))
        end
        configuration.public_send(setter, value) if setter
      end
    end

    def named(settings)
      return settings.to_hash.transform_keys(&:to_s) if settings.respond_to?(:to_hash)

      raise ValidationError, "settings are a Hash, such as { ojs_url: …, outbox: { … } }; got #{settings.inspect}"
    end
  end
  private_constant :AdapterConfig
end
