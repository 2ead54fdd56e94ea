# frozen_string_literal: true

module OJS
  # Makes rows: a job is sent if, and only if, the transaction that wrote its row commits. Relay sends it.
  #
  # Framework adapters (ojs-adapter-activerecord, ojs-adapter-rails) do this for you. With a connection of your own:
  #
  #   outbox = OJS::Outbox.new(client, database: "sqlite")
  #   db.transaction do
  #     db.execute("INSERT INTO users (email) VALUES ('ada@example.com')")
  #     row = outbox.stage(["email.welcome", [db.last_insert_row_id]])
  #     db.execute(row.sql, row.params)
  #   end
  #   relay.wake
  class Outbox
    # The name in the specification.
    TABLE = "ojs_outbox"
    # How drivers write places for parameters, by default.
    STYLES = { "postgresql" => "numeric_dollar", "mysql" => "qmark", "sqlite" => "qmark" }.freeze
    # A row to be written in the transaction the job belongs to: the job, which has its id already, statement and parameters; and the
    # request that the relay will send.
    Staged = Struct.new(:job, :sql, :params, :request)

    # +postgresql+, +mysql+ (MariaDB too) or +sqlite+.
    attr_reader :database
    attr_reader :table

    # The statements that make the tables, or add what a table lacks that was made by the specification's DDL: to be
    # run in this order, on one connection. They take a lock, so any number of processes may run them at the same
    # time.
    def self.migration(database, table = TABLE)
      Native.outbox_migration(database.to_s, table.to_s)
    end

    # With +in_engine+ the rows are the engine's own, which shares the application's PostgreSQL: no relay has to send them. +style+ of the
    # places for parameters: +numeric_dollar+ ($1), +qmark+ (?) or +format+ (%s); by default what drivers of the database take.
    def initialize(client, database:, table: TABLE, in_engine: false, style: nil)
      @client = client
      @database = database.to_s
      @table = table.to_s
      @in_engine = in_engine
      usual = STYLES.fetch(@database) { raise ValidationError, "no outbox in '#{database}': there is one in #{STYLES.keys.join(", ")}" }
      @style = style || usual
    end

    # Whether the rows are the engine's own.
    def in_engine?
      @in_engine
    end

    # Runs the client's enqueue middleware, now, and makes the row of what comes out. What is wrong with the job is raised here, inside
    # the transaction; NotEnqueuedError when a middleware dropped it. Takes what JobRequest.of takes.
    def stage(job)
      staged = nil
      @client.through(JobRequest.of(job)) do |changed|
        body = changed.to_h
        id, sql, params = row(Wire.dump(body))
        request = Options.completed(Wire.load(Wire.dump({ **body, id: id })))
        staged = Staged.new(Job.new({ **request, **request.fetch("options", {}) }.except("options")), sql, params, request)
        staged.job
      end
      staged or raise NotEnqueuedError.new("a middleware dropped the job", code: "not_enqueued")
    end

    # The query that lists rows not sent yet: id, type, arguments, options. What is in them as JSON, #waiting reads.
    def waiting_query
      Native.outbox_staged_query(database, table, in_engine?)
    end

    # The rows of waiting_query as Hashes: +type+, +args+, +options+ and +id+, for tests.
    def waiting(rows)
      rows.map { |id, type, args, options| { type: type, args: Wire.load(args), options: Wire.load(options), id: id } }
    end

    private

    def row(request)
      # The relay has no key.
      request = @client.transport.encrypted(request)
      in_engine? ? Native.outbox_stage_in_engine(request, @style) : Native.outbox_stage(request, database, table, @style)
    end
  end
end
