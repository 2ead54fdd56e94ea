# frozen_string_literal: true

module OJS
  module Serverless
    # What a run keeps for later attempts: one document on the server, the same in all languages. Without steps it is
    # what the handler has saved; with steps it is <tt>{"$ojs.state": …, "$ojs.steps": {name: result}}</tt>.
    class Checkpoint
      STATE = "$ojs.state"
      STEPS = "$ojs.steps"
      # The longest name of a step, in bytes.
      LONGEST = 255
      private_constant :STATE, :STEPS, :LONGEST

      # +delivered+ is the member +checkpoint+ of the job.
      def initialize(delivered)
        document = delivered["state"] if delivered.is_a?(Hash)
        steps = document[STEPS] if document.is_a?(Hash)
        @steps = steps.is_a?(Hash) ? steps : {}
        @state = steps.is_a?(Hash) ? document[STATE] : document
      end

      # What was saved, as JSON text; nil when there is nothing.
      def saved(step)
        return @state.nil? ? nil : Wire.dump(@state) if step.nil?

        Wire.dump(@steps[step]) if @steps.key?(step)
      end

      # Yields the document with this change; keeps the change when the block has returned, and returns what it did.
      def save(step, text)
        value = Wire.load(text)
        raise ValidationError, "a checkpoint must not be null: delete it instead" if step.nil? && value.nil?
        if step && !step.bytesize.between?(1, LONGEST)
          raise ValidationError, "the name of a step has 1 to #{LONGEST} bytes"
        end

        state = step ? @state : value
        steps = step ? { **@steps, step => value } : @steps
        returned = yield(document(state, steps))
        @state, @steps = state, steps
        returned
      end

      private

      # A document of the handler that looks like one with steps is put into one, or it would be read as one.
      def document(state, steps)
        reserved = state.is_a?(Hash) && (state.key?(STATE) || state.key?(STEPS))
        return state if !state.nil? && steps.empty? && !reserved

        { STATE => state, STEPS => steps }.compact
      end
    end
    private_constant :Checkpoint
  end
end
