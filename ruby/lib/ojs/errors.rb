# frozen_string_literal: true

# Made from xtask/schema.toml by make gen; do not edit.

require "json"

module OJS
  # Base of all errors of this gem:
  #
  #   Error
  #   ├── APIError                            the server answered with an error
  #   │   ├── ConflictError                   the job's state or another job is in the way
  #   │   │   ├── DuplicateError              same id, or a unique policy said so
  #   │   │   └── InvalidStateTransitionError the job's state does not allow this
  #   │   ├── NotFoundError                   no such job, queue, workflow
  #   │   ├── QueuePausedError                the queue refuses jobs
  #   │   ├── RateLimitError                  too fast, or the queue is full
  #   │   ├── PayloadTooLargeError            more than the server takes
  #   │   ├── InvalidRequestError             the server found the request wrong
  #   │   │   └── UnsupportedExtensionError   the server lacks an extension that it needs
  #   │   └── AuthenticationError             the token is missing, wrong, or not allowed to
  #   ├── ConnectionError                     no answer; the server may not be there
  #   │   └── TimeoutError                    no answer in time; the server may have acted
  #   ├── ValidationError                     wrong before it was sent
  #   ├── NotEnqueuedError                    an enqueue middleware dropped the job
  #   ├── MiddlewareError                     a chain was used wrongly
  #   ├── OutboxError                         the outbox cannot be used so, or not here
  #   ├── UntrustedWebhookError               a webhook whose signature does not fit
  #   ├── ClosedError                         the client or worker was closed
  #   ├── ForkedError                         made in the parent of a forked process
  #   └── InternalError                       a bug in OJS
  #
  # Which class a refusal of a server becomes is decided by the core, the same in every language.
  class Error < StandardError
    # Machine-readable, as the server wrote it, such as <tt>not_found</tt>.
    attr_reader :code
    # The HTTP status; 0 when there was no answer.
    attr_reader :status
    # More about the error, in the forms of JSON; nil when there is no more.
    attr_reader :details
    # What to do next, in the server's words; nil when the server gave no hint.
    attr_reader :hint
    # The name of the request in the server's log; nil when the server gave none.
    attr_reader :request_id
    # The number of the code in the catalogue of OJS errors, such as <tt>OJS-3000</tt>; nil when it has none.
    attr_reader :numeric

    def initialize(message = nil, code: "internal_error", retryable: false, status: 0, details: nil, hint: nil, request_id: nil,
                   numeric: nil)
      super(message)
      @code = code
      @retryable = retryable
      @status = status
      @details = details
      @hint = hint
      @request_id = request_id
      @numeric = numeric
    end

    # Whether the same call may succeed later.
    def retryable?
      @retryable
    end

    # Called by the core to make an exception of its error.
    def self.from_native(number, text)
      about = JSON.parse(text, max_nesting: false)
      members = about.slice("code", "retryable", "status", "details", "hint", "request_id", "numeric")
      CLASSES.fetch(number, Error).new(about["message"], **members.transform_keys(&:to_sym))
    end
  end

  # The server answered, and the answer is an error.
  class APIError < Error; end

  # The job's present state or another job is in the way.
  class ConflictError < APIError; end

  # The job exists already: same id, or a unique policy said so.
  class DuplicateError < ConflictError
    # The id of the job that was there first.
    def existing_job_id
      details["existing_job_id"] if details.is_a?(Hash)
    end
  end

  # The state of the job, schema, workflow or other thing does not allow the operation; for a job, current_state in the details names it.
  class InvalidStateTransitionError < ConflictError; end

  # There is no such job, queue, workflow or schedule (any more).
  class NotFoundError < APIError; end

  # The queue is paused and refuses jobs.
  class QueuePausedError < APIError; end

  # The request came too fast, or the queue is full.
  class RateLimitError < APIError; end

  # The job, its metadata, its result or the batch is larger than the server takes.
  class PayloadTooLargeError < APIError; end

  # The server found the request wrong; field in the details names the place.
  class InvalidRequestError < APIError; end

  # The server does not have an extension that the request needs, such as job trains; extension in the details names it. Nothing was done.
  class UnsupportedExtensionError < InvalidRequestError; end

  # The token is missing, wrong, or not allowed to do this.
  class AuthenticationError < APIError; end

  # There was no OJS answer.
  class ConnectionError < Error; end

  # There was no answer in time; the server may have acted.
  class TimeoutError < ConnectionError; end

  # The request, an argument or a setting was found wrong before anything was sent.
  class ValidationError < Error
    def initialize(message = nil, code: "invalid_argument", **about)
      super
    end
  end

  # An enqueue middleware did not call next: the job was dropped on purpose.
  class NotEnqueuedError < Error
    def initialize(message = nil, code: "not_enqueued", **about)
      super
    end
  end

  # A chain was used wrongly: unknown name, name taken, changed while in use, next called twice.
  class MiddlewareError < Error
    def initialize(message = nil, code: "middleware", **about)
      super
    end
  end

  # The outbox cannot be used as it is set up, or not here: the message says what to do.
  class OutboxError < Error
    def initialize(message = nil, code: "outbox", **about)
      super
    end
  end

  # A request of a webhook is not to be trusted: a header is missing, the signature is old, or no secret fits. reason in the details is a word for it.
  class UntrustedWebhookError < Error
    def initialize(message = nil, code: "untrusted_webhook", **about)
      super
    end
  end

  # The client, worker or server was closed.
  class ClosedError < Error
    def initialize(message = nil, code: "closed", **about)
      super
    end
  end

  # A worker or embedded engine of the parent was used in a forked child. Make it after the fork.
  class ForkedError < Error
    def initialize(message = nil, code: "forked", **about)
      super
    end
  end

  # A bug in OJS. Please report it.
  class InternalError < Error; end

  class Error
    # By number of the core's table (+ErrorClass+ in bindings/abi).
    CLASSES = {
      1 => APIError,
      2 => DuplicateError,
      3 => NotFoundError,
      4 => QueuePausedError,
      5 => RateLimitError,
      6 => InvalidStateTransitionError,
      7 => PayloadTooLargeError,
      8 => InvalidRequestError,
      9 => AuthenticationError,
      11 => UnsupportedExtensionError,
      20 => ConnectionError,
      21 => TimeoutError,
      30 => ValidationError,
      31 => NotEnqueuedError,
      34 => UntrustedWebhookError,
      40 => ClosedError,
      41 => ForkedError,
      42 => InternalError
    }.freeze
    private_constant :CLASSES
  end

  # Raise it in a handler: the job fails for good, whatever its retry policy says.
  #
  #   raise OJS::NonRetryableError.new("card was declined", code: "card_declined")
  class NonRetryableError < StandardError
    attr_reader :code, :details

    def initialize(message = nil, code: "non_retryable", details: nil)
      super(message)
      @code = code
      @details = details
    end
  end

  # Raise it in a handler: the job runs again after a while, and no attempt is counted.
  #
  #   raise OJS::Snooze, 30      # seconds, or "5m"
  class Snooze < StandardError
    # In seconds.
    attr_reader :delay

    def initialize(delay)
      @delay = Durations.seconds("delay", delay)
      super("again in #{@delay} s")
    end
  end

  # Raised by JobContext#raise_if_cancelled; a handler that lets it through ends its job quietly.
  class JobCancelled < StandardError
    # +:cancelled+, +:lease_lost+, +:timed_out+ or +:shutdown+.
    attr_reader :reason

    def initialize(reason)
      @reason = reason
      super("the job should stop: #{reason}")
    end
  end
end
