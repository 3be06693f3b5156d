import Foundation
import Glibc
import Testing

@testable import SyncDaemon

@Suite struct ControlListenerTests {
    private func path() -> String { NSTemporaryDirectory() + "cistern-\(UUID().uuidString.prefix(8)).sock" }

    private func mode(_ path: String) -> mode_t {
        var information = stat()
        #expect(lstat(path, &information) == 0)
        return information.st_mode & 0o7777
    }

    @Test func theSocketIsForTheGroup() throws {
        let path = path()
        let listener = try ControlListener(path: path)
        #expect(mode(path) == 0o660)
        listener.remove()
        #expect(access(path, F_OK) != 0)
        close(listener.descriptor)
    }

    @Test func whatAKilledDaemonLeftBehindIsReplaced() throws {
        let path = path()
        let dead = try ControlListener(path: path)
        close(dead.descriptor)
        let listener = try ControlListener(path: path)
        // The dead one's socket is not there any more; nobody else's is removed in its name.
        dead.remove()
        #expect(access(path, F_OK) == 0)
        listener.remove()
        close(listener.descriptor)
    }

    @Test func aSocketThatAnswersIsSomebodyElses() throws {
        let path = path()
        let listener = try ControlListener(path: path)
        defer {
            listener.remove()
            close(listener.descriptor)
        }
        let failure = #expect(throws: StartFailure.self) { try ControlListener(path: path) }
        #expect(failure?.status == .osError)
        #expect(failure?.message.hasPrefix("another process listens at \(path)") == true)
    }

    @Test func aFileInItsPlaceIsLeftAlone() throws {
        let path = path()
        try Data("x".utf8).write(to: URL(fileURLWithPath: path))
        defer { unlink(path) }
        let failure = #expect(throws: StartFailure.self) { try ControlListener(path: path) }
        #expect(failure?.message.contains("is not a socket; move it away") == true)
        #expect(FileManager.default.contents(atPath: path) == Data("x".utf8))
    }

    @Test func aPathThatIsTooLongIsAMatterOfConfiguration() {
        let failure = #expect(throws: StartFailure.self) { try ControlListener(path: "/tmp/" + String(repeating: "x", count: 120)) }
        #expect(failure?.status == .configuration)
    }
}
