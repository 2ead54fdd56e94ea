import Foundation

/// Goes on inwards: the job as the server stored it, nil when a layer has dropped it.
public typealias Enqueue = @Sendable (JobRequest) async throws -> Job?

/// A layer around every enqueue: `{ request, next in try await next(request) }`. It may call `next` once; without that
/// call the job is dropped.
public typealias EnqueueLayer = @Sendable (JobRequest, @escaping Enqueue) async throws -> Job?

/// A layer around every handler: `{ ctx, next in try await next(ctx) }`. It may call `next` once; without that call
/// what is inside does not run.
public typealias ExecutionLayer = @Sendable (JobContext, @escaping Handler) async throws -> Any?

/// Named layers around an enqueue or a handler. The first one added is the outermost. It may change until the first
/// job.
public final class MiddlewareChain<Layer>: @unchecked Sendable {
    private let order: [String]
    private let lock = NSLock()
    private var layers: [(name: String, layer: Layer)] = []
    private var inUse = false

    init(order: [String] = []) {
        self.order = order
    }

    /// The names, outermost first.
    public var names: [String] { lock.withLock { layers.map(\.name) } }

    /// Adds the innermost layer.
    @discardableResult
    public func add(_ name: String, _ layer: Layer) throws -> Self {
        try insert(name, layer) { layers.count }
    }

    /// Adds the outermost layer.
    @discardableResult
    public func prepend(_ name: String, _ layer: Layer) throws -> Self {
        try insert(name, layer) { 0 }
    }

    /// Adds a layer just outside another.
    @discardableResult
    public func insert(before existing: String, _ name: String, _ layer: Layer) throws -> Self {
        try insert(name, layer) { try index(existing) }
    }

    /// Adds a layer just inside another.
    @discardableResult
    public func insert(after existing: String, _ name: String, _ layer: Layer) throws -> Self {
        try insert(name, layer) { try index(existing) + 1 }
    }

    /// Takes a layer out.
    @discardableResult
    public func remove(_ name: String) throws -> Self {
        try lock.withLock {
            try checkOpen()
            layers.remove(at: try index(name))
        }
        return self
    }

    /// The layers, outermost first. The chain may not change from now on.
    func freeze() -> [Layer] {
        lock.withLock {
            inUse = true
            return layers.map(\.layer)
        }
    }

    private func insert(_ name: String, _ layer: Layer, _ place: () throws -> Int) throws -> Self {
        try lock.withLock {
            try checkOpen()
            guard !name.isEmpty else { throw OJSError.middleware("a middleware needs a name") }
            let at = try place()
            guard !layers.contains(where: { $0.name == name }) else {
                throw OJSError.middleware("there is a middleware named '\(name)' already; remove it first")
            }
            try checkOrder(at, name)
            layers.insert((name, layer), at: at)
        }
        return self
    }

    private func checkOrder(_ at: Int, _ name: String) throws {
        guard let own = order.firstIndex(of: name) else { return }
        for (place, other) in layers.enumerated() {
            guard let its = order.firstIndex(of: other.name), (its < own) != (place < at) else { continue }
            let side = its < own ? "after" : "before"
            let words = order.joined(separator: ", ")
            throw OJSError.middleware("'\(name)' must stand \(side) '\(other.name)': the order is \(words)")
        }
    }

    private func index(_ name: String) throws -> Int {
        if let found = layers.firstIndex(where: { $0.name == name }) { return found }
        let known = layers.isEmpty ? "none" : layers.map(\.name).joined(separator: ", ")
        throw OJSError.middleware("there is no middleware named '\(name)'; there is: \(known)")
    }

    private func checkOpen() throws {
        if inUse { throw OJSError.middleware("the chain is in use: change middleware before the first job") }
    }
}

/// A layer may call what is inside it once.
private final class Once: @unchecked Sendable {
    private let lock = NSLock()
    private var called = false

    func check() throws {
        try lock.withLock {
            if called { throw OJSError.middleware("a middleware called next twice") }
            called = true
        }
    }
}

/// One call out of layers, outermost first, and what is inside.
func composed(_ layers: [EnqueueLayer], _ send: @escaping Enqueue) -> Enqueue {
    layers.reversed().reduce(send) { inner, layer in
        { request in
            let once = Once()
            return try await layer(request) { changed in
                try once.check()
                return try await inner(changed)
            }
        }
    }
}

/// One handler out of layers, outermost first, and what is inside.
func composed(_ layers: [ExecutionLayer], _ handler: @escaping Handler) -> Handler {
    layers.reversed().reduce(handler) { inner, layer in
        { ctx in
            let once = Once()
            return try await layer(ctx) { same in
                try once.check()
                return try await inner(same)
            }
        }
    }
}
