# frozen_string_literal: true

module OJS
  # A job server in this process, for tests, for development, and for `ojs server`.
  #
  #   OJS::Server.open("memory:") { |server| OJS::Client.new(server.url).enqueue("email.send") }
  class Server
    # Where it listens: <tt>http://127.0.0.1:8080</tt>.
    attr_reader :url

    # Opens +store+ ("sqlite:jobs.db", "memory:") and listens; port 0 takes a free one. In test mode anyone who can connect can delete
    # all jobs. With +keys+, a file that `ojs keys add` writes, everybody is asked for one.
    def initialize(store = "memory:", listen: "127.0.0.1:0", test_mode: false, keys: nil, insecure: true)
      @native = Native::Server.new(store, listen, test_mode, keys, insecure)
      @url = @native.url
    end

    # As new; with a block, stops the server after it and returns what the block does.
    def self.open(...)
      server = new(...)
      return server unless block_given?

      begin
        yield server
      ensure
        server.stop
      end
    end

    # Stops listening, answers requests under way, closes the store. A second call does nothing.
    def stop
      @native.stop
    end
  end
end
