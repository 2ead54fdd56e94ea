# frozen_string_literal: true

# A small application. OJS_URL, DATABASE_URL and NOTES say where its server, its database, and what its jobs leave are.
require "rails"
require "active_record/railtie"
require "active_job/railtie"
require "action_controller/railtie"
require "ojs-adapter-rails"

module Shop
  class Application < Rails::Application
    config.root = File.expand_path("..", __dir__)
    config.load_defaults 6.1
    config.eager_load = false
    config.consider_all_requests_local = false
    config.secret_key_base = "0" * 64
    config.logger = Logger.new(ENV["SHOP_LOG"] || File::NULL)
    config.api_only = true
    config.hosts.clear
    config.active_job.queue_adapter = :ojs
    config.paths["config/database"] = "config/database.yml"
    config.active_record.dump_schema_after_migration = false
    config.active_record.maintain_test_schema = false
  end
end
