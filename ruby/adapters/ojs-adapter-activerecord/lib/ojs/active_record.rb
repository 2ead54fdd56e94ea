# frozen_string_literal: true

# Jobs that join Active Record's transactions: <tt>config.adapter = :active_record</tt> in OJS.configure.
require "active_record"
require "ojs"

require_relative "active_record/connections"
require_relative "active_record/databases"
require_relative "active_record/on_commit"
require_relative "active_record/adapter"
require_relative "active_record/schema"
require_relative "active_record/sqlite"

OJS.register_adapter(:active_record) { |configuration, client| OJS::ActiveRecordAdapter.new(configuration, client) }
