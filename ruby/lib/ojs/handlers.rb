# frozen_string_literal: true

module OJS
  # What may be registered as a handler: what can be called with the context of a job, and nothing else.
  module Handlers
    module_function

    # Raises ValidationError for what cannot be called so.
    def check(type, handler)
      unless handler.respond_to?(:call)
        raise ValidationError, "the handler of '#{type}' must be a block or answer to call, such as register(\"#{type}\") { |ctx| … }"
      end
      callable = handler.respond_to?(:parameters) ? handler : handler.method(:call)
      why = fault(callable.parameters, strict: !callable.is_a?(Proc) || callable.lambda?) or return

      raise ValidationError, "the handler of '#{type}' #{why}, and is called with the context alone: write { |ctx| a, b = ctx.args; … }"
    end

    # A block takes nothing where it does not want the context; a lambda and a method must take it.
    def fault(parameters, strict:)
      kinds = parameters.map(&:first)
      places = kinds.count { |kind| %i[req opt].include?(kind) }
      needed = strict ? kinds.count(:req) : places
      name = parameters.find { |kind, _| kind == :keyreq }&.last
      return "wants the keyword #{name}:" if name
      return "takes #{needed} parameters" if needed > 1

      "takes no parameter" if strict && places.zero? && !kinds.include?(:rest)
    end
    private_class_method :fault
  end
  private_constant :Handlers
end
