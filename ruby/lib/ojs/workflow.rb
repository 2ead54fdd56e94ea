# frozen_string_literal: true

module OJS
  # A description of what belongs together, made by OJS.chain, OJS.group, OJS.batch and OJS.graph.
  # Client#workflow sends it. May be a step of another one.
  class Workflow
    attr_reader :type, :steps, :name, :callbacks, :options

    def initialize(type, steps, name: nil, callbacks: {}, options: {})
      steps = steps.first if steps.size == 1 && list?(steps.first)
      raise ValidationError.new("a workflow needs at least one job", code: "invalid_payload") if steps.empty?

      @type = type
      @steps = steps.map { |step| type == "graph" ? Node.checked(step) : Workflow.step(step) }
      @name = name
      @callbacks = callbacks.transform_values { |job| JobRequest.of(job) }
      @options = options
    end

    # A job or a workflow, from what is handy to write.
    def self.step(given)
      if given.is_a?(Node)
        raise ValidationError.new("a node is a step of a graph: pass it to OJS.graph", code: "invalid_payload")
      end

      given.is_a?(Workflow) ? given : JobRequest.of(given)
    end

    # The description as the wire has it.
    def to_h
      wire = { type: type }
      wire[:name] = name if name
      wire[%w[chain graph].include?(type) ? :steps : :jobs] = steps.map(&:to_h)
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

  # A step of a graph, made by OJS.node.
  class Node
    attr_reader :id, :step, :after

    def self.checked(given)
      return given if given.is_a?(Node)

      raise ValidationError.new("a graph is made of nodes: OJS.node(id, step, after: [...])", code: "invalid_payload")
    end

    def initialize(id, step, after: [])
      @id = id.to_s
      @step = Workflow.step(step)
      @after = Array(after).map(&:to_s)
    end

    # The step as the wire has it.
    def to_h
      wire = step.to_h.merge(id: id)
      wire[:depends_on] = after unless after.empty?
      wire
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

    # A step of a graph: +id+ is its name there, +after+ names the nodes that must have completed before it begins.
    def node(id, step, after: [])
      Node.new(id, step, after: after)
    end

    # Each node runs as soon as those before it have completed, and sees their results as <tt>ctx.parent_results</tt>.
    #
    #   OJS.graph(OJS.node(:orders, ["data.fetch", ["orders"]]), OJS.node(:report, "report.build", after: :orders))
    def graph(*nodes, name: nil, options: {})
      Workflow.new("graph", nodes, name: name, options: options)
    end

    # All at the same time, then callbacks: +on_complete+ in any case, +on_success+ when all succeeded, +on_failure+ when any failed.
    def batch(*jobs, name: nil, options: {}, on_complete: nil, on_success: nil, on_failure: nil)
      callbacks = { on_complete: on_complete, on_success: on_success, on_failure: on_failure }.compact
      Workflow.new("batch", jobs, name: name, callbacks: callbacks, options: options)
    end
  end
end
