# frozen_string_literal: true

module OJS
  # Named layers around an enqueue or a handler. The first one added is the outermost.
  #
  # A layer is a block or anything that answers to +call+. It gets the subject (the JobRequest, or the JobContext) and what goes on
  # inwards, as a second argument or as a block:
  #
  #   worker.use("logging") { |ctx, nxt| puts ctx.type; nxt.call }
  #
  #   class Logging
  #     def call(ctx)
  #       puts ctx.type
  #       yield
  #     end
  #   end
  #   worker.use("logging", Logging.new)
  #
  # Going on is called once, or not at all; given another subject, it passes that on. What a layer returns is not looked at, so the
  # last line of a block does no harm.
  class MiddlewareChain
    # gen:ruby/enqueue_order.j2 (make gen; do not edit)
    # The layers around an enqueue whose order the specification fixes, outermost first ("Extension Interactions", section 14). Layers
    # with other names may stand anywhere.
    ENQUEUE_ORDER = %w[trace_inject auth validate unique rate_limit encrypt].freeze
    # gen:end

    def initialize(order = [])
      @order = order
      @layers = []
      @sealed = false
    end

    # Adds the innermost layer. The name may be left out.
    def add(name = nil, layer = nil, &block)
      insert(@layers.size, name, layer, block)
    end

    # Adds the outermost layer.
    def prepend(name = nil, layer = nil, &block)
      insert(0, name, layer, block)
    end

    # Adds a layer just outside another.
    def insert_before(existing, name, layer = nil, &block)
      insert(index(existing), name, layer, block)
    end

    # Adds a layer just inside another.
    def insert_after(existing, name, layer = nil, &block)
      insert(index(existing) + 1, name, layer, block)
    end

    # Takes a layer out.
    def remove(name)
      check_open
      @layers.delete_at(index(name))
      self
    end

    # The names, outermost first.
    def names
      @layers.map(&:first)
    end

    # Runs the layers around the block. The chain may not change from now on.
    def run(subject, at = 0, &inner)
      @sealed = true
      return yield(subject) if at == @layers.size

      _, layer, takes_next = @layers[at]
      called = false
      going_on = lambda do |changed = subject|
        raise MiddlewareError, "a middleware called next twice" if called

        called = true
        run(changed, at + 1, &inner)
      end
      takes_next ? layer.call(subject, going_on, &going_on) : layer.call(subject, &going_on)
    end

    private

    # Whether a layer takes what goes on inwards as an argument.
    def takes_next?(layer)
      kinds = (layer.respond_to?(:parameters) ? layer : layer.method(:call)).parameters.map(&:first)
      kinds.include?(:rest) || kinds.count { |kind| %i[req opt].include?(kind) } > 1
    end

    def insert(index, name, layer, block)
      check_open
      name, layer = nil, name if layer.nil? && block.nil? && name.respond_to?(:call)
      layer ||= block
      raise MiddlewareError, "middleware '#{name}' must be a block or answer to call, got #{layer.class}" unless layer.respond_to?(:call)

      name = name.nil? ? free_name : name.to_s
      raise MiddlewareError, "there is a middleware named '#{name}' already; remove it first" if names.include?(name)

      check_order(index, name)
      @layers.insert(index, [name, layer, takes_next?(layer)])
      self
    end

    def check_order(index, name)
      own = @order.index(name) or return
      names.each_with_index do |other, at|
        its = @order.index(other)
        next if its.nil? || (its < own) == (at < index)

        raise MiddlewareError, "'#{name}' must stand #{its < own ? "after" : "before"} '#{other}': the order is #{@order.join(", ")}"
      end
    end

    def index(name)
      names.index(name.to_s) or
        raise MiddlewareError, "there is no middleware named '#{name}'; there is: #{@layers.empty? ? "none" : names.join(", ")}"
    end

    def check_open
      raise MiddlewareError, "the chain is in use: change middleware before the first job" if @sealed
    end

    def free_name
      (1..).lazy.map { |number| "middleware-#{number}" }.find { |name| !names.include?(name) }
    end
  end
end
