# frozen_string_literal: true

module OJS
  module RailsAdapter
    # Hooks into the application's life: the relay starts with the server (or the first request, or the first commit) of a process, and is
    # flushed when the process ends.
    #
    #   config.ojs.user_id = ->(request) { request.session[:user_id] }      # else Warden's user, or the controller's current_user
    #   config.ojs.tenant_id = ->(request) { request.subdomain }            # else the header X-OJS-Tenant
    class Railtie < ::Rails::Railtie
      config.ojs = ActiveSupport::OrderedOptions.new

      initializer "ojs.logger", after: :initialize_logger, before: :load_config_initializers do
        OJS.logger = ::Rails.logger
      end

      initializer "ojs.middleware" do |app|
        app.middleware.use RequestMiddleware, app.config.ojs
      end

      initializer "ojs.active_job" do
        ActiveSupport.on_load(:active_job) do
          # For all jobs of a class: options of OJS.enqueue, and +after_commit+: false sends at once also inside a transaction.
          class_attribute :ojs_options, instance_accessor: false, default: {}
          singleton_class.prepend(::ActiveJob::QueueAdapters::OjsAdapter::AtOnce)
        end
      end

      server { RailsAdapter.start }

      rake_tasks { load File.expand_path("tasks.rake", __dir__) }
    end

    # Starts the relay, where this application has one. What keeps it from starting is logged: requests are served all the same.
    def self.start
      OJS.start
    rescue OJS::Error => e
      OJS.logger.error { "no relay runs: #{e.message}" }
    end
  end
end
