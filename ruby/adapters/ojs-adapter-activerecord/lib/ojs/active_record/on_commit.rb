# frozen_string_literal: true

module OJS
  class ActiveRecordAdapter
    # Takes the place of a record in a transaction: Active Record hands it from savepoint to savepoint outwards, and calls it when the
    # outermost one has committed.
    class OnCommit # :nodoc:
      # With +pretend+ the end of what a test's transaction holds open counts as a commit, as it does for after_commit of models.
      def initialize(connection, pretend: false, &block)
        @connection = connection
        @pretend = pretend
        @block = block
      end

      def before_committed!(*); end

      # Where a test holds a transaction open around it all, a savepoint ends like this as well: that is no commit.
      def committed!(**)
        @block.call if @pretend || !@connection.transaction_open?
      rescue StandardError => e
        raise if @pretend

        # The transaction is committed and its rows are there: not the caller's trouble.
        OJS.logger.warn { "after the commit: #{e.class}: #{e.message}" }
      end

      def rolledback!(**); end

      def trigger_transactional_callbacks?
        true
      end
    end
    private_constant :OnCommit
  end
end
