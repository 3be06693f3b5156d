import Foundation
import Testing

@testable import Secrets

@Suite struct SecretTests {
    // In a process of its own: what is locked is counted for all of it.
    @Test func whoLetsGoOfASecretUnlocksNoOther() async {
        await #expect(processExitsWith: .success) {
            var all: [Secret?] = []
            for number in 0..<100 { all.append(Secret(Array("secret \(number)".utf8))) }
            // With as many of them gone the half is locked, at the least.
            let locked = try lockedMemory()
            guard locked > 0 else {
                print("This process may lock no memory; nothing was tried.")
                return
            }
            for index in stride(from: 0, to: all.count, by: 2) { all[index] = nil }
            #expect(try lockedMemory() * 2 >= locked)
            withExtendedLifetime(all) {}
        }
    }
}

/// In KiB.
private func lockedMemory() throws -> Int {
    let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
    let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("VmLck:") })
    return try #require(Int(line.filter(\.isNumber)))
}
