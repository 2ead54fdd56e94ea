# frozen_string_literal: true

# Open Job Spec for Rails. <tt>bin/rails generate ojs:install</tt> writes what an application needs.
require "active_job"
require "rails"
require "ojs/active_record"

module OJS
  # Rails' side: request context, worker, Active Job.
  module RailsAdapter
    autoload :Jobs, "ojs/rails/jobs"
    autoload :RequestMiddleware, "ojs/rails/request_middleware"
    autoload :Commands, "ojs/rails/commands"
  end
end

ActiveJob::QueueAdapters.autoload :OjsAdapter, "active_job/queue_adapters/ojs_adapter"
require "ojs/rails/railtie"
