# frozen_string_literal: true

module OJS
  class BulkItem < Record # :nodoc:
    # The job's id, of a bulk cancel, retry or delete.
    def job_id
      to_h["job_id"]
    end

    # Whether it went well.
    def ok?
      !to_h["error"]
    end

    def inspect
      "#<OJS::BulkItem index=#{index.inspect} status=#{status.inspect}>"
    end
  end

  class BulkResult < Record # :nodoc:
    def initialize(data)
      super
      return if data["total_matched"].is_a?(Integer) && data["skipped"].is_a?(Integer) && data["items"].is_a?(Array)

      raise Error.new("the answer does not say what became of the jobs", code: "unexpected_answer")
    end

    # Jobs that were changed.
    def succeeded
      matched - skipped
    end

    # In the order of the ids; of a filter the first 1,000.
    def items
      Array(to_h["items"]).map { |item| BulkItem.new(item) }
    end
  end

  # Which jobs a bulk call means: ids, or a filter.
  module Target
    MEMBERS = { queue: :queue, type: :type, states: :state, priority: :priority, enqueued_after: :enqueued_after,
                enqueued_before: :enqueued_before, meta: :meta }.freeze
    TIMES = %i[enqueued_after enqueued_before].freeze

    module_function

    # The form on the wire.
    def wire(job_ids, filter)
      filter = filter.compact
      raise ValidationError, "job_ids is an Array of ids, not one" if job_ids.is_a?(String)

      if job_ids.nil? == filter.empty?
        raise ValidationError, "name the jobs by ids or by a filter (#{MEMBERS.keys.join(", ")}), and not by both"
      end

      job_ids ? { job_ids: job_ids.to_a } : { filter: filter.to_h { |name, value| member(name, value) } }
    end

    def member(name, value)
      to = MEMBERS.fetch(name) { raise ValidationError, "unknown filter '#{name}'; there are #{MEMBERS.keys.join(", ")}" }
      value = Durations.time(name, value) if TIMES.include?(name)
      value = Array(value) if name == :states
      [to, value]
    end
    private_class_method :member
  end
  private_constant :Target
end
