# frozen_string_literal: true

# --- as in "Framework Adapters", section 8.1 ---
# config/initializers/ojs.rb
OJS.configure do |config|
  config.url = ENV['OJS_URL']
  config.adapter = :active_record  # Uses transactional outbox
  config.outbox_table = 'ojs_outbox'
end
# --- end ---
