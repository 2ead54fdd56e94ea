# frozen_string_literal: true

class WelcomeJob < ApplicationJob
  queue_as :low_priority

  def perform(user, at: nil)
    note("welcome", user.id, user.email, executions, at&.iso8601, provider_job_id == job_id ? "same" : "own")
  end
end
