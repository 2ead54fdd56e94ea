# frozen_string_literal: true

require "securerandom"

module OJS
  # Enqueues jobs, looks them up, administers a server. Threads may share one. Nothing is opened before the first call, and a client
  # of an HTTP server works on in forked children.
  #
  #   client = OJS::Client.new("http://localhost:8080")     # or "sqlite:jobs.db", "memory:"; default: OJS_URL
  #   client.enqueue("email.send", to: "ada@example.com")
  class Client
    include Calls
    include Operations

    # How long the server may hold back the result of a job, in seconds: below the time-outs of common proxies.
    HELD_BACK = 20.0
    private_constant :HELD_BACK

    # Runs around every enqueue, see MiddlewareChain.
    attr_reader :middleware

    # Lengths of time are seconds or text such as "5s". +client_cert+ is a certificate file and a key file. +encryption_keys+ (else
    # OJS_ENCRYPTION_KEYS) encrypts the arguments of jobs, and decrypts them in workers: <tt>{ "k-2" => 32 bytes }</tt>, or
    # <tt>name:key,name:key</tt>; the first key is the one for new jobs.
    # gen:ruby/settings.j2:client (make gen; do not edit)
    def initialize(url = nil, transport: nil, auth_token: nil, headers: nil, tenant: nil, timeout: nil, connect_timeout: nil,
                   max_sends: nil, ca_file: nil, client_cert: nil, encryption_keys: nil,
                   max_response_bytes: nil, proxy: nil)
    # gen:end
      # gen:ruby/settings.j2:client_form (make gen; do not edit)
      options = {
        auth_token: auth_token,
        headers: headers,
        tenant: tenant,
        timeout: timeout,
        connect_timeout: connect_timeout,
        max_sends: max_sends,
        ca_file: ca_file,
        client_cert: client_cert,
        encryption_keys: encryption_keys,
        max_response_bytes: max_response_bytes,
        proxy: proxy&.to_s
      }.compact
      # gen:end
      @transport = Transport.new(url, transport, options)
      @middleware = MiddlewareChain.new(MiddlewareChain::ENQUEUE_ORDER)
    end

    # A client on a connection that is there already.
    def self.over(transport) # :nodoc:
      allocate.tap { |client| client.over(transport, MiddlewareChain.new(MiddlewareChain::ENQUEUE_ORDER)) }
    end

    # As new; with a block, closes the client after it and returns what the block does.
    def self.open(...)
      client = new(...)
      return client unless block_given?

      begin
        yield client
      ensure
        client.close
      end
    end

    # Adds enqueue middleware: <tt>use("name") { |request, nxt| nxt.call }</tt>.
    def use(name = nil, layer = nil, &block)
      middleware.add(name, layer, &block)
      self
    end

    # --- enqueue ---

    # Sends a job and returns it as the server stored it.
    #
    #   client.enqueue("email.send", to: "ada@example.com")                  # one argument, a Hash
    #   client.enqueue("email.send", ["ada@example.com", 3])                 # arguments by place
    #   client.enqueue("email.send", { to: "ada@example.com" }, queue: "mail", delay: "5m")
    #   client.enqueue("email.send", to: "ada@example.com", options: { queue: "mail" })
    #
    # Options: queue, priority, timeout, visibility_timeout, result_ttl, delay, delay_until, expires_at, total_timeout, retry, unique,
    # tags, id, meta, schema, and +extra+ for others by their names on the wire. An option without arguments in front of it would look
    # like an argument and is refused.
    def enqueue(...)
      enqueue_request(Client.request_of(...))
    end

    # The same for a JobRequest made before.
    def enqueue_request(request)
      stored = nil
      through(request) { |changed| stored = job(call("POST", "/jobs", changed.to_h)) }
      stored or raise NotEnqueuedError.new("a middleware dropped the job", code: "not_enqueued")
    end

    # Sends many jobs in one request: all are stored or none. Middleware runs for each, dropped jobs are left out.
    #
    #   client.enqueue_batch([{ type: "email.send", args: ["ada@example.com"], queue: "mail" }])
    def enqueue_batch(jobs)
      kept = kept(jobs)
      kept.empty? ? [] : jobs(call("POST", "/jobs/batch", { jobs: kept }))
    end

    # --- many jobs ---

    # Sends many jobs in one request, each on its own: one that is refused leaves the others alone. Up to 10,000 at a time; one
    # BulkItem per job, in order. With +atomic+ all are stored or none. The server answers the same request with the same
    # +idempotency_key+ the same way for a day; without one, a key is made for the call.
    def bulk_enqueue(jobs, atomic: false, idempotency_key: nil)
      kept = kept(jobs)
      return [] if kept.empty?

      # A key in any case: the core may send the request twice.
      body = { jobs: kept, atomicity: atomicity(atomic), idempotency_key: idempotency_key || SecureRandom.uuid }
      list(call("POST", "/jobs/bulk", body), "items").map { |item| BulkItem.new(item) }
    end

    # --- results ---

    # Waits for the end of the job: at most +timeout+, for ever without one. Raises TimeoutError when that is over.
    def wait_for_result(id, timeout: nil)
      limit = Durations.seconds("timeout", timeout)
      ends = limit && (now + limit)
      loop do
        left = ends ? [ends - now, 0.0].max : HELD_BACK
        wait = [left, HELD_BACK].min
        return JobResult.new(call("GET", query(path("jobs", id, "result"), wait: true, timeout: wait.ceil), wait: wait))
      rescue Error => e
        raise unless e.status == 408
        raise TimeoutError.new("job #{id} has not ended within #{limit} s", code: "timeout", retryable: true) if ends && now >= ends
      end
    end

    # --- events ---

    # What happens, as it happens: an Enumerator without end, or calls the block.
    #
    # It begins where the log ends when it is first asked; +after+ is the id of the last event that was dealt with, and "" the oldest
    # that is kept. When the connection is lost it asks again from there, so none is missed and none comes twice. +types+ may end in
    # <tt>*</tt>. A refusal, and a fault of the first request, is raised.
    #
    #   client.events(types: ["job.*"]) { |event| puts event.type }
    def events(types: [], queues: [], job_types: [], after: nil, &block)
      filter = { types: Array(types), queues: Array(queues), job_types: Array(job_types), after: after }
      log = Enumerator.new { |out| follow(EventReader.new(filter), out) }
      block ? log.each(&block) : log
    end

    # --- tenants ---

    # The same client with the requests of one tenant: they see and change what belongs to it, and the jobs are the
    # tenant's. It shares connection and middleware; closing it leaves them open.
    #
    #   client.of_tenant("acme").enqueue("email.send", to: "ada@example.com")
    def of_tenant(tenant)
      dup.tap { |view| view.over(@transport.of_tenant(tenant)) }
    end

    # --- workflows ---

    # Starts a workflow made by OJS.chain, OJS.group or OJS.batch.
    def workflow(definition)
      WorkflowStatus.new(member(call("POST", "/workflows", definition.to_h), "workflow"))
    end

    # --- cron ---

    # Enqueues +job+ whenever +expression+ matches; replaces a schedule of the same name. +overlap_policy+ says what happens while the
    # job before is not over: "skip" (the default), "allow", "cancel_previous" or "enqueue".
    #
    #   client.register_cron("digest", "0 7 * * 1-5", { type: "digest.send" }, timezone: "Europe/Prague")
    def register_cron(name, expression, job, timezone: nil, overlap_policy: nil, enabled: nil, description: nil)
      body = { name: name, expression: expression, job_template: JobRequest.of(job).to_h, timezone: timezone,
               overlap_policy: overlap_policy, enabled: enabled, description: description }.compact
      answer = call("POST", "/cron", body)
      answer.fetch("cron", answer)
    end

    # --- any other ---

    # Any call of the protocol; returns the decoded body of a 2xx answer. +path+ is relative to <tt>/ojs/v1</tt>.
    def request(method, path, body = nil)
      call(method, path, body)
    end

    # Releases the connection; an embedded engine is flushed. Later calls raise ClosedError.
    def close
      @transport.close
    end

    # Never the address: it may hold a password.
    def inspect
      "#<OJS::Client>"
    end

    # --- for the gem itself ---

    # Takes another connection.
    def over(transport, middleware = @middleware) # :nodoc:
      @transport = transport
      @middleware = middleware
    end

    # The connection, for OJS::Worker.
    def transport # :nodoc:
      @transport
    end

    # The request that a call of enqueue means.
    def self.request_of(type, args = (no_args = true), options = nil, **named) # :nodoc:
      no_args ? bare(type, named) : JobRequest.new(type, args, options, **options_of(named))
    end

    # A request whose arguments are the named ones.
    def self.bare(type, named) # :nodoc:
      options = named.delete(:options)
      doubtful = named.keys & Options::NAMES
      unless doubtful.empty?
        raise ValidationError, "'#{doubtful.first}' is the name of an option: is it one, or an argument of the job? Options come after " \
                               "the arguments, enqueue(type, args, #{doubtful.first}: …); arguments of that name go into { … }"
      end
      JobRequest.new(type, named.empty? ? [] : [named], options)
    end

    # Options as they were named; <tt>options: {…}</tt> among them is taken apart.
    def self.options_of(named) # :nodoc:
      named.key?(:options) ? named.except(:options).merge(JobRequest.hash_of("options", named[:options]).transform_keys(&:to_sym)) : named
    end

    # Runs the enqueue middleware on a request, completed with the present request's metadata; the block gets what comes out.
    def through(request) # :nodoc:
      middleware.run(tenanted(RequestContext.completed(request))) { |changed| yield JobRequest.of(changed) }
    end

    private

    # The request with the tenant of this client, unless it names one.
    def tenanted(request)
      tenant = @transport.tenant
      # What is no hash is refused with the other options.
      meta = request.meta.is_a?(Hash) ? request.meta : {}
      said = request.options.key?(:tenant) || meta.any? { |name, _| name.to_s == "tenant_id" }
      return request if tenant.nil? || said

      request.dup.tap { |changed| changed.options = request.options.merge(tenant: tenant) }
    end

    # The jobs that middleware lets through, as the wire has them.
    def kept(jobs)
      kept = []
      jobs.each do |one|
        through(JobRequest.of(one)) do |changed|
          kept << changed.to_h
          Job.new(Wire.load(Wire.dump(kept.last)))
        end
      end
      kept
    end

    def follow(reader, out)
      loop do
        sleep(reader.pause) if reader.pause.positive?
        begin
          answer = call("GET", reader.path, wait: reader.wait)
        rescue Error => e
          reader.failed(e)
          next
        end
        events = list(answer, "events").each { |event| out << Event.new(event) }
        reader.answered(events.size, member(answer, "cursor"))
      end
    end

    def now
      Process.clock_gettime(Process::CLOCK_MONOTONIC)
    end
  end
end
