# frozen_string_literal: true

module OJS
  # Makes jobs join Active Record's transactions. OJS.configure makes one: <tt>config.adapter = :active_record</tt>.
  class ActiveRecordAdapter
    def initialize(configuration, client)
      @configuration = configuration
      @client = client
      @lock = Monitor.new
      @relays = {}
      @same = {}
      @told = ObjectSpace::WeakMap.new
    end

    # Writes the job in the open transaction (see Connections.in_transaction), or sends it where there is none.
    def enqueue_after_commit(request, on: nil)
      connection = Connections.in_transaction(on)
      return @client.enqueue_request(request) if connection.nil?

      outbox = outbox_of(connection)
      return pretend(connection, outbox, request) if Transport.sinks.any?

      staged = outbox.stage(request)
      write(connection, staged)
      tell_after_commit(connection, outbox)
      staged.job
    end

    # The jobs in the outbox that are not sent yet, as the present transaction sees them.
    def staged(on: nil)
      connection = Connections.present(on)
      outbox = outbox_of(connection)
      outbox.waiting(connection.select_rows(outbox.waiting_query, "OJS"))
    rescue ::ActiveRecord::StatementInvalid => e
      raise refusal(e) || e
    end

    # The outbox of a connection's database, or the server's own table where it is in there.
    def outbox_of(connection)
      dialect = Databases.dialect(connection.adapter_name)
      Databases.check(connection.pool, @configuration.url || Transport.default_url)
      # Values are quoted into the statement: the same with and without prepared statements (PgBouncer).
      Outbox.new(@client, database: dialect, table: @configuration.outbox_table, style: "format",
                          in_engine: dialect == "postgresql" && shared?(connection))
    end

    # This process's relay for the database of a connection pool. Relay#start starts it, and so does the first commit.
    def relay(pool = ::ActiveRecord::Base.connection_pool)
      Databases.check(pool, @configuration.url || Transport.default_url)
      @lock.synchronize { @relays[Databases.address(pool)] ||= Databases.relay(@client, pool, **@configuration.relay_options) }
    end

    # Starts the relay of the application's own database, unless a process of its own relays.
    def start
      relay.start if @configuration.relay
    end

    # Sends what is committed, for at most +grace+, and stops the relays.
    def close(grace = 5.0)
      relays = @lock.synchronize { @relays.values.tap { @relays = {} } }
      relays.each { |relay| relay.stop(grace) }
    end

    private

    def shared?(connection)
      same = @lock.synchronize { @same[Databases.address(connection.pool)] ||= SameDatabase.new(@client, @configuration.same_database) }
      same.shared? { |sql| connection.transaction(requires_new: true) { connection.select_value(sql, "OJS") } }
    end

    # While OJS::Testing keeps jobs in memory: no row, the job goes there with the commit. A transaction that the test itself holds open
    # around everything counts for nothing, as in Rails.
    def pretend(connection, outbox, request)
      return @client.enqueue_request(request) unless connection.current_transaction.joinable?

      staged = outbox.stage(request)
      connection.add_transaction_record(OnCommit.new(connection, pretend: true) { @client.request("POST", "/jobs", staged.request) })
      staged.job
    end

    def write(connection, staged)
      connection.exec_update(format(staged.sql, *staged.params.map { |value| connection.quote(value) }), "OJS")
    rescue ::ActiveRecord::ActiveRecordError => e
      raise refusal(e) || e
    end

    # What the application can do something about.
    def refusal(error)
      reason = error.cause.class.name.to_s
      number = error.cause.error_number if error.cause.respond_to?(:error_number) # MySQL's
      if error.is_a?(::ActiveRecord::ReadOnlyError) || reason.match?(/ReadOnly/) || number == 1792
        OutboxError.new("this transaction is read-only, and the job is a row in it: enqueue it in a transaction that may write " \
                        "(on: names another database's), or at once with OJS.enqueue", code: "read_only_transaction")
      elsif reason == "PG::UndefinedTable" || number == 1146 || error.message.include?("no such table")
        OutboxError.new("there is no table #{@configuration.outbox_table}: run a migration with 'create_ojs_outbox' (bin/rails generate " \
                        "ojs:install writes one) once, or 'ojs relay migrate'", code: "no_outbox_table")
      end
    end

    # Once per transaction, savepoints included, the relay hears of the outermost commit.
    def tell_after_commit(connection, outbox)
      return unless outbox.in_engine? || @configuration.relay

      transaction = connection.current_transaction
      return if @told[transaction]

      @told[transaction] = self
      connection.add_transaction_record(OnCommit.new(connection) do
        outbox.in_engine? ? connection.execute(SameDatabase::NOTIFY, "OJS") : relay(connection.pool).wake
      end)
    end
  end
end
