// Made from xtask/schema.toml by make gen; do not edit.
import Foundation

/// A job of this type with these arguments and options.
///
/// - Parameter queue: the queue
/// - Parameter priority: −100 to 100, higher first
/// - Parameter timeout: the most one run may take
/// - Parameter visibilityTimeout: how long a worker may be silent before the job is given to another
/// - Parameter resultTtl: how long the result is kept (0 keeps none)
/// - Parameter delay: run after this long
/// - Parameter delayUntil: do not run before this time
/// - Parameter expiresAt: throw the job away when it has not started by then
/// - Parameter totalTimeout: how long the job's whole life may take
/// - Parameter retry: what happens when it fails
/// - Parameter unique: what makes it a duplicate
/// - Parameter rateLimit: how many of its kind may start or run at a time
/// - Parameter train: the train that it joins: jobs of one train run one after the other
/// - Parameter tags: words to find it by
/// - Parameter version: the version of the arguments: `2`, `2.1` or `2.1.0`
/// - Parameter tenant: the tenant that it belongs to: `meta.tenant_id`
/// - Parameter fairnessKey: the key of its line in a queue that is shared by keys: keys get jobs handed out in turn
/// - Parameter id: an id of your own (UUIDv7, lower case), so that sending it twice makes one job
/// - Parameter meta: any JSON object that travels with the job
/// - Parameter schema: URI of the schema its arguments follow
public func job(
    _ type: String,
    _ args: [Any] = [],
    queue: String? = nil,
    priority: Int? = nil,
    timeout: Duration? = nil,
    visibilityTimeout: Duration? = nil,
    resultTtl: Duration? = nil,
    delay: Duration? = nil,
    delayUntil: Date? = nil,
    expiresAt: Date? = nil,
    totalTimeout: Duration? = nil,
    retry: RetryPolicy? = nil,
    unique: UniquePolicy? = nil,
    rateLimit: [String: Any]? = nil,
    train: Train? = nil,
    tags: [String]? = nil,
    version: String? = nil,
    tenant: String? = nil,
    fairnessKey: String? = nil,
    id: String? = nil,
    meta: [String: Any]? = nil,
    schema: String? = nil
) throws -> JobRequest {
    let options: [String: Any?] = [
        "queue": queue,
        "priority": priority,
        "timeout_ms": try timeout.map { try wireMillis("timeout", $0) },
        "visibility_timeout_ms": try visibilityTimeout.map { try wireMillis("visibilityTimeout", $0) },
        "result_ttl": try resultTtl.map { try wireSeconds("resultTtl", $0) },
        "delay_until": try delayUntil.map(timeText) ?? delay.map { try after("delay", $0) },
        "expires_at": expiresAt.map(timeText),
        "total_timeout": try totalTimeout.map { try durationText(longerThanNone("totalTimeout", $0)) },
        "retry": try retry?.members(),
        "unique": try unique?.members(),
        "rate_limit": rateLimit,
        "train": try train?.members(),
        "tags": tags,
        "version": version,
        "tenant": tenant,
        "fairness_key": fairnessKey,
    ]
    return try JobRequest(type: type, args: args, id: id, meta: meta ?? [:], schema: schema, options: given(options))
}

