# frozen_string_literal: true

require_relative "lib/ojs/version"

Gem::Specification.new do |spec|
  spec.name = "ojs"
  spec.version = OJS::VERSION
  spec.summary = "Open Job Spec: background jobs with an engine that runs in your process"
  spec.description = "Enqueue jobs and run workers, on an embedded SQLite engine or any Open Job Spec server: retries, workflows, cron."
  spec.authors = ["Open Job Spec"]
  spec.homepage = "https://openjobspec.org"
  spec.license = "Apache-2.0"
  spec.metadata = { "source_code_uri" => "https://github.com/openjobspec/ojs/tree/main/ruby", "rubygems_mfa_required" => "true" }
  spec.files = Dir.chdir(__dir__) { Dir["lib/**/*.{rb,so,bundle}", "sig/*.rbs", "exe/*", "{README.md,LICENSE,THIRD-PARTY-NOTICES.txt}"] }
  spec.bindir = "exe"
  spec.executables = ["ojs"]

  # The native half is inside, built for these versions of Ruby on this platform.
  spec.platform = Gem::Platform::CURRENT
  minors = spec.files.filter_map { |file| file[%r{\Alib/ojs/(\d+\.\d+)/}, 1] }.sort_by { |minor| Gem::Version.new(minor) }
  raise "no native part in lib/ojs: build it with scripts/ruby.sh" if minors.empty?

  spec.required_ruby_version = [">= #{minors.first}", "< #{Gem::Version.new(minors.last).bump}"]
end
