# frozen_string_literal: true

module OJS
  # What OJS.configure sets: the options of Client, by name, and how jobs join transactions.
  class Configuration
    attr_accessor :url, :auth_token, :headers, :timeout, :connect_timeout, :max_sends, :ca_file, :client_cert,
                  :transport, :encryption_keys, :max_response_bytes, :proxy

    # Whose transactions jobs join: +:active_record+ (gem ojs-adapter-activerecord), or an object of your own; none by default.
    attr_accessor :adapter
    # The outbox table; +ojs_outbox+.
    attr_accessor :outbox_table
    # Whether this process relays (of all processes one does at a time); true. False where a relay runs as a process of its own.
    attr_accessor :relay
    # Options of Relay: how often it looks (1 s), most rows in one request (100), how long sent rows are kept (24 h).
    attr_accessor :outbox_poll_interval, :outbox_batch_size, :outbox_retention
    # Whether the server keeps its jobs in the application's PostgreSQL; nil finds out.
    attr_accessor :same_database

    def initialize
      @outbox_table = "ojs_outbox"
      @relay = true
    end

    # +external+: jobs go through the outbox. +database+: the server shares the application's PostgreSQL. Found out when it is not set.
    def backend_type=(kind)
      @same_database = { "external" => false, "database" => true }.fetch(kind.to_s) do
        raise ValidationError, "backend_type is 'external' (jobs go through the outbox table) or 'database' (the server shares the " \
                               "application's database), not #{kind.inspect}"
      end
    end

    # There is no way around the table: false is refused.
    def outbox_enabled=(enabled)
      return if enabled

      raise ValidationError, "jobs of Active Record's transactions are always rows of the outbox: leave 'enabled' out, or call " \
                             "OJS.enqueue after the commit"
    end

    # Never the address, the token and the keys: they are secrets, and logs are not.
    def inspect
      "#<OJS::Configuration adapter=#{adapter.inspect} outbox_table=#{outbox_table.inspect} relay=#{relay.inspect}>"
    end

    # A client with these settings.
    def client
      Client.new(url, transport: transport, auth_token: auth_token, headers: headers, timeout: timeout, connect_timeout: connect_timeout,
                      max_sends: max_sends, ca_file: ca_file, client_cert: client_cert,
                      encryption_keys: encryption_keys, max_response_bytes: max_response_bytes, proxy: proxy)
    end

    # Options for a Relay.
    def relay_options
      { table: outbox_table, poll_interval: outbox_poll_interval, batch_size: outbox_batch_size, retention: outbox_retention }
    end
  end

  @configuration = Configuration.new
  @lock = Monitor.new
  @adapters = {}

  class << self
    attr_reader :configuration

    # Settings of OJS.client, best made once while the application starts. A client that is in use already is replaced, not closed; a
    # relay that runs already is stopped.
    #
    #   OJS.configure do |config|
    #     config.url = ENV["OJS_URL"]
    #     config.adapter = :active_record
    #   end
    #
    # +settings+ are those that the specification prints for adapters, <tt>{ ojs_url:, backend_type:, outbox: { table_name:, … } }</tt>, from
    # a file: <tt>OJS.configure(Rails.application.config_for(:ojs))</tt>.
    def configure(settings = nil)
      AdapterConfig.apply(settings, configuration) if settings
      yield configuration if block_given?
      client = configuration.client
      before = @lock.synchronize do
        @client = client
        @adapter.tap { @adapter = nil }
      end
      before&.close(0)
      self
    end

    # The client of the whole application. Threads and forked processes may share it.
    def client
      @client || @lock.synchronize { @client ||= configuration.client }
    end

    # Client#enqueue of OJS.client: sends a job now, whatever becomes of a transaction.
    def enqueue(...)
      client.enqueue(...)
    end

    # Client#enqueue_batch of OJS.client.
    def enqueue_batch(jobs)
      client.enqueue_batch(jobs)
    end
    alias enqueue_bulk enqueue_batch

    # Sends a job if, and only if, the outermost transaction commits; outside of one, now. Takes what enqueue takes, and +on+: the model
    # class or connection whose transaction counts, where several are open. The job that is returned has its id already.
    #
    #   User.transaction do
    #     user = User.create!(email: "ada@example.com")
    #     OJS.enqueue_after_commit("email.welcome", [user.id])
    #   end
    def enqueue_after_commit(type, *args, on: nil, **named)
      adapter.enqueue_after_commit(Client.request_of(type, *args, **named), on: on)
    end

    # The same for many jobs, each in a form that JobRequest.of takes.
    def enqueue_bulk_after_commit(jobs, on: nil)
      jobs.map { |job| adapter.enqueue_after_commit(JobRequest.of(job), on: on) }
    end

    # The jobs in the outbox that are not sent yet, as the present transaction sees them: Hashes with +type+, +args+, +options+, +id+. For
    # tests, whose transaction never commits.
    def staged(on: nil)
      adapter.staged(on: on)
    end

    # What makes jobs join transactions, by <tt>config.adapter</tt>.
    def adapter
      @adapter || @lock.synchronize { @adapter ||= make_adapter(configuration.adapter) }
    end

    # Starts the relay of this process, where it has one: for servers, when they have booted (and forked).
    def start
      adapter.start if configuration.adapter
      self
    end

    # Sends what is committed, for at most +grace+, stops the relay and closes the client. The end of the process does so by itself.
    def close(grace = 5.0)
      adapter, client = @lock.synchronize { [@adapter, @client].tap { @adapter = @client = nil } }
      adapter&.close(grace)
      client&.close
    end

    # Called by adapters when they are loaded; the block makes one for a configuration and a client.
    def register_adapter(name, &block) # :nodoc:
      @adapters[name.to_sym] = block
    end

    private

    def make_adapter(name)
      return name if name.respond_to?(:enqueue_after_commit)
      raise OutboxError, "no transactions to join: set config.adapter = :active_record in OJS.configure" if name.nil?

      require "ojs/#{name}" unless @adapters.key?(name.to_sym)
      @adapters.fetch(name.to_sym).call(configuration, client)
    rescue LoadError => e
      there = @adapters.empty? ? "" : ", or use one of those that are loaded: #{@adapters.keys.join(", ")}"
      gem = "ojs-adapter-#{name.to_s.delete("_")}"
      raise OutboxError, "there is no adapter '#{name}' (#{e.message}): install the gem #{gem}#{there}"
    end
  end
end
