# frozen_string_literal: true

module OJS
  # What OJS.configure sets: the options of Client, by name.
  class Configuration
    attr_accessor :url, :auth_token, :headers, :timeout, :connect_timeout, :max_sends, :ca_file, :client_cert, :transport

    # A client with these settings.
    def client
      Client.new(url, transport: transport, auth_token: auth_token, headers: headers, timeout: timeout, connect_timeout: connect_timeout,
                      max_sends: max_sends, ca_file: ca_file, client_cert: client_cert)
    end
  end

  @configuration = Configuration.new
  @lock = Mutex.new

  class << self
    attr_reader :configuration

    # Settings of OJS.client, best made once while the application starts. A client that is in use already is replaced, not closed.
    #
    #   OJS.configure { |config| config.url = ENV["OJS_URL"] }
    def configure
      yield configuration
      client = configuration.client
      @lock.synchronize { @client = client }
      self
    end

    # The client of the whole application. Threads and forked processes may share it.
    def client
      @client || @lock.synchronize { @client ||= configuration.client }
    end

    # Client#enqueue of OJS.client.
    def enqueue(...)
      client.enqueue(...)
    end

    # Client#enqueue_batch of OJS.client.
    def enqueue_batch(jobs)
      client.enqueue_batch(jobs)
    end
  end
end
