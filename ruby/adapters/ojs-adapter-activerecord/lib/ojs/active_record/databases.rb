# frozen_string_literal: true

require "etc"
require "uri"

module OJS
  class ActiveRecordAdapter
    # From a connection pool to what the outbox and its relay want to know of the database.
    module Databases
      NAMES = { "PostgreSQL" => "postgresql", "PostGIS" => "postgresql", "SQLite" => "sqlite", "Mysql2" => "mysql", "Trilogy" => "mysql",
                "postgresql" => "postgresql", "postgis" => "postgresql", "sqlite3" => "sqlite", "mysql2" => "mysql", "trilogy" => "mysql" }.freeze

      module_function

      # The dialect of the outbox; +name+ as Active Record calls the adapter.
      def dialect(name)
        NAMES.fetch(name) { raise OutboxError, "the database is #{name}; there is an outbox for PostgreSQL, MySQL and SQLite" }
      end

      # What tells a database from others: its URL, or the path of its file.
      def address(pool)
        settings = pool.db_config.configuration_hash
        dialect(settings[:adapter]) == "sqlite" ? path(settings) : url(settings)
      end

      # The relay of a database: PostgreSQL and MySQL by URL, SQLite through the application's own driver, in the relay's thread.
      def relay(client, pool, **options)
        settings = pool.db_config.configuration_hash
        return Relay.new(client, url(settings), **options) unless dialect(settings[:adapter]) == "sqlite"

        file = path(settings)
        Relay.new(client, **options) { SQLite3::Database.new(file) }
      end

      # Refuses an engine in this process on the application's own SQLite file.
      def check(pool, url)
        return unless url.start_with?("sqlite:")

        settings = pool.db_config.configuration_hash
        return unless dialect(settings[:adapter]) == "sqlite"
        return unless real(url.delete_prefix("sqlite:").split("?").first) == real(path(settings))

        raise OutboxError, "config.url and the database '#{pool.db_config.name}' are one SQLite file: two copies of SQLite would open it " \
                           "and destroy it. Give the jobs a file of their own"
      end

      def path(settings)
        name = settings[:database].to_s
        if name.empty? || name == ":memory:" || name.include?("mode=memory")
          raise OutboxError, "the SQLite database is in memory: no relay can read it. Use a file"
        end

        name.start_with?("file:") ? name : File.expand_path(name, (::Rails.root if defined?(::Rails.root)))
      end
      private_class_method :path

      def real(path)
        File.realdirpath(path)
      rescue SystemCallError
        File.expand_path(path)
      end
      private_class_method :real

      def url(settings)
        dialect(settings[:adapter]) == "mysql" ? mysql_url(settings) : postgresql_url(settings)
      end
      private_class_method :url

      # The words of the gems mysql2 and trilogy.
      def mysql_url(settings)
        login = [settings[:username] || Etc.getpwuid.name, settings[:password]].compact.map { |part| escaped(part) }.join(":")
        port = ":#{settings[:port]}" if settings[:port]
        more = { "socket" => settings[:socket], "ssl-ca" => settings[:sslca] || settings[:ssl_ca] }
        more["ssl-mode"] = settings[:ssl_mode]&.to_s&.delete_prefix("SSL_MODE_") || ("VERIFY_CA" if more["ssl-ca"])
        query = more.compact.map { |name, value| "#{name}=#{escaped(value)}" }.join("&")
        "mysql://#{login}@#{settings[:host] || "localhost"}#{port}/#{escaped(settings[:database])}#{"?#{query}" unless query.empty?}"
      end
      private_class_method :mysql_url

      # As libpq completes what the configuration leaves out.
      def postgresql_url(settings)
        user = settings[:username] || ENV.fetch("PGUSER", nil) || Etc.getpwuid.name
        password = settings[:password] || ENV.fetch("PGPASSWORD", nil)
        host = settings[:host] || ENV.fetch("PGHOST", nil) || "/var/run/postgresql"
        port = settings[:port] || ENV.fetch("PGPORT", nil)
        login = [user, password].compact.map { |part| escaped(part) }.join(":")
        more = { sslmode: settings[:sslmode], sslrootcert: settings[:sslrootcert] }
        more[:options] = "-csearch_path=#{settings[:schema_search_path].delete(" ")}" if settings[:schema_search_path]
        query = more.compact.map { |name, value| "#{name}=#{escaped(value)}" }.join("&")
        "postgresql://#{login}@#{escaped(host)}#{":#{port}" if port}/#{escaped(settings[:database] || user)}#{"?#{query}" unless query.empty?}"
      end
      private_class_method :postgresql_url

      def escaped(text)
        URI.encode_www_form_component(text.to_s).gsub("+", "%20")
      end
      private_class_method :escaped
    end
  end
end
