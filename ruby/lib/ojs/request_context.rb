# frozen_string_literal: true

module OJS
  # What a request hands on to the jobs it makes: who, which request, which trace, which tenant, which language (specification
  # "Framework Adapters", section 7.1).
  #
  # A framework's adapter binds it around a request. Jobs enqueued meanwhile, by any client, carry it in their metadata; what a job says
  # itself in +meta+ stays. RESTORE, a worker's middleware, binds it again around the handler.
  #
  #   OJS::RequestContext.bound("tenant_id" => "acme") { OJS.enqueue("email.send", ["ada@example.com"]) }
  module RequestContext
    # The names in metadata.
    KEYS = %w[ojs.context.user_id ojs.context.request_id traceparent tenant_id ojs.context.locale].freeze
    # Worker middleware: the jobs that a handler enqueues carry what its own job carries.
    RESTORE = lambda do |ctx, nxt|
      RequestContext.bound(ctx.meta.slice(*KEYS)) { nxt.call }
    end
    SLOT = :ojs_request_context
    private_constant :SLOT

    module_function

    # Binds metadata while the block runs, in this thread (and fiber): a Hash, or something that answers to +call+ with one, which is
    # asked when a job is enqueued.
    def bound(meta)
      before = Thread.current[SLOT]
      Thread.current[SLOT] = meta
      yield
    ensure
      Thread.current[SLOT] = before
    end

    # The metadata of the present request; empty outside of one.
    def current
      found = Thread.current[SLOT]
      return {} if found.nil?

      # Who finds out who the user is may enqueue a job on the way.
      found = bound(nil) { found.call } if found.respond_to?(:call)
      found.transform_keys(&:to_s).reject { |_, value| value.nil? || value == "" }
    end

    # The metadata of a request from its headers, which +header+ reads by name, and from what authentication found.
    def of_request(header, user_id: nil, tenant_id: nil, request_id: nil)
      locale = header.call("Accept-Language").to_s.split(",").first.to_s.split(";").first.to_s.strip
      {
        "ojs.context.user_id" => user_id&.to_s,
        "ojs.context.request_id" => request_id || header.call("X-Request-ID"),
        "traceparent" => header.call("traceparent"),
        "tenant_id" => tenant_id.nil? ? header.call("X-OJS-Tenant") : tenant_id.to_s,
        "ojs.context.locale" => locale == "*" ? nil : locale
      }.reject { |_, value| value.nil? || value.empty? }
    end

    # The request with the present metadata added; itself where there is none.
    def completed(request)
      found = current
      found = found.except("tenant_id") if request.options.key?(:tenant)
      return request if found.empty?

      request.dup.tap { |changed| changed.meta = found.merge(request.meta.to_h.transform_keys(&:to_s)) }
    end
  end
end
