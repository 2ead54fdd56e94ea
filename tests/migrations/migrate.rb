# frozen_string_literal: true

# Migrates the outbox tables that its input names, see run.py.

require "uri"
require "mysql2"
require "ojs"
require "pg"

$stdout.sync = true
url = ARGV.fetch(0)
place = URI.parse(url)
if place.scheme == "mysql"
  dialect = "mysql"
  connection = Mysql2::Client.new(host: place.host, port: place.port || 3306, username: place.user,
                                  password: place.password, database: place.path.delete_prefix("/"))
else
  dialect = "postgresql"
  connection = PG.connect(url)
  # "relation already exists, skipping" is what all but the first are told.
  connection.set_notice_processor { |_| nil }
end
puts "ready"
while (line = $stdin.gets)
  OJS::Outbox.migration(dialect, line.strip).each { |statement| connection.query(statement) }
  puts "done"
end
