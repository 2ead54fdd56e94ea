# frozen_string_literal: true

# Retried by the server, and sent at once.
class ServerJob < ApplicationJob
  self.ojs_options = { retry: { max_attempts: 2, initial_interval: 0.001, jitter: false }, after_commit: false }

  def perform
    note("server")
    raise "again"
  end
end
