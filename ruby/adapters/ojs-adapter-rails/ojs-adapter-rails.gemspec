# frozen_string_literal: true

require_relative "../../lib/ojs/version"

Gem::Specification.new do |spec|
  spec.name = "ojs-adapter-rails"
  spec.version = OJS::VERSION
  spec.summary = "Open Job Spec for Rails: transactional enqueue, Active Job, request context, worker and relay commands"
  spec.authors = ["Open Job Spec"]
  spec.homepage = "https://openjobspec.org"
  spec.license = "Apache-2.0"
  spec.metadata = { "source_code_uri" => "https://github.com/openjobspec/ojs/tree/main/ruby/adapters/ojs-adapter-rails",
                    "rubygems_mfa_required" => "true" }
  spec.files = Dir.chdir(__dir__) { Dir["lib/**/*.{rb,rake,tt}", "{README.md,LICENSE}"] }
  spec.required_ruby_version = ">= 3.1"
  spec.add_dependency "activejob", ">= 6.1"
  spec.add_dependency "ojs-adapter-activerecord", OJS::VERSION
  spec.add_dependency "railties", ">= 6.1"
  spec.add_development_dependency "pg"
  spec.add_development_dependency "puma"
  spec.add_development_dependency "sqlite3"
end
