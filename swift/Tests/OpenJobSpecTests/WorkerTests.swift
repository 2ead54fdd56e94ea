import XCTest

@testable import OpenJobSpec

final class WorkerTests: XCTestCase {
    func testAHandlerRunsAJobAndTheEndOfItsTaskStopsTheWorker() async throws {
        let client = try Client("memory:swift")
        let ran = expectation(description: "the handler has run")
        let worker = try Worker(client).register("email.send") { ctx in
            XCTAssertEqual(ctx.args.first as? String, "ada@example.com")
            ran.fulfill()
            return ["sent": true]
        }
        let job = try await client.enqueue("email.send", ["ada@example.com"])
        let running = Task { try await worker.run() }
        await fulfillment(of: [ran], timeout: 60)
        running.cancel()
        try await running.value
        let ended = try await client.getJob(job.id)
        XCTAssertEqual(ended.state, "completed")
    }

    func testErrorsHaveTheirClass() async throws {
        let client = try Client("memory:swift-errors")
        do {
            _ = try await client.getJob("019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f")
            XCTFail("there is no such job")
        } catch let error as OJSError {
            XCTAssertEqual(error.number, 3)
            XCTAssertEqual(error.status, 404)
        }
    }
}
