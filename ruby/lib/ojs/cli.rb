# frozen_string_literal: true

require "optparse"
require_relative "../ojs"

module OJS
  # The command line: `ojs server` and `ojs worker FILE`.
  class CLI
    USAGE = <<~TEXT
      Usage: ojs server [options]            run a job server in this process
             ojs worker FILE [options]       run the worker that a Ruby file makes (its last value, or the only OJS::Worker in it)
    TEXT
    LEVELS = { "error" => Logger::ERROR, "warn" => Logger::WARN, "info" => Logger::INFO, "debug" => Logger::DEBUG }.freeze

    # Runs a command; returns the exit status: 0 done, 2 wrong usage or a setting that cannot work.
    def self.run(arguments)
      new(arguments.dup).run
      0
    rescue Error, OptionParser::ParseError => e
      warn "ojs: #{e.message}"
      2
    end

    def initialize(arguments)
      @options = { listen: env("OJS_LISTEN", "127.0.0.1:8080"), store: env("OJS_STORE", "sqlite:ojs.db"), test_mode: false,
                   keys: env("OJS_KEYS", nil), insecure: env("OJS_INSECURE", "").match?(/\A(1|true|yes|on|y|t)\z/i),
                   log_level: env("OJS_LOG_LEVEL", "info") }
      @words = parser.parse(arguments)
    end

    def run
      command, *rest = @words
      OJS.logger = Logger.new($stderr, level: LEVELS.fetch(@options[:log_level]) { wrong("--log-level: use one of #{LEVELS.keys.join(", ")}") })
      case command
      when "server" then rest.empty? ? server : wrong("server takes no #{rest.first}")
      when "worker" then rest.size == 1 ? worker(rest.first) : wrong("worker takes one file\n#{USAGE}")
      else wrong("#{command ? "there is no command '#{command}'" : "a command is needed"}\n#{USAGE}")
      end
    end

    private

    def parser
      OptionParser.new(USAGE) do |on|
        on.separator("")
        on.on("--store URL", "server: sqlite:PATH, or memory: (gone when the server stops); sqlite:ojs.db") { |v| @options[:store] = v }
        on.on("--listen ADDRESS", "server: address and port; port 0 takes any free one") { |v| @options[:listen] = v }
        on.on("--keys FILE", "server: ask callers for a key of this file (ojs keys add)") { |v| @options[:keys] = v }
        on.on("--insecure", "server: listen on other addresses than loopback without keys") { @options[:insecure] = true }
        on.on("--test-mode", "server: anyone who can connect can delete all jobs") { @options[:test_mode] = true }
        on.on("--url URL", "worker: overrides the worker's own") { |v| @options[:url] = v }
        on.on("--queues A,B", "worker: overrides the worker's own") { |v| @options[:queues] = v }
        on.on("--concurrency N", Integer, "worker: overrides the worker's own") { |v| @options[:concurrency] = v }
        on.on("--log-level LEVEL", LEVELS.keys.join(", ")) { |v| @options[:log_level] = v }
        on.on("--version") do
          puts "ojs #{VERSION}"
          exit
        end
        on.on("-h", "--help") do
          puts on
          exit
        end
      end
    end

    def server
      # Before the first line is printed: who reads it may send a signal at once. A second signal ends the process.
      wake, signalled = IO.pipe
      stopping = false
      %w[TERM INT].each do |signal|
        trap(signal) do
          exit!(128 + Signal.list[signal]) if stopping
          stopping = true
          signalled.close
        end
      end
      server = Server.new(@options[:store], **@options.slice(:listen, :test_mode, :keys, :insecure))
      $stdout.puts "listening on #{server.url}"
      $stdout.flush
      wake.read
      server.stop
    end

    def worker(file)
      found = load(file)
      found.configure(**@options.slice(:url, :queues, :concurrency).compact)
      found.run
    end

    def load(file)
      raise ValidationError, "there is no file #{file}" unless File.file?(file)

      before = ObjectSpace.each_object(Worker).to_a
      value = TOPLEVEL_BINDING.eval(File.read(file), File.expand_path(file))
      return value if value.is_a?(Worker)

      made = ObjectSpace.each_object(Worker).to_a - before
      made.size == 1 ? made.first : wrong("#{file} makes #{made.size} workers: let its last line be the one to run")
    end

    def wrong(message)
      raise ValidationError, message
    end

    def env(name, default)
      value = ENV.fetch(name, "")
      value.empty? ? default : value
    end
  end
end
