# frozen_string_literal: true

require_relative "../../lib/ojs/version"

Gem::Specification.new do |spec|
  spec.name = "ojs-adapter-activerecord"
  spec.version = OJS::VERSION
  spec.summary = "Open Job Spec for Active Record: a job runs if, and only if, the transaction that enqueued it commits"
  spec.authors = ["Open Job Spec"]
  spec.homepage = "https://openjobspec.org"
  spec.license = "Apache-2.0"
  spec.metadata = { "source_code_uri" => "https://github.com/openjobspec/ojs/tree/main/ruby/adapters/ojs-adapter-activerecord",
                    "rubygems_mfa_required" => "true" }
  spec.files = Dir.chdir(__dir__) { Dir["lib/**/*.rb", "{README.md,LICENSE}"] }
  spec.required_ruby_version = ">= 3.1"
  spec.add_dependency "activerecord", ">= 6.1"
  spec.add_dependency "ojs", OJS::VERSION
  spec.add_development_dependency "pg"
  spec.add_development_dependency "sqlite3"
end
