# frozen_string_literal: true

require "rails/generators/active_record"

module Ojs
  module Generators
    # <tt>bin/rails generate ojs:install</tt>: an initializer, the migration of the outbox, a place for handlers.
    class InstallGenerator < ::Rails::Generators::Base
      include ::ActiveRecord::Generators::Migration

      source_root File.expand_path("templates", __dir__)
      desc "Writes config/initializers/ojs.rb, config/ojs_worker.rb and the migration of the outbox."

      # The settings.
      def initializer
        template "initializer.rb.tt", "config/initializers/ojs.rb"
      end

      # Handlers that are no Active Job classes.
      def handlers
        template "ojs_worker.rb.tt", "config/ojs_worker.rb"
      end

      # The outbox.
      def migration
        migration_template "migration.rb.tt", "#{db_migrate_path}/create_ojs_outbox.rb"
      end
    end
  end
end
