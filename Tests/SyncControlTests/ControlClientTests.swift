import Foundation
import Glibc
import Testing

@testable import SyncControl

@Suite struct ControlClientTests {
    private func failure(at socket: String) async -> ControlError? {
        let client = ControlClient(socket: socket)
        defer { Task { await client.shutdown() } }
        do {
            _ = try await client.version()
            return nil
        } catch {
            return error
        }
    }

    @Test func withoutASocketTheDaemonIsNotRunning() async {
        let error = await failure(at: "/nonexistent/control.sock")
        #expect(error?.code == .unavailable)
        #expect(
            error?.description
                == "cisternd is not running (no socket at /nonexistent/control.sock); start it with `systemctl start cisternd`")
    }

    @Test func aSocketNobodyListensAtIsNotRunningEither() async throws {
        let path = NSTemporaryDirectory() + "cistern-\(UUID().uuidString.prefix(8)).sock"
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        defer {
            close(descriptor)
            unlink(path)
        }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array(path.utf8)) }
        let bound = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) }
        }
        #expect(bound == 0)
        let error = await failure(at: path)
        #expect(error?.code == .unavailable)
        #expect(error?.error == "cisternd is not running (nobody listens at \(path))")
    }

    @Test func aPathThatIsTooLongIsSaidToBe() async {
        let error = await failure(at: "/tmp/" + String(repeating: "x", count: 200))
        #expect(error?.code == .usage)
        #expect(error?.advice == "the limit is 107 bytes")
    }

    @Test(.enabled(if: geteuid() != 0, "root may use every socket")) func aForbiddenSocketNamesTheGroup() async throws {
        let folder = NSTemporaryDirectory() + "cistern-\(UUID().uuidString.prefix(8))"
        #expect(mkdir(folder, 0) == 0)
        defer { rmdir(folder) }
        let error = await failure(at: folder + "/control.sock")
        #expect(error?.code == .noPermission)
        #expect(error?.advice == "join the group cistern, or use sudo")
    }
}
