import Foundation
import Glibc
import Testing

@testable import Systemd

// One after the other: they choose descriptors by number.
@Suite(.serialized) struct ListenDescriptorsTests {
    /// Two open descriptors with neighbouring numbers, without close-on-exec, as the manager leaves them.
    private func makePair() throws -> Int32 {
        let null = open("/dev/null", O_RDONLY)
        defer { close(null) }
        // Only numbers that are free: whatever another test of the process has open stays what it is.
        var least: Int32 = 700
        while true {
            let first = fcntl(null, F_DUPFD, least)
            try #require(first >= 0)
            let second = fcntl(null, F_DUPFD, first + 1)
            if second == first + 1 { return first }
            close(first)
            try #require(second >= 0)
            close(second)
            least = second
        }
    }

    private func environment(_ process: pid_t = 42, count: String = "2", names: String? = "control:other") -> [String: String] {
        var environment = ["LISTEN_PID": String(process), "LISTEN_FDS": count]
        environment["LISTEN_FDNAMES"] = names
        return environment
    }

    @Test func descriptorsAreFoundByNameAndCloseOnExec() throws {
        let first = try makePair()
        defer { close(first); close(first + 1) }
        var removed: [String] = []
        let passed = try ListenDescriptors.take(from: environment(), process: 42, first: first, unset: { removed.append($0) })
        #expect(passed["control"] == [first])
        #expect(passed["other"] == [first + 1])
        #expect(passed["absent"] == [])
        #expect(fcntl(first, F_GETFD) & FD_CLOEXEC != 0)
        #expect(fcntl(first + 1, F_GETFD) & FD_CLOEXEC != 0)
        #expect(Set(removed) == ["LISTEN_FDS", "LISTEN_FDNAMES", "LISTEN_PID"])
    }

    @Test func withoutNamesTheyAreUnknown() throws {
        let first = try makePair()
        defer { close(first); close(first + 1) }
        let passed = try ListenDescriptors.take(from: environment(names: nil), process: 42, first: first, unset: { _ in })
        #expect(passed["unknown"] == [first, first + 1])
    }

    @Test func theSameNameMayComeTwice() throws {
        let first = try makePair()
        defer { close(first); close(first + 1) }
        let passed = try ListenDescriptors.take(from: environment(names: "control:control"), process: 42, first: first, unset: { _ in })
        #expect(passed["control"] == [first, first + 1])
    }

    @Test func whatIsMeantForAnotherProcessIsLeftAlone() throws {
        #expect(try ListenDescriptors.take(from: environment(43), process: 42, unset: { _ in }).all.isEmpty)
        #expect(try ListenDescriptors.take(from: [:], process: 42, unset: { _ in }).all.isEmpty)
        #expect(try ListenDescriptors.take(from: environment(count: "-1"), process: 42, unset: { _ in }).all.isEmpty)
    }

    @Test func aDescriptorThatIsNotOpenIsAnError() {
        #expect(throws: POSIXError(.EBADF)) {
            try ListenDescriptors.take(from: environment(count: "1"), process: 42, first: 100_000, unset: { _ in })
        }
    }
}
