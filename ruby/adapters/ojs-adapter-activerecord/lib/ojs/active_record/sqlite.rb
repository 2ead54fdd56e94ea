# frozen_string_literal: true

module OJS
  class ActiveRecordAdapter
    # SQLite has one writer, and with a relay in the process there are two that want to write. Two habits of Active Record before 7.1 make
    # that fail, where later versions have changed them:
    #
    # * a transaction that reads first and writes later gets "database is locked" at once when another connection has written in between: hence
    #   transactions begin with the right to write;
    # * SQLite's own time-out waits with Ruby's lock held, so that the thread that is waited for stands still: hence it waits in Ruby.
    module Sqlite # :nodoc:
      # As in Rails' own database.yml.
      TIMEOUT = 5000

      def begin_db_transaction
        return super if @config[:readonly] || preventing_writes?

        log("begin immediate transaction", "TRANSACTION") { @connection.transaction(:immediate) }
      end

      private

      def configure_connection
        super
        patience = Integer(@config[:timeout] || TIMEOUT) / 1000.0
        ends = nil
        @connection.busy_handler do |tries|
          now = Process.clock_gettime(Process::CLOCK_MONOTONIC)
          ends = now + patience if tries.zero?
          sleep(0.001)
          now < ends
        end
      end
    end
    private_constant :Sqlite

    if ::ActiveRecord.version < Gem::Version.new("7.1")
      ActiveSupport.on_load(:active_record_sqlite3adapter) { prepend Sqlite }
    end
  end
end
