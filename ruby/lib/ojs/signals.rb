# frozen_string_literal: true

module OJS
  # Signals of a worker process: TERM and INT stop it (the second one at once), TSTP makes it quiet, CONT resumes it.
  module Signals
    module_function

    # Handles them while the block runs.
    def handle(worker)
      actions = { "TERM" => :shutdown, "INT" => :shutdown, "TSTP" => :quiet, "CONT" => :resume }.slice(*Signal.list.keys)
      before = actions.to_h { |signal, action| [signal, trap(signal) { worker.on_signal(action) }] }
      yield
    ensure
      before&.each { |signal, command| trap(signal, command || "DEFAULT") }
    end
  end
  private_constant :Signals
end
