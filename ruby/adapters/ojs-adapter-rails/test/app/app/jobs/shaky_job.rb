# frozen_string_literal: true

# Retries and discards as Active Job says.
class ShakyJob < ApplicationJob
  class Busy < StandardError; end
  class Gone < StandardError; end
  class Broken < StandardError; end

  retry_on Busy, wait: 0, attempts: 3
  discard_on Gone

  def perform(how)
    note("shaky", how, executions)
    raise const(how) unless how == "Busy" && executions == 3
  end

  private

  def const(name)
    self.class.const_get(name)
  end
end
