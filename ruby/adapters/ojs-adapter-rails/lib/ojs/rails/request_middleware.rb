# frozen_string_literal: true

module OJS
  module RailsAdapter
    # Rack middleware: jobs carry who made them, in which request, trace, tenant and language.
    class RequestMiddleware
      def initialize(app, settings = {})
        @app = app
        @settings = settings
      end

      def call(env)
        start
        # Found out when a job is enqueued: controllers authenticate in a before_action.
        RequestContext.bound(-> { metadata(env) }) { @app.call(env) }
      end

      private

      # In a server that forks, and in one that Rails does not start, the first request starts the relay. Not where a test holds a
      # transaction open around the request: nothing of it will ever be sent.
      def start
        return if @started == Process.pid

        @started = Process.pid
        RailsAdapter.start if ActiveRecordAdapter::Connections.open_ones.empty?
      end

      def metadata(env)
        request = ActionDispatch::Request.new(env)
        RequestContext.of_request(
          ->(name) { request.headers[name] }, request_id: request.request_id, user_id: user_id(request), tenant_id: tenant_id(request)
        )
      end

      def user_id(request)
        return @settings[:user_id].call(request) if @settings[:user_id]

        user = request.env["warden"]&.user || current_user(request.controller_instance)
        user.respond_to?(:id) ? user.id : user
      end

      # What authentication gems, and most hand-written ones, call it.
      def current_user(controller)
        controller.send(:current_user) if controller.respond_to?(:current_user, true)
      end

      def tenant_id(request)
        @settings[:tenant_id]&.call(request)
      end
    end
  end
end
