# frozen_string_literal: true

module OJS
  # Fetches jobs and runs their handlers on Ruby threads.
  #
  #   worker = OJS::Worker.new("sqlite:jobs.db", queues: %w[mail default])
  #   worker.register("email.send") { |ctx| Mailer.deliver(ctx.args["to"]) }
  #   worker.run
  #
  # run ends on SIGTERM or SIGINT: running handlers may finish for +grace_period+ (a second signal ends that at once), then they are
  # cancelled and their jobs go back to the queue. Inside an application use start and stop.
  #
  # Every job ends in exactly one outcome: it is done when the handler returns, and any exception is a failure that the server retries
  # by the job's policy; NonRetryableError fails for good, Snooze runs it again later. Delivery is at least once, so handlers must bear
  # running twice.
  class Worker
    # gen:ruby/worker_states.j2 (make gen; do not edit)
    # By number of the core.
    STATES = %w[running quiet terminate stopped].freeze
    # gen:end

    # Longer than a program waits; the wait itself looks for signals all the time.
    LONG = 86_400.0
    # What a process that ends gives its workers, in seconds.
    EXIT = 2.0
    # Settings beside those of a connection.
    # gen:ruby/settings.j2:worker_names (make gen; do not edit)
    OPTIONS = %i[queues concurrency worker_id heartbeat_interval visibility_timeout grace_period
                 flush_timeout poll_interval labels release_on_shutdown unknown_types only_registered_types
                 transport].freeze
    # gen:end
    private_constant :STATES, :LONG, :EXIT, :OPTIONS

    # Runs around every handler, see MiddlewareChain.
    attr_reader :middleware
    # The queues, in order of preference.
    attr_reader :queues
    # Handlers that run at a time.
    attr_reader :concurrency

    # +url+ is one that a Client takes, or a Client whose connection is shared. Lengths of time are seconds or text such as "30s".
    # Further options are those of a Client.
    #
    # +unknown_types+ says what happens to a job whose type has no handler: <tt>:fail</tt> (it becomes a dead letter;
    # the default) or
    # <tt>:release</tt> (it goes back to its queue, and no attempt is counted). With +only_registered_types+ the
    # worker asks the server for jobs of its types only. Outcomes that do not reach the server are sent again for
    # +flush_timeout+ after the
    # grace period.
    # gen:ruby/settings.j2:worker (make gen; do not edit)
    def initialize(url = nil, transport: nil, queues: nil, concurrency: nil, worker_id: nil, heartbeat_interval: nil,
                   visibility_timeout: 30, grace_period: nil, flush_timeout: nil, poll_interval: nil,
                   labels: [], release_on_shutdown: true, unknown_types: nil, only_registered_types: false,
                   **connection)
    # gen:end
      unknown = connection.keys - Transport::OPTIONS
      known = (OPTIONS + Transport::OPTIONS).map(&:to_s)
      raise ValidationError, Native.unknown_name("option", unknown.first.to_s, "", known) unless unknown.empty?

      @client = url if url.is_a?(Client)
      @transport = @client ? nil : Transport.new(url, transport, connection)
      @middleware = MiddlewareChain.new
      @handlers = {}
      @versions = {}
      # Queues that jobs go to by default, by type.
      @elsewhere = {}
      said = Transport.environment
      @queues = names(queues || said.fetch(:queues))
      @concurrency = slots(concurrency || said.fetch(:concurrency))
      # gen:ruby/settings.j2:worker_form (make gen; do not edit)
      @settings = {
        worker_id: worker_id,
        heartbeat_interval: Durations.seconds(:heartbeat_interval, heartbeat_interval),
        visibility_timeout: Durations.seconds(:visibility_timeout, visibility_timeout),
        grace_period: Durations.seconds(:grace_period, grace_period || said[:grace_period]),
        flush_timeout: Durations.seconds(:flush_timeout, flush_timeout),
        poll_interval: Durations.seconds(:poll_interval, poll_interval),
        labels: labels,
        release_on_shutdown: release_on_shutdown,
        unknown_types: unknown_types&.to_s,
        only_registered_types: only_registered_types
      }
      # gen:end
      @lanes = []
      @ending = false
    end

    # --- before the start ---

    # Registers the handler of a job type, a block or anything that answers to +call+; "*" stands for every other type. +defaults+ are
    # options for all jobs of the type that this process enqueues; what a job says itself wins:
    #
    #   worker.register("email.send", queue: "mail", retry: 5, timeout: 30) { |ctx| … }
    #
    # <tt>version: "2.1"</tt> is one of them, and says for which version of the arguments the handler is written as
    # well: where the server has job versioning, it gives this worker jobs of version 2, those without a version, and
    # those whose arguments a transform brings to version 2. <tt>versions: [">=2.0 <4.0"]</tt> names other ranges.
    def register(type, handler = nil, versions: nil, **defaults, &block)
      check_new("register handlers")
      handler ||= block
      type = type.to_s
      raise ValidationError, "register(type) { |ctx| … } needs a job type" if type.empty?

      Handlers.check(type, handler)
      raise ValidationError, "a handler for '#{type}' is registered already" if @handlers.key?(type)

      Options.defaults(type, defaults) unless defaults.empty?
      @elsewhere[type] = defaults[:queue].to_s if defaults[:queue]
      versions_of(type).take(defaults[:version], versions) if versions || defaults[:version]
      @handlers[type] = handler
      self
    end

    # Registers how arguments of version +from+ become those of version +to+: the block gets the Array of arguments
    # and returns one. Changes are made one after the other, before the middleware and the handler see the job, as long
    # as there is one for the version that the arguments have then. One that raises ends the job with the code
    # +version_transform+. A job that no change brings to a version of its handler fails with the code
    # +unsupported_version+, or goes back to its queue (<tt>unknown_types: :release</tt>).
    #
    #   worker.transform("user.welcome", "1", "2") { |args| [{ name: args[0] }] }
    def transform(type, from, to, change = nil, &block)
      check_new("register transforms")
      versions_of(type.to_s).add(type.to_s, from, to, change || block)
      self
    end

    # What handlers enqueue with: the client that the worker was given, else one on the worker's own connection.
    def client
      @client ||= Client.over(@transport)
    end

    # The types that have a handler.
    def types
      @handlers.keys
    end

    # Whether a handler is registered for exactly this type, or "*".
    def handles?(type)
      @handlers.key?(type.to_s)
    end

    # Adds a layer around every handler: <tt>use("name") { |ctx, nxt| nxt.call }</tt>.
    def use(name = nil, layer = nil, &block)
      middleware.add(name, layer, &block)
      self
    end

    # Changes what was given at creation, before the start: what a command line overrides.
    def configure(url: nil, queues: nil, concurrency: nil)
      check_new("configure the worker")
      if url
        @client = nil
        @transport = Transport.new(url, nil, {})
      end
      @queues = names(queues) if queues
      @concurrency = slots(concurrency) if concurrency
      self
    end

    # --- running ---

    # Starts working in the background and returns.
    def start
      raise ForkedError.new("this worker was started in the parent process; start one after the fork", code: "forked") if forked?
      raise ValidationError, "a worker can be started once; make another one" if @native
      raise ValidationError, "the worker has no handlers: register some before it starts" if @handlers.empty?

      # Before the first job: what fails at once is a record already.
      Logs.start
      @native = native = Native::Worker.new(connection, Wire.dump(settings))
      begin
        native.start
      rescue Exception
        @transport_threads&.close
        raise
      end
      warn_of_queues
      Worker.live(self)
      concurrency.times { add_lane }
      native.stop(nil) if @stop_at_start
      self
    end

    # Works until SIGTERM, SIGINT, shutdown, or a directive of the server.
    def run
      Signals.handle(self) do
        start
        wait
      ensure
        stop
      end
    end

    # Stops gracefully and waits until it is over. +grace+ instead of the grace period. May be called again.
    def stop(grace = nil)
      return if @native.nil? || forked? || @native.id.nil?
      raise ValidationError, "a handler cannot wait for its own worker: call shutdown" if @lanes.any? { |lane| lane.thread == Thread.current }

      @native.stop(Durations.seconds("grace", grace)) if @native.phase < 2
      wait
      clean_up
    end

    # Begins to stop and returns at once. A second call ends the grace period.
    def shutdown(grace = nil)
      running.stop(Durations.seconds("grace", grace))
    end

    # Fetches no more; what runs goes on.
    def quiet
      running.quiet
    end

    # Fetches again after quiet.
    def resume
      running.resume
    end

    # Waits until the worker is over; false when it was not in time.
    def wait(timeout = nil)
      native = running
      return native.wait(Durations.seconds("timeout", timeout)) if timeout

      nil until native.wait(LONG)
      true
    end

    # The worker's name on the server, once started.
    def id
      @native&.id
    end

    # +new+, +running+, +quiet+, +terminate+ or +stopped+, as text.
    def state
      @native.nil? ? "new" : STATES.fetch(@native.phase)
    end

    # Jobs taken in and not yet answered.
    def held
      @native.nil? ? 0 : @native.held
    end

    def inspect
      "#<OJS::Worker queues=#{queues.inspect} state=#{state.inspect}>"
    end

    # --- for the gem itself ---

    # A signal may come while the worker still starts.
    def on_signal(action) # :nodoc:
      return @native.public_send(action == :shutdown ? :stop : action, *(action == :shutdown ? [nil] : [])) if id

      @stop_at_start = true if action == :shutdown
    end

    # Runs middleware and handler. The handler's return value is the result, when it is JSON data.
    def perform(ctx) # :nodoc:
      handler = @handlers[ctx.type] || @handlers["*"]
      raise NoHandler, ctx.type if handler.nil?

      ctx.producer = self
      @versions[ctx.type]&.apply(ctx)

      middleware.run(ctx) do |changed|
        returned = handler.call(changed)
        changed.result = returned if !returned.nil? && Wire.data?(returned)
        changed.result
      end
    end

    # How its requests reach the server.
    def transport # :nodoc:
      @client ? @client.transport : @transport
    end

    # At the end of the process: what still runs goes back to the queue.
    def finish # :nodoc:
      @ending = true
      return if @native.nil? || forked?

      @native.stop(0.0)
      @native.wait(EXIT)
    rescue Error
      nil
    end

    @live = {}.compare_by_identity

    class << self
      # Remembers a running worker until the process ends, or the worker does.
      def live(worker) # :nodoc:
        @at_exit ||= at_exit { @live.keys.each(&:finish) }
        @live[worker] = true
      end

      def over(worker) # :nodoc:
        @live.delete(worker)
      end
    end

    private

    def versions_of(type)
      @versions[type] ||= Versions.new
    end

    def warn_of_queues
      @elsewhere.each do |type, queue|
        next if queues.include?(queue)

        OJS.logger.warn { "jobs of type '#{type}' go to the queue '#{queue}', and this worker asks for #{queues.join(", ")} only" }
      end
    end

    def add_lane
      @lanes << Lane.new(@native, "ojs-worker-#{@lanes.size}", perform: method(:perform), killed: method(:lane_killed))
    end

    # A thread that was killed leaves its place to another one.
    def lane_killed(lane)
      return if @ending || @native.phase == 3

      @lanes.delete(lane)
      add_lane
    end

    def settings
      types = @handlers.keys
      { **@settings, queues: queues, concurrency: concurrency, types: types - ["*"], fallback: types.include?("*"),
        versions: @versions.transform_values(&:said) }
    end

    def connection
      return transport.connection if transport.connection

      @transport_threads = TransportThreads.new(transport.custom)
      @transport_threads.connection
    end

    # After the end. Threads stuck in a handler are left behind: their jobs went back to the queue.
    def clean_up
      @ending = true
      Worker.over(self)
      @lanes.each { |lane| lane.thread.join(EXIT) unless lane.busy? }
      @transport_threads&.close
      Logs.flush
    end

    def running
      raise ValidationError, "the worker has not been started" if @native.nil?
      raise ForkedError.new("this worker was started in the parent process; start one after the fork", code: "forked") if forked?

      @native
    end

    def forked?
      !@native.nil? && !@native.own?
    end

    def check_new(what)
      raise ValidationError, "#{what} before the worker starts" if @native
    end

    def names(queues)
      list = queues.is_a?(String) ? queues.split(",") : queues
      unless list.respond_to?(:to_ary) && list.to_ary.all? { |name| name.is_a?(String) || name.is_a?(Symbol) }
        raise ValidationError, "queues must be a list of names, or text such as \"mail,default\"; got #{queues.inspect}"
      end

      list = list.map { |name| name.to_s.strip }.reject(&:empty?)
      raise ValidationError, "a worker needs at least one queue" if list.empty?

      list
    end

    def slots(concurrency)
      slots = Integer(concurrency.is_a?(Float) ? nil : concurrency, exception: false)
      return slots if slots&.positive?

      raise ValidationError, "concurrency must be at least 1, got #{concurrency.inspect}"
    end
  end
end
