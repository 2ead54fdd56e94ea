# frozen_string_literal: true

$LOAD_PATH.unshift(*%w[../lib ../../../lib ../../../test].map { |path| File.expand_path(path, __dir__) })
require "support"
require "ojs/active_record"
require "mysql2"
require "pg"
require "sqlite3"

# A real database of each kind, a real server, and the relay that the first commit starts.
module Databases
  # Another database.
  class Other < ActiveRecord::Base
    self.abstract_class = true
  end

  class User < ActiveRecord::Base; end

  # Another table, in the other database.
  class Animal < Other; end

  ActiveRecord::Base.legacy_connection_handling = false
  ActiveRecord::Migration.verbose = false

  # A file.
  class Sqlite
    def self.settings(name)
      @place ||= Dir.mktmpdir.tap { |place| Minitest.after_run { FileUtils.rm_rf(place) } }
      { adapter: "sqlite3", database: "#{@place}/#{name}.db", timeout: 60_000 }
    end
  end

  # A database of the server in OJS_TEST_POSTGRES.
  class Postgresql
    PREFIX = "ar_#{Process.pid}_"

    def self.settings(name)
      url = URI.parse(ENV.fetch("OJS_TEST_POSTGRES") { raise "run this under postgres-fixture, which sets OJS_TEST_POSTGRES" })
      name = "#{PREFIX}#{name}"
      @made ||= {}
      @made[name] ||= PG.connect(url.to_s).then do |admin|
        admin.exec("CREATE DATABASE #{name}")
        admin.close
        true
      end
      query = URI.decode_www_form(url.query.to_s).to_h
      host = url.host.to_s.empty? ? query["host"] : URI.decode_www_form_component(url.host)
      { adapter: "postgresql", host: host, port: url.port || query["port"], username: url.user, password: url.password,
        database: name }.compact
    end
  end

  # A database of the server in OJS_TEST_MYSQL.
  class Mysql
    # Children of the test are in the same database.
    PREFIX = "ar_#{Process.pid}_"

    def self.settings(name)
      url = URI.parse(ENV.fetch("OJS_TEST_MYSQL") { raise "run this under mariadb-fixture, which sets OJS_TEST_MYSQL" })
      place = { host: url.host, port: url.port, username: url.user, password: url.password }
      name = "#{PREFIX}#{name}"
      @made ||= {}
      @made[name] ||= Mysql2::Client.new(**place).then do |admin|
        admin.query("CREATE DATABASE #{name} CHARACTER SET utf8mb4")
        admin.close
        true
      end
      { adapter: "mysql2", database: name, **place }
    end
  end

  # What every test has: `database` names the class above.
  module Each
    include Support
    attr_reader :server, :client

    def setup
      super
      @server = OJS::Server.new("memory:")
      @client = client_of(server.url)
      connect(ActiveRecord::Base, app)
      connect(Other, "other")
      configure
    end

    def teardown
      super
      OJS.close(0)
      OJS.instance_variable_set(:@configuration, OJS::Configuration.new)
      ActiveRecord::Base.clear_all_connections!(nil) rescue ActiveRecord::Base.clear_all_connections!
      server.stop
    end

    # The application's own database.
    def app
      "app"
    end

    def configure
      OJS.configure do |config|
        config.url = server.url
        config.adapter = :active_record
        yield config if block_given?
      end
    end

    def connect(base, name)
      base.establish_connection(database.settings(name))
      tables(base.connection)
    end

    def tables(connection)
      connection.create_ojs_outbox
      connection.create_table(:users, if_not_exists: true) { |t| t.string :email }
      connection.create_table(:animals, if_not_exists: true) { |t| t.string :name }
      %w[ojs_outbox users animals].each { |name| connection.execute("DELETE FROM #{name}") }
    end

    def relay
      OJS.adapter.relay
    end

    # The relay has looked at everything there is: what is not sent then is never sent.
    def settle
      2.times do
        relay.start
        relay.stop(PATIENCE)
      end
    end

    def after_commit(...)
      OJS.enqueue_after_commit("a", ...)
    end
  end

  # Every test for each database.
  def self.each(tests, only: [Sqlite, Postgresql, Mysql])
    only.each do |kind|
      name = "#{tests.name}#{kind.name.split("::").last}"
      Object.const_set(name, Class.new(Minitest::Test) do
        include Each
        include tests
        define_method(:database) { kind }
        define_method(:sqlite?) { kind == Sqlite }
        define_method(:mysql?) { kind == Mysql }
      end)
    end
  end
end
