import Foundation
import OpenJobSpecCore

/// The databases that can hold an outbox. MariaDB is `mysql`.
public enum OutboxDatabase: String, Sendable {
    case postgresql, mysql, sqlite
}

/// How a driver writes the placeholders of parameters.
public enum Placeholders: String, Sendable {
    /// `?`: SQLite, MySQL.
    case questionMarks = "qmark"
    /// `$1`: PostgreSQL.
    case numbered = "numeric_dollar"
}

/// A job with the statement that stores it, to be run by the application's driver in its own transaction.
public struct Staged: Sendable {
    /// The job, with its id.
    public let job: Job
    /// One statement.
    public let sql: String
    /// Texts, or nil, in the order of the placeholders.
    public let params: [String?]
}

/// A job runs if, and only if, the transaction that enqueued it commits. The job is a row, written by the application's
/// own driver in the transaction that is open there. A `Relay` sends what is committed.
///
///     let outbox = Outbox(client, database: .sqlite)
///     let staged = try await outbox.stage(job("email.welcome", [7], queue: "mail"))
///     // in the transaction: run staged.sql with staged.params
///
/// Swift has no interface that all drivers share: the statements are handed out, and the application runs them.
public final class Outbox: Sendable {
    private let client: Client
    private let database: OutboxDatabase
    private let table: String
    private let placeholders: Placeholders
    private let sharesDatabase: Bool

    /// - Parameter sharesDatabase: the server keeps its jobs in the application's own PostgreSQL: the row is the job
    ///   itself, and no relay is needed
    public init(
        _ client: Client, database: OutboxDatabase, table: String = "ojs_outbox", placeholders: Placeholders? = nil,
        sharesDatabase: Bool = false
    ) {
        self.client = client
        self.database = database
        self.table = table
        self.placeholders = placeholders ?? (database == .postgresql ? .numbered : .questionMarks)
        self.sharesDatabase = sharesDatabase && database == .postgresql
    }

    /// The statements that make the table, or add what it lacks: to be run in this order, on one connection.
    public func migration() throws -> [String] {
        try calling { try OpenJobSpecCore.outboxMigration(database: database.rawValue, table: table) }
    }

    /// Runs the client's enqueue middleware, now, and makes the row of what comes out. What is wrong with the job is
    /// thrown now.
    public func stage(_ request: JobRequest) async throws -> Staged {
        let found = Found()
        _ = try await client.through(request) { changed in
            let staged = try self.row(changed)
            found.put(staged)
            return staged.job
        }
        guard let staged = found.staged else { throw OJSError.notEnqueued() }
        return staged
    }

    /// The query that lists the jobs which are not sent yet, for tests: id, type, arguments, options.
    public func stagedQuery() throws -> String {
        try calling {
            try OpenJobSpecCore.outboxStagedQuery(
                database: database.rawValue, table: table, inEngine: sharesDatabase)
        }
    }

    /// The statement that notifies the nodes of a server on the same database, after a commit.
    public static func notifyStatement() -> String {
        OpenJobSpecCore.outboxNotify()
    }

    private func row(_ request: JobRequest) throws -> Staged {
        let text = try JSON.data(request)
        let core = client.core
        let row = try calling {
            let encrypted = try core.encrypted(request: text)
            return try OpenJobSpecCore.outboxRow(
                request: encrypted, database: database.rawValue, table: table, paramstyle: placeholders.rawValue,
                inEngine: sharesDatabase)
        }
        var members = try JSON.object(text)
        let options = members.removeValue(forKey: "options") as? [String: Any] ?? [:]
        members.merge(options) { own, _ in own }
        members["id"] = row.id
        return Staged(job: Job(members: members), sql: row.sql, params: row.params)
    }
}

private final class Found: @unchecked Sendable {
    private let lock = NSLock()
    private var value: Staged?
    var staged: Staged? { lock.withLock { value } }

    func put(_ staged: Staged) {
        lock.withLock { value = staged }
    }
}

/// Runs the statements of a relay by the application's driver.
public protocol OutboxStatements: Sendable {
    /// Runs all of these in one transaction, and returns the rows of each; a value is a text, a number, or NSNull.
    func run(_ statements: [(sql: String, params: [Any])]) async throws -> [[[Any]]]
}

/// Sends what is in an outbox, in the order of its rows. Any number may run, in any number of processes: one sends.
public final class Relay: Sendable {
    private let core: CoreRelay

    private init(_ core: CoreRelay) {
        self.core = core
    }

    /// Starts a relay that sends over the client.
    ///
    /// - Parameter url: of PostgreSQL, MySQL or MariaDB, `postgresql://user:password@host/database`, which the relay
    ///   reads by itself
    /// - Parameter statements: in place of a URL: runs statements on the application's SQLite database
    /// - Parameter migrate: makes the table first when it is missing
    public static func start(
        _ client: Client, url: String? = nil, statements: (any OutboxStatements)? = nil, table: String = "ojs_outbox",
        pollInterval: Duration? = nil, batchSize: UInt32? = nil, retention: Duration? = nil, migrate: Bool = false
    ) async throws -> Relay {
        if let batchSize, !(1...1000).contains(batchSize) {
            throw OJSError.refused("validation_error", "batchSize must be 1 to 1000, got \(batchSize)")
        }
        let settings = RelaySettings(
            table: table, url: url, database: OutboxDatabase.sqlite.rawValue, batchSize: batchSize,
            pollMs: try pollInterval.map { try millis("pollInterval", longerThanNone("pollInterval", $0)) },
            retentionMs: try retention.map { try millis("retention", $0) }, migrate: migrate)
        let host = statements.map { Carried(HostDatabase($0)) }
        let core = try await awaiting {
            try await OpenJobSpecCore.startRelay(client: client.core, settings: settings, host: host)
        }
        return Relay(core)
    }

    /// Says that a transaction has committed. Never waits.
    public func wake() {
        core.wake()
    }

    /// What it has done so far: `leading`, `sent`, `deduplicated`, `refused`, `parked`, `held_up`, `error`; nil when it
    /// is stopped.
    public var status: [String: Any]? {
        (try? JSON.value(Data(core.status().utf8))) as? [String: Any]
    }

    /// Sends what is committed, for at most `grace`, and ends. What is left stays in the table.
    public func stop(grace: Duration = .seconds(5)) async throws {
        let limit = try millis("grace", grace)
        let core = core
        // The core waits on the calling thread, which must not be one of Swift's pool.
        try await withCheckedThrowingContinuation { (ended: CheckedContinuation<Void, any Error>) in
            Thread.detachNewThread {
                ended.resume(with: Result { try calling { try core.stop(graceMs: limit) } })
            }
        }
    }
}

/// The requests of a relay, as statements.
private struct HostDatabase: Transport {
    private let statements: any OutboxStatements

    init(_ statements: any OutboxStatements) {
        self.statements = statements
    }

    func send(_ method: String, _ path: String, _ body: Data?) async throws -> Answer {
        let asked = try body.map(JSON.value) as? [[String: Any]] ?? []
        let list = asked.map { (sql: $0["sql"] as? String ?? "", params: $0["params"] as? [Any] ?? []) }
        return Answer(status: 200, body: try JSON.data(try await statements.run(list)))
    }
}
