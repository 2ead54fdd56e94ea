# frozen_string_literal: true

ADAPTERS = File.expand_path("../..", __dir__)
LIBRARIES = ["#{ADAPTERS}/../lib", "#{ADAPTERS}/ojs-adapter-activerecord/lib", "#{ADAPTERS}/ojs-adapter-rails/lib"].freeze
$LOAD_PATH.unshift(*LIBRARIES, "#{ADAPTERS}/../test")
require "fileutils"
require "pg"
require "sqlite3"
require "tmpdir"
require "ojs"

# A copy of the application in ./app, with a database and a server of its own.
module Shop
  DATABASE = ARGV.shift
  PLACE = Dir.mktmpdir("shop")
  SERVER = OJS::Server.new("memory:")

  module_function

  # A new database; its URL.
  def database(name)
    return "sqlite3:#{PLACE}/#{name}.db" if DATABASE == "sqlite"

    url = URI.parse(ENV.fetch("OJS_TEST_POSTGRES") { raise "run this under postgres-fixture, which sets OJS_TEST_POSTGRES" })
    name = "rails_#{Process.pid}_#{name}"
    admin = PG.connect(url.to_s)
    admin.exec("CREATE DATABASE #{name}")
    admin.close
    url.dup.tap { |made| made.path = "/#{name}" }.to_s.sub("postgresql:", "postgres:")
  end

  # A command of the application, as its user types it.
  def rails(*arguments, **options)
    Process.spawn({ "RUBYLIB" => LIBRARIES.join(":") }, RbConfig.ruby, "bin/rails", *arguments, chdir: PLACE, **options)
  end

  # The same, to its end; what it printed.
  def run(*arguments)
    output = IO.popen({ "RUBYLIB" => LIBRARIES.join(":") }, [RbConfig.ruby, "bin/rails", *arguments, { chdir: PLACE, err: %i[child out] }], &:read)
    raise "bin/rails #{arguments.join(" ")}: #{output}" unless $?.success?

    output
  end
end

FileUtils.cp_r("#{__dir__}/app/.", Shop::PLACE)
ENV.update("RAILS_ENV" => "test", "OJS_URL" => Shop::SERVER.url, "DATABASE_URL" => Shop.database("shop"), "NOTES" => "#{Shop::PLACE}/notes")
# The generator writes what the specification prints; the application's own initializer is a copy of that, and is not replaced.
Shop.run("generate", "ojs:install", "--skip")
require "#{Shop::PLACE}/config/environment"
ActiveRecord::Migration.verbose = false
ActiveRecord::Migrator.migrations_paths = ["#{Shop::PLACE}/db/migrate"]
ActiveRecord::Base.connection.migration_context.migrate
require "rails/test_help"
require "#{ADAPTERS}/../test/support"
Minitest.after_run { FileUtils.rm_rf(Shop::PLACE) }

# What the tests share.
module ShopTest
  include Support

  def setup
    super
    ActiveRecord::Base.connection.execute("DELETE FROM ojs_outbox")
    User.delete_all
    @server = OJS::Server.new("memory:")
    @client = client_of(@server.url)
    OJS.configure { |config| config.url = @server.url }
    File.write(ENV.fetch("NOTES"), "")
  end

  def teardown
    super
    OJS.close(0)
    @server&.stop
    # Rails' own test case may come next, which takes the tables as they are.
    ActiveRecord::Base.connection.execute("DELETE FROM ojs_outbox")
  end

  attr_reader :client

  # The relay has looked at everything there is.
  def settle
    2.times do
      OJS.adapter.relay.start
      OJS.adapter.relay.stop(PATIENCE)
    end
  end

  # The application's worker, in this process.
  def work(queues = "default,low_priority")
    OJS::RailsAdapter::Commands.worker(queues: queues, concurrency: 2).tap do |worker|
      (@workers ||= []) << worker
      worker.start
    end
  end

  # So many lines that jobs have left.
  def notes(count)
    lines = nil
    eventually(-> { "#{count} lines, there are #{lines}" }) { (lines = File.readlines(ENV.fetch("NOTES"), chomp: true)).size >= count }
    lines
  end
end
