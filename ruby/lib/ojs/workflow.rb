# frozen_string_literal: true

module OJS
  # A description of what belongs together, made by OJS.chain, OJS.group and OJS.batch. Client#workflow sends it. May be a step of
  # another one.
  class Workflow
    attr_reader :type, :steps, :name, :callbacks, :options

    def initialize(type, steps, name: nil, callbacks: {}, options: {})
      steps = steps.first if steps.size == 1 && list?(steps.first)
      raise ValidationError.new("a workflow needs at least one job", code: "invalid_payload") if steps.empty?

      @type = type
      @steps = steps.map { |step| step.is_a?(Workflow) ? step : JobRequest.of(step) }
      @name = name
      @callbacks = callbacks.transform_values { |job| JobRequest.of(job) }
      @options = options
    end

    # The description as the wire has it.
    def to_h
      wire = { type: type }
      wire[:name] = name if name
      wire[type == "chain" ? :steps : :jobs] = steps.map(&:to_h)
      wire[:callbacks] = callbacks.transform_values(&:to_h) unless callbacks.empty?
      wire[:options] = options unless options.empty?
      wire
    end

    private

    # An Array of steps, and not the step <tt>[type, args]</tt>.
    def list?(step)
      step.is_a?(Array) && !step.first.is_a?(String) && !step.first.is_a?(Symbol)
    end
  end

  class WorkflowStatus < Record # :nodoc:
    def inspect
      "#<OJS::WorkflowStatus id=#{id.inspect} type=#{type.inspect} state=#{state.inspect}>"
    end
  end

  class << self
    # One after the other; every step sees the results of those before it as <tt>ctx.parent_results</tt>.
    #
    #   OJS.chain({ type: "data.fetch", args: ["https://…"] }, { type: "data.load" }, name: "etl")
    def chain(*steps, name: nil, options: {})
      Workflow.new("chain", steps, name: name, options: options)
    end

    # All at the same time, in no order.
    def group(*jobs, name: nil, options: {})
      Workflow.new("group", jobs, name: name, options: options)
    end

    # All at the same time, then callbacks: +on_complete+ in any case, +on_success+ when all succeeded, +on_failure+ when any failed.
    def batch(*jobs, name: nil, options: {}, on_complete: nil, on_success: nil, on_failure: nil)
      callbacks = { on_complete: on_complete, on_success: on_success, on_failure: on_failure }.compact
      Workflow.new("batch", jobs, name: name, callbacks: callbacks, options: options)
    end
  end
end