extension Client {
    /// Sends a job: `try await client.enqueue("email.send", ["ada@example.com"], queue: "mail", delay: .seconds(300))`.
    ///
    /// - Parameter queue: the queue
    /// - Parameter priority: −100 to 100, higher first
    /// - Parameter timeout: the most one run may take
    /// - Parameter visibilityTimeout: how long a worker may be silent before the job is given to another
    /// - Parameter resultTtl: how long the result is kept (0 keeps none)
    /// - Parameter delay: run after this long
    /// - Parameter delayUntil: do not run before this time
    /// - Parameter expiresAt: throw the job away when it has not started by then
    /// - Parameter totalTimeout: how long the job's whole life may take
    /// - Parameter retry: what happens when it fails
    /// - Parameter unique: what makes it a duplicate
    /// - Parameter rateLimit: how many of its kind may start or run at a time
    /// - Parameter train: the train that it joins: jobs of one train run one after the other
    /// - Parameter tags: words to find it by
    /// - Parameter version: the version of the arguments: `2`, `2.1` or `2.1.0`
    /// - Parameter tenant: the tenant that it belongs to: `meta.tenant_id`
    /// - Parameter fairnessKey: the key of its line in a queue that is shared by keys: keys get jobs handed out in turn
    /// - Parameter id: an id of your own (UUIDv7, lower case), so that sending it twice makes one job
    /// - Parameter meta: any JSON object that travels with the job
    /// - Parameter schema: URI of the schema its arguments follow
    /// - Returns: the job as the server stored it
    @discardableResult
    public func enqueue(
        _ type: String,
        _ args: [Any] = [],
        queue: String? = nil,
        priority: Int? = nil,
        timeout: Duration? = nil,
        visibilityTimeout: Duration? = nil,
        resultTtl: Duration? = nil,
        delay: Duration? = nil,
        delayUntil: Date? = nil,
        expiresAt: Date? = nil,
        totalTimeout: Duration? = nil,
        retry: RetryPolicy? = nil,
        unique: UniquePolicy? = nil,
        rateLimit: [String: Any]? = nil,
        train: Train? = nil,
        tags: [String]? = nil,
        version: String? = nil,
        tenant: String? = nil,
        fairnessKey: String? = nil,
        id: String? = nil,
        meta: [String: Any]? = nil,
        schema: String? = nil
    ) async throws -> Job {
        try await enqueue(job(type, args, queue: queue, priority: priority, timeout: timeout, visibilityTimeout: visibilityTimeout, resultTtl: resultTtl, delay: delay, delayUntil: delayUntil, expiresAt: expiresAt, totalTimeout: totalTimeout, retry: retry, unique: unique, rateLimit: rateLimit, train: train, tags: tags, version: version, tenant: tenant, fairnessKey: fairnessKey, id: id, meta: meta, schema: schema))
    }
}

extension Worker {
    /// Registers the handler of a job type; `*` stands for every other type. The options are defaults for all jobs of
    /// the type that this process enqueues, where a job does not say otherwise.
    ///
    /// - Parameter queue: the queue
    /// - Parameter priority: −100 to 100, higher first
    /// - Parameter timeout: the most one run may take
    /// - Parameter visibilityTimeout: how long a worker may be silent before the job is given to another
    /// - Parameter resultTtl: how long the result is kept (0 keeps none)
    /// - Parameter totalTimeout: how long the job's whole life may take
    /// - Parameter retry: what happens when it fails
    /// - Parameter unique: what makes it a duplicate
    /// - Parameter rateLimit: how many of its kind may start or run at a time
    /// - Parameter train: the train that it joins: jobs of one train run one after the other
    /// - Parameter tags: words to find it by
    /// - Parameter version: the version of the arguments: `2`, `2.1` or `2.1.0`
    /// - Parameter fairnessKey: the key of its line in a queue that is shared by keys: keys get jobs handed out in turn
    @discardableResult
    public func register(
        _ type: String,
        queue: String? = nil,
        priority: Int? = nil,
        timeout: Duration? = nil,
        visibilityTimeout: Duration? = nil,
        resultTtl: Duration? = nil,
        totalTimeout: Duration? = nil,
        retry: RetryPolicy? = nil,
        unique: UniquePolicy? = nil,
        rateLimit: [String: Any]? = nil,
        train: Train? = nil,
        tags: [String]? = nil,
        version: String? = nil,
        fairnessKey: String? = nil,
        handler: @escaping Handler
    ) throws -> Worker {
        let defaults = try job(type, queue: queue, priority: priority, timeout: timeout, visibilityTimeout: visibilityTimeout, resultTtl: resultTtl, totalTimeout: totalTimeout, retry: retry, unique: unique, rateLimit: rateLimit, train: train, tags: tags, version: version, fairnessKey: fairnessKey).options
        return try registered(type, defaults, handler)
    }
}
