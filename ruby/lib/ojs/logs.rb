# frozen_string_literal: true

require "logger"

module OJS
  class << self
    # Where workers and the core write: warnings to the standard error, unless another Logger is set.
    def logger
      @logger ||= Logger.new($stderr, level: Logger::WARN, progname: "ojs")
    end

    attr_writer :logger
  end

  # The core's log records, on their way to OJS.logger.
  module Logs
    # By number of the core.
    SEVERITIES = { 1 => Logger::ERROR, 2 => Logger::WARN, 3 => Logger::INFO, 4 => Logger::DEBUG, 5 => Logger::DEBUG }.freeze

    module_function

    # Starts the thread that carries records over, once per process; takes over the logger's level each time.
    def start
      Native.log_level = SEVERITIES.select { |number, severity| number < 5 && severity >= OJS.logger.level }.keys.max || 0
      return if @started_in == Process.pid

      @started_in = Process.pid
      Thread.new { loop { emit(*Native.pull_logs(256, 60_000)) } }.name = "ojs-logs"
    end

    # Carries over what is there now: at the end of a worker the process may end, too.
    def flush
      emit(*Native.pull_logs(4096, 0))
    end

    def emit(records, lost)
      OJS.logger.warn("#{lost} log records were lost: the logger is too slow") if lost.positive?
      records.each { |level, target, text| OJS.logger.add(SEVERITIES.fetch(level, Logger::INFO), level > 2 ? "#{target}: #{text}" : text) }
    end
    private_class_method :emit
  end
  private_constant :Logs
end
