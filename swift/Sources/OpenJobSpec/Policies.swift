// Made from xtask/schema.toml by make gen; do not edit.

/// Where a job goes when all attempts have failed.
public enum OnExhaustion: String, Sendable {
    case discard = "discard"
    case deadLetter = "dead_letter"
}

/// The formula of the pauses.
public enum BackoffStrategy: String, Sendable {
    case exponential = "exponential"
    case linear = "linear"
    case constant = "constant"
    case none = "none"
    case polynomial = "polynomial"
}

/// What to do with the second job.
public enum OnConflict: String, Sendable {
    case reject = "reject"
    case replace = "replace"
    case replaceExceptSchedule = "replace_except_schedule"
    case ignore = "ignore"
}

/// What a train does when a job has ended without success: the next job runs, or none.
public enum TrainAction: String, Sendable {
    case advance = "advance"
    case hold = "hold"
}

/// When a job that is cancelled while it runs leaves its train: when its worker has let go of it, or at once.
public enum CancelActive: String, Sendable {
    case drain = "drain"
    case immediate = "immediate"
}

/// What happens when a job fails, how often and when it runs again. What is nil is decided by the server.
public struct RetryPolicy: JSONForm, Sendable {
    /// Runs in all, the first included.
    public var maxAttempts: Int?
    /// Pause before the first retry.
    public var initialInterval: Duration?
    /// Growth of the pause from one retry to the next.
    public var backoffCoefficient: Double?
    /// Longest pause.
    public var maxInterval: Duration?
    /// Spread the pauses at random, so that jobs that failed together do not come back together.
    public var jitter: Bool?
    /// Error types or codes that end the job at once.
    public var nonRetryableErrors: [String]?
    /// Where the job goes when all attempts have failed.
    public var onExhaustion: OnExhaustion?
    /// The formula of the pauses.
    public var backoffStrategy: BackoffStrategy?

    public init(
        maxAttempts: Int? = nil,
        initialInterval: Duration? = nil,
        backoffCoefficient: Double? = nil,
        maxInterval: Duration? = nil,
        jitter: Bool? = nil,
        nonRetryableErrors: [String]? = nil,
        onExhaustion: OnExhaustion? = nil,
        backoffStrategy: BackoffStrategy? = nil
    ) {
        self.maxAttempts = maxAttempts
        self.initialInterval = initialInterval
        self.backoffCoefficient = backoffCoefficient
        self.maxInterval = maxInterval
        self.jitter = jitter
        self.nonRetryableErrors = nonRetryableErrors
        self.onExhaustion = onExhaustion
        self.backoffStrategy = backoffStrategy
    }

    public func members() throws -> [String: Any] {
        given([
            "max_attempts": maxAttempts,
            "initial_interval": try initialInterval.map(durationText),
            "backoff_coefficient": backoffCoefficient,
            "max_interval": try maxInterval.map(durationText),
            "jitter": jitter,
            "non_retryable_errors": nonRetryableErrors,
            "on_exhaustion": onExhaustion?.rawValue,
            "backoff_strategy": backoffStrategy?.rawValue,
        ])
    }
}

/// When two jobs count as the same, and what happens to the second. What is nil is decided by the server.
public struct UniquePolicy: JSONForm, Sendable {
    /// What is compared: of type, queue, args, meta.
    public var keys: [String]?
    /// Only these members of the arguments count.
    public var argsKeys: [String]?
    /// Only these members of the metadata count.
    public var metaKeys: [String]?
    /// Only jobs made within this time count.
    public var period: Duration?
    /// Only jobs in these states count.
    public var states: [String]?
    /// What to do with the second job.
    public var onConflict: OnConflict?

    public init(
        keys: [String]? = nil,
        argsKeys: [String]? = nil,
        metaKeys: [String]? = nil,
        period: Duration? = nil,
        states: [String]? = nil,
        onConflict: OnConflict? = nil
    ) {
        self.keys = keys
        self.argsKeys = argsKeys
        self.metaKeys = metaKeys
        self.period = period
        self.states = states
        self.onConflict = onConflict
    }

    public func members() throws -> [String: Any] {
        given([
            "keys": keys,
            "args_keys": argsKeys,
            "meta_keys": metaKeys,
            "period": try period.map(durationText),
            "states": states,
            "on_conflict": onConflict?.rawValue,
        ])
    }
}

/// The train of a job: jobs of one train run one after the other, in the order in which they were stored. What is nil is decided by the server.
public struct Train: JSONForm, Sendable {
    /// The train, such as dest_123; dest_{destination_id} is filled in with an argument of the job.
    public var id: String?
    /// What the train does when the job is cancelled: without it the next job runs.
    public var onCancelled: TrainAction?
    /// What the train does when the job has failed for good: without it the next job runs.
    public var onDiscarded: TrainAction?
    /// When a job that is cancelled while it runs leaves the train: without it when its worker has let go of it.
    public var cancelActive: CancelActive?

    public init(
        id: String? = nil,
        onCancelled: TrainAction? = nil,
        onDiscarded: TrainAction? = nil,
        cancelActive: CancelActive? = nil
    ) {
        self.id = id
        self.onCancelled = onCancelled
        self.onDiscarded = onDiscarded
        self.cancelActive = cancelActive
    }

    public func members() throws -> [String: Any] {
        given([
            "id": id,
            "on_cancelled": onCancelled?.rawValue,
            "on_discarded": onDiscarded?.rawValue,
            "cancel_active": cancelActive?.rawValue,
        ])
    }
}

/// The layers around an enqueue whose order the specification fixes, outermost first ("Extension Interactions", section
/// 14). Layers with other names may stand anywhere.
let enqueueOrder = ["trace_inject", "auth", "validate", "unique", "rate_limit", "encrypt"]
