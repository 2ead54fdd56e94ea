import XCTest

@testable import OpenJobSpec

final class ClientTests: XCTestCase {
    func testOptionsGoOnTheWireByTheirNames() throws {
        let request = try job(
            "email.send", ["ada@example.com"], queue: "mail", timeout: .milliseconds(1500), resultTtl: .milliseconds(1),
            totalTimeout: .seconds(90), retry: RetryPolicy(maxAttempts: 5, initialInterval: .milliseconds(250)),
            unique: UniquePolicy(keys: ["type"], onConflict: .ignore), meta: ["k": 1])
        let options = try JSON.object(JSON.text(request))["options"] as? NSDictionary
        let wanted: NSDictionary = [
            "queue": "mail", "timeout_ms": 1500, "result_ttl": 1, "total_timeout": "PT90S",
            "retry": ["max_attempts": 5, "initial_interval": "PT0.25S"],
            "unique": ["keys": ["type"], "on_conflict": "ignore"],
        ]
        XCTAssertEqual(options, wanted)
        XCTAssertThrowsError(try job("a", timeout: .zero))
        XCTAssertThrowsError(try job(""))
    }

    func testLayersStandAroundEnqueuesAndHandlers() async throws {
        let client = try Client("memory:swift-layers")
        try client.use("stamp") { request, next in
            var changed = request
            changed.meta["by"] = "ada"
            return try await next(changed)
        }
        let worker = Worker(client)
        try worker.use("outer") { ctx, next in ["inside": try await next(ctx) ?? NSNull()] }
        try worker.register("who") { ctx in ctx.meta["by"] as? String }
        let job = try await client.enqueue("who")
        let running = Task { try await worker.run() }
        var ended = try await client.getJob(job.id)
        while ended.state != "completed" && ended.state != "discarded" { ended = try await client.getJob(job.id) }
        running.cancel()
        try await running.value
        XCTAssertEqual(ended.members["result"] as? [String: String], ["inside": "ada"])
        XCTAssertThrowsError(try client.use("late") { request, next in try await next(request) })
    }

    func testAFakeTakesTheJobsAndRunsHandlers() async throws {
        let client = try Client("http://127.0.0.1:9")
        let fake = try OJSTesting.fake()
        try await client.enqueue("email.send", ["ada@example.com"], queue: "mail")
        try fake.assertEnqueued("email.send", ["args": ["ada@example.com"], "queue": "mail"], count: 1)
        try fake.assertNotEnqueued("email.receive")
        let worker = try Worker(client, queues: ["mail"]).register("email.send") { _ in "sent" }
        let ran = try await fake.drain(worker)
        XCTAssertEqual(ran, 1)
        try await fake.close()
    }

    func testAStagedJobIsAStatement() async throws {
        let client = try Client("memory:swift-outbox")
        let outbox = Outbox(client, database: .sqlite)
        XCTAssertTrue(try outbox.migration().contains { $0.contains("ojs_outbox") })
        let staged = try await outbox.stage(job("email.welcome", [7], queue: "mail"))
        XCTAssertTrue(staged.sql.contains("ojs_outbox"))
        XCTAssertEqual(staged.params.count, staged.sql.filter { $0 == "?" }.count)
        XCTAssertFalse(staged.job.id.isEmpty)
    }

    func testAWorkflowIsWhatTheWireHas() throws {
        let definition = try chain(job("a"), group(job("b"), job("c"))).named("n")
        let members = try JSON.object(JSON.text(definition))
        XCTAssertEqual(members["type"] as? String, "chain")
        XCTAssertEqual((members["steps"] as? [[String: Any]])?.last?["type"] as? String, "group")
        XCTAssertThrowsError(try chain())
    }
}
