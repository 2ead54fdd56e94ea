# frozen_string_literal: true

module OJS
  module RailsAdapter
    # <tt>bin/rails ojs:worker</tt> and <tt>bin/rails ojs:relay</tt>.
    module Commands
      # Evaluated in the worker: <tt>register("email.welcome") { |ctx| … }</tt>.
      FILE = "config/ojs_worker.rb"
      # How often a relay says what it has done, in seconds.
      PAUSE = 10

      module_function

      # A worker of this application: Active Job's classes, and what config/ojs_worker.rb registers. Each job runs as a request does: its
      # connections go back to their pools, and code that has changed is loaded anew.
      def worker(queues: ENV.fetch("OJS_QUEUE", nil), **options)
        app = ::Rails.application
        app.config.eager_load_namespaces.each(&:eager_load!)
        worker = Worker.new(OJS.client, queues: queues && Jobs.queue(queues), **options)
        file = app.root.join(FILE)
        worker.instance_eval(file.read, file.to_s) if file.file?
        Jobs.register(worker)
        worker.middleware.prepend("rails_context", RequestContext::RESTORE)
        worker.middleware.prepend("rails") { |_ctx, nxt| app.reloader.wrap { nxt.call } }
        worker
      end

      # Works until SIGTERM or SIGINT. In development the log is on the terminal as well, as that of
      # <tt>bin/rails server</tt> is.
      def work(out: $stdout)
        out.sync = true
        log_to(out) if ::Rails.env.development?
        RailsAdapter.start
        worker = self.worker
        out.puts "working #{worker.queues.join(", ")} with #{worker.concurrency} threads"
        worker.run
        OJS.close
      end

      # Rails.logger writes to +out+, too, unless it writes to the terminal anyway.
      def log_to(out)
        logger = ::Rails.logger
        return if ActiveSupport::Logger.logger_outputs_to?(logger, $stdout, $stderr)

        console = ActiveSupport::Logger.new(out, level: logger.level, formatter: logger.formatter)
        # Since Rails 7.1 a logger broadcasts by itself.
        return logger.broadcast_to(console) if logger.respond_to?(:broadcast_to)

        logger.extend(ActiveSupport::Logger.broadcast(console))
      end
      private_class_method :log_to

      # Relays until SIGTERM or SIGINT, then sends what is committed; with +once+ it sends what is there and ends.
      def relay(once: false, out: $stdout)
        relay = OJS.adapter.relay.start
        out.puts "relaying #{OJS.configuration.outbox_table} of '#{::ActiveRecord::Base.connection_db_config.name}'"
        out.flush
        follow(relay, out) unless once
        relay.stop(once ? 60.0 : 5.0)
      end

      def follow(relay, out)
        ended, ending = IO.pipe
        %w[TERM INT].each { |signal| trap(signal) { ending.close unless ending.closed? } }
        before = relay.status
        until ended.wait_readable(PAUSE)
          now = relay.status
          out.puts(now.map { |name, value| "#{name} #{value}" }.join(", ")) if now != before
          before = now
        end
      end
      private_class_method :follow
    end
  end
end
