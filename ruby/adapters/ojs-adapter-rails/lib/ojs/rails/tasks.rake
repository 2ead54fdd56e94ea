# frozen_string_literal: true

namespace :ojs do
  desc "Work jobs: Active Job's, and those of config/ojs_worker.rb (OJS_QUEUE=a,b, OJS_CONCURRENCY=10)"
  task worker: :environment do
    OJS::RailsAdapter::Commands.work
  end

  desc "Send what transactions have put into the outbox (ONCE=1: what is there now). Any number may run; one sends"
  task relay: :environment do
    OJS::RailsAdapter::Commands.relay(once: ENV["ONCE"] == "1")
  end
end
