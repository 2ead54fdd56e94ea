# frozen_string_literal: true

module OJS
  class ActiveRecordAdapter
    # Whose transaction a job joins.
    module Connections
      module_function

      # The connection whose transaction is open in this thread, or nil. +on+, a model class or a connection, says which one counts; with
      # several open and nothing said, OutboxError.
      def in_transaction(on = nil)
        return of(on).then { |connection| connection if connection.transaction_open? } if on

        open = open_ones
        # Transactional tests hold one open in every database; those that the application began are inside of it.
        begun = open.select { |connection| connection.current_transaction.joinable? }
        begun = open.select { |connection| connection.pool == ::ActiveRecord::Base.connection_pool } if begun.empty?
        begun = open if begun.empty?
        raise ambiguous(begun) if begun.size > 1

        begun.first
      end

      # The connection that counts, whether or not a transaction is open.
      def present(on = nil)
        on ? of(on) : in_transaction || ::ActiveRecord::Base.connection
      end

      def of(on)
        on.respond_to?(:connection) ? on.connection : on
      end

      # Connections of this thread with an open transaction, of all roles and shards.
      def open_ones
        pools.filter_map(&:active_connection?).select(&:transaction_open?).uniq
      end

      def pools
        base = ::ActiveRecord::Base
        if base.respond_to?(:legacy_connection_handling) && base.legacy_connection_handling
          # One handler per role; without Rails, which fills the list, the present one is not in it.
          return [base.connection_handler, *base.connection_handlers.values].uniq.flat_map(&:all_connection_pools)
        end

        handler = base.connection_handler
        handler.respond_to?(:all_connection_pools) ? handler.all_connection_pools : handler.connection_pool_list(:all)
      end

      def ambiguous(connections)
        names = connections.map { |connection| connection.pool.db_config.name }.join(" and ")
        OutboxError.new("transactions are open in #{names}: say which one the job belongs to, enqueue_after_commit(…, on: #{example})",
                        code: "ambiguous_transaction")
      end

      def example
        ::ActiveRecord::Base.descendants.find { |model| model.connection_class? rescue false }&.name || "ApplicationRecord"
      end
      private_class_method :example
    end
  end
end
