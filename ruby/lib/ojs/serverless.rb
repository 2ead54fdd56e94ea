# frozen_string_literal: true

require_relative "../ojs"
require_relative "serverless/deadline"
require_relative "serverless/delivery"
require_relative "serverless/checkpoint"
require_relative "serverless/link"
require_relative "serverless/deliveries"
require_relative "serverless/runner"
require_relative "serverless/handler"
require_relative "serverless/lambda_handler"

module OJS
  # Handlers of a worker in functions: AWS Lambda, Google Cloud Functions, Azure Functions, and any server of Rack.
  # Loaded by <tt>require "ojs/serverless"</tt>.
  #
  #   HANDLER = OJS::Serverless::LambdaHandler.new(ojs_url: "https://ojs.example.com")
  #   HANDLER.register("email.send") { |ctx| Mailer.deliver(ctx.args["to"]) }
  #
  #   def handler(event:, context:)
  #     HANDLER.handle_sqs(event: event, context: context)
  #   end
  #
  # A handler does not know how it was called: registry, middleware, context and errors are those of a Worker.
  module Serverless
  end
end
