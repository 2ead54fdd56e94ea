# frozen_string_literal: true

module OJS
  class ActiveRecordAdapter
    # For migrations and <tt>db/schema.rb</tt>: <tt>create_ojs_outbox "ojs_outbox"</tt>.
    module Schema
      # Makes the tables of an outbox, or adds what a table made by the specification's DDL lacks. May be run again.
      def create_ojs_outbox(table = Outbox::TABLE, **)
        Outbox.migration(Databases.dialect(adapter_name), table).each { |statement| execute(statement) }
      end

      # Deletes them, with what is in them.
      def drop_ojs_outbox(table = Outbox::TABLE, **)
        [table, "#{table}_relay", "#{table}_gate"].each { |name| drop_table(name, if_exists: true) }
        execute("DROP FUNCTION IF EXISTS #{table}_number(regclass, regclass)") if Databases.dialect(adapter_name) == "postgresql"
      end
    end

    # A dumped schema says create_ojs_outbox in place of the tables: what numbers the rows in PostgreSQL is a function, which Active
    # Record does not dump.
    module Dump # :nodoc:
      private

      def tables(stream)
        outboxes.each { |table| stream.puts "  create_ojs_outbox #{table.inspect}\n\n" }
        super
      end

      def ignored?(name)
        super || outboxes.any? { |table| [table, "#{table}_relay", "#{table}_gate"].include?(name) }
      end

      def outboxes
        names = @connection.tables
        names.select { |name| names.include?("#{name}_relay") && name == OJS.configuration.outbox_table.to_s }
      end
    end
    private_constant :Dump
    ::ActiveRecord::ConnectionAdapters::AbstractAdapter.include(Schema)
    ::ActiveRecord::SchemaDumper.prepend(Dump)
  end
end
