# frozen_string_literal: true

require "pp"
require_relative "support"

# Passwords and tokens are neither in errors nor in what is printed of clients, workers, outboxes and relays.
class SecretsTest < Minitest::Test
  include Support

  SECRET = "planted-secret"

  def told(object)
    "#{object.inspect} #{object} #{object.pretty_inspect}"
  end

  def test_secrets_are_not_printed
    url = "http://ada:#{SECRET}@127.0.0.1:1/"
    settings = { auth_token: SECRET, headers: { "x-key" => SECRET }, encryption_keys: { "k" => SECRET.ljust(32) }, max_sends: 1 }
    client = client_of(url, **settings)
    configuration = OJS::Configuration.new
    configuration.url = url
    configuration.auth_token = configuration.encryption_keys = SECRET
    worker = OJS::Worker.new(url, **settings).register("a") {}
    relay = OJS::Relay.new(client, "postgres://ada:#{SECRET}@127.0.0.1:1/app")
    [client, client.transport, worker, worker.middleware, relay, OJS::Outbox.new(client, database: "sqlite"), configuration].each do |object|
      refute_includes told(object), SECRET
    end
    error = assert_raises(OJS::ConnectionError) { client.health }
    refute_includes "#{told(error)} #{error.full_message}", SECRET
  end
end
