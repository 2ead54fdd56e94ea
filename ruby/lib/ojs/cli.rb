# frozen_string_literal: true

require "json"
require "time"
require_relative "../ojs"

module OJS
  # The command line: `ojs server` and `ojs worker FILE`.
  class CLI
    INVOCATION = { program: "ojs", target: "FILE",
                   about_target: "the worker that a Ruby file makes: its last value, or the only one in it" }.freeze
    LEVELS = { "error" => Logger::ERROR, "warn" => Logger::WARN, "info" => Logger::INFO, "debug" => Logger::DEBUG,
               "trace" => Logger::DEBUG }.freeze

    # Runs a command; returns the exit status: 0 done, 2 wrong usage or a setting that cannot work.
    def self.run(arguments)
      said = Wire.load(Native.read_command(Wire.dump(INVOCATION.merge(arguments: arguments))))
      return new(said).run unless said.key?("exit")

      $stdout.write(said["out"])
      $stderr.write(said["err"])
      said["exit"]
    rescue Error => e
      warn "ojs: #{e.message}"
      2
    end

    # +said+ is what the core has read from the command line and the environment.
    def initialize(said)
      @said = said
      @settings = said["settings"].transform_keys(&:to_sym)
    end

    def run
      OJS.logger = Logger.new($stderr, level: LEVELS.fetch(@said["log_level"]))
      OJS.logger.formatter = method(:json) if @said["log_format"] == "json"
      @said["command"] == "server" ? server : worker(@said["target"])
      0
    end

    private

    def json(level, time, _program, message)
      "#{JSON.generate(timestamp: time.utc.iso8601(3), level: level, message: message)}\n"
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
      server = Server.new(@settings.delete(:store), **@settings)
      $stdout.puts "listening on #{server.url}"
      $stdout.flush
      wake.read
      server.stop
    end

    def worker(file)
      found = load(file)
      found.configure(**@settings)
      found.run
    end

    def load(file)
      raise ValidationError, "there is no file #{file}" unless File.file?(file)

      before = ObjectSpace.each_object(Worker).to_a
      value = TOPLEVEL_BINDING.eval(File.read(file), File.expand_path(file))
      return value if value.is_a?(Worker)

      made = ObjectSpace.each_object(Worker).to_a - before
      return made.first if made.size == 1

      raise ValidationError, "#{file} makes #{made.size} workers: let its last line be the one to run"
    end
  end
end
