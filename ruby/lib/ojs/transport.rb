# frozen_string_literal: true

module OJS
  # How requests reach a server: over the core (HTTP, or the embedded engine), or over an object of your own.
  #
  # An object of your own answers to <tt>request(method, path, body)</tt>; +path+ is relative to <tt>/ojs/v1</tt> and +body+ is the
  # decoded JSON. It returns <tt>[status, body]</tt>, or <tt>{ status:, body: }</tt>:
  #
  #   class Mock
  #     def request(method, path, body = nil)
  #       [201, { "job" => { "id" => "test-id", "type" => body["type"], "args" => body["args"], "state" => "available" } }]
  #     end
  #   end
  #   client = OJS::Client.new(transport: Mock.new)
  class Transport
    # gen:ruby/settings.j2:client_names (make gen; do not edit)
    OPTIONS = %i[auth_token headers tenant timeout connect_timeout max_sends ca_file client_cert
                 encryption_keys max_response_bytes proxy].freeze
    # gen:end

    class << self
      # Active fakes, the newest last; see OJS::Testing.
      def sinks
        @sinks ||= []
      end

      # What the variables OJS_… say, by the names of settings, lengths of time in seconds. The core reads them.
      def environment
        variables = ENV.select { |name, _| name.start_with?("OJS_") }
        Wire.load(Native.environment(Wire.dump(variables))).transform_keys(&:to_sym)
      end

      # +OJS_URL+, else a server on this machine.
      def default_url
        environment.fetch(:url)
      end

      # A connection of the core; nothing is opened before its first call.
      def connection(url, options)
        said = environment
        given = said.slice(*OPTIONS).merge(options.compact)
        given[:encryption_keys] = key_text(given[:encryption_keys])
        %i[timeout connect_timeout].each { |name| given[name] = Durations.seconds(name, given[name]) }
        unless url.nil? || url.is_a?(String)
          raise ValidationError, "the URL must be text such as \"http://localhost:8080\", got #{url.inspect}"
        end

        Native::Connection.new(url.to_s.strip.empty? ? said.fetch(:url) : url, Wire.dump(given.compact))
      end

      # Keys as the core reads them: name:key,name:key.
      def key_text(keys)
        keys.respond_to?(:to_hash) ? keys.to_hash.map { |name, key| "#{name}:#{[key].pack("m0")}" }.join(",") : keys
      end

      # Status and text of the body, in whatever form a transport of the user's own gave them.
      def answer(value)
        status, body = value.is_a?(Hash) ? value.transform_keys(&:to_sym).values_at(:status, :body) : value
        return [status, body.nil? ? "" : body.is_a?(String) ? body : Wire.dump(body)] if status.is_a?(Integer)

        raise ValidationError, "a transport answers with [status, body] or { status:, body: }, got #{value.class}"
      end
    end

    # The native connection, or nil.
    attr_reader :connection
    # The user's own transport, or nil.
    attr_reader :custom
    # The tenant whose requests these are, or nil.
    attr_reader :tenant

    def initialize(url, custom, options)
      @tenant = options[:tenant]
      if custom.nil?
        @connection = self.class.connection(url, options)
      else
        raise ValidationError, "a transport must answer to request(method, path, body)" unless custom.respond_to?(:request)

        @custom = custom
      end
    end

    # The same with requests of one tenant.
    def of_tenant(tenant)
      dup.tap { |view| view.narrow(tenant) }
    end

    # One request; returns the decoded body of a 2xx, raises the error of any other answer. +wait+: so many seconds the server may
    # hold it back.
    def request(method, path, body = nil, wait: nil)
      sink = self.class.sinks.last
      return sink.request(method, path, body) if sink

      direct(method, path, body, wait: wait)
    end

    # The same, past all fakes.
    def direct(method, path, body = nil, wait: nil)
      body = Wire.dump(body) unless body.nil?
      return Wire.load(call(method, path, body, wait)) if @connection

      status, text = self.class.answer(@custom.request(method, path, body && Options.completed(Wire.load(body))))
      # A bulk answer that has an outcome for each item is no error.
      return Wire.load(text) if (200..299).cover?(status) || (status == 422 && text.include?('"items"'))

      raise Native.error_of(status, text)
    end

    # An enqueue request, as JSON, as a row of an outbox shall hold it.
    def encrypted(text)
      @connection ? @connection.encrypted(text) : text
    end

    # A delivered job, as JSON, as a worker's handler gets it.
    def decrypted(text)
      @connection ? @connection.decrypted(text) : text
    end

    def close
      @connection&.close
    end

    protected

    def narrow(tenant)
      @tenant = tenant
      @connection = @connection&.of_tenant(tenant)
    end

    private

    # Where a fiber scheduler runs (Async, Falcon), a thread waits in place of the fiber, and other fibers go on.
    def call(...)
      return @connection.call(...) unless Fiber.current_scheduler

      waits = Thread.new { @connection.call(...) }
      waits.report_on_exception = false
      waits.value
    end
  end
  private_constant :Transport

  # Serves the requests of a worker through a transport of the user's own, in a few threads: a transport may hold back an answer
  # while a heartbeat is due.
  class TransportThreads
    COUNT = 4
    attr_reader :connection

    def initialize(custom)
      @custom = custom
      @mailbox = Native::HostTransport.new
      @connection = Native::Connection.over(@mailbox)
      COUNT.times { |number| Thread.new { serve }.name = "ojs-transport-#{number}" }
    end

    def close
      @mailbox.close
    end

    private

    def serve
      loop do
        request = @mailbox.pull(60_000)
        respond(*request) if request
      end
    rescue ClosedError, ForkedError
      nil
    end

    def respond(ticket, method, path, text)
      status, body = Transport.answer(@custom.request(method, path, text && Wire.load(text)))
      @mailbox.reply(ticket, status, body)
    rescue APIError => e
      body = { error: { code: e.code, message: e.message, retryable: e.retryable? } }
      @mailbox.reply(ticket, e.status.zero? ? 500 : e.status, Wire.dump(body))
    rescue Exception => e # rubocop:disable Lint/RescueException -- the worker must get an answer whatever happens
      @mailbox.fail(ticket, "#{e.class}: #{e.message}")
    end
  end
  private_constant :TransportThreads
end
