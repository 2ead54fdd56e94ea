# frozen_string_literal: true

# The native half, built for one minor version of Ruby.
begin
  require_relative "#{RbConfig::CONFIG["ruby_version"][/\A\d+\.\d+/]}/ojs_ruby"
rescue LoadError => e
  raise LoadError, "the gem ojs has no native part for Ruby #{RUBY_VERSION} on #{RUBY_PLATFORM}: #{e.message}"
end

module OJS
  # The core. Private: everything here may change without notice.
  module Native; end
  private_constant :Native
end
