import Foundation
import Glibc
import SyncTestSupport
import Testing

/// A disk that does not give something out while the daemon starts, through the binary.
@Suite struct StartReadTests {
    // Damage is to be moved away, and a disk to be looked at: nobody may be told the one for the other.
    @Test(.enabled(if: FaultShim.compiler != nil, "\(FaultShim.absent)"), .timeLimit(.minutes(60)))
    func aReadThatFailsIsNotToldAsDamage() async throws {
        let shop = try Workshop()
        defer { shop.close() }
        let server = try await shop.server("pages.py", ["--pages", "4", "--records", "100"])
        try shop.configure("pages.toml", ["API": server.address, "GRACE": "1s"]) {
            $0.replacingOccurrences(of: "[store]\n", with: "[store]\nintegrity_check = \"quick-on-start\"\n")
        }
        _ = try await shop.importEverything()
        let shim = try await FaultShim(in: shop), family = Fault.families.firstIndex { $0.name == "read" } ?? 0
        /// How a start under a fault ends, and what it says.
        func start(_ fault: Fault?) async throws -> (status: Int32, said: [String]) {
            let daemon = try shim.launch(shop, fault)
            _ = try? await daemon.line { $0.contains(MessageMark.ready) }
            daemon.signal(SIGTERM)
            let status = await daemon.end()
            return (status, daemon.output + daemon.errors)
        }
        #expect(try await start(nil).status == 0)
        let count = try FaultShim.counts(shop).calls[family]
        var failed = 0, went = 0
        for number in 0..<40 {
            let fault = Fault(family: "read", at: 1 + number / 2 * count / 20, code: EIO, keeps: number % 2 == 1)
            let (status, said) = try await start(fault)
            #expect(!said.contains { $0.contains("damaged") }, "\(fault): \(said.suffix(3))")
            #expect([0, 71, 73, 74, 78].contains(status), "\(fault): \(status) \(said.suffix(3))")
            if status == 74, said.contains(where: { $0.contains("reports an error") }) { failed += 1 }
            if status == 0, try FaultShim.counts(shop).failed > 0 { went += 1 }
        }
        #expect(failed > 0 && went > 0, "of 40 starts \(failed) told of the disk and \(went) went on")
        #expect(try await start(nil).status == 0)
        #expect(try await shop.verify().status == 0)
    }
}
