# frozen_string_literal: true

# Open Job Spec: enqueue background jobs, run workers, embedded or with a server.
module OJS
end

require_relative "ojs/version"
require_relative "ojs/native"
require_relative "ojs/errors"
require "time"
require_relative "ojs/wire"
require_relative "ojs/durations"
require_relative "ojs/record"
require_relative "ojs/job"
require_relative "ojs/options"
require_relative "ojs/job_request"
require_relative "ojs/middleware"
require_relative "ojs/workflow"
require_relative "ojs/bulk"
require_relative "ojs/events"
require_relative "ojs/transport"
require_relative "ojs/administration"
require_relative "ojs/client"
require_relative "ojs/logs"
require_relative "ojs/context"
require_relative "ojs/outcome"
require_relative "ojs/lane"
require_relative "ojs/signals"
require_relative "ojs/worker"
require_relative "ojs/server"
require_relative "ojs/configuration"
