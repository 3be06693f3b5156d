import Glibc
import SyncControl
import Synchronization
import Testing

@testable import SyncDaemon

@Suite struct ControlAccessTests {
    private final class NoteList: Sendable {
        let notes = Mutex<[ControlRequest]>([])
    }

    private let stranger = ControlPeer(process: 7, user: 123_456, group: 654_321)

    private func code(_ verb: ControlRequest.Verb, _ peer: ControlPeer?, _ access: ControlAccess) -> ControlExitCode {
        do {
            try access.check(ControlRequest(verb), by: peer)
            return .success
        } catch {
            return error.code
        }
    }

    @Test(arguments: ControlRequest.Verb.allCases) func whoMayConnectMayLookAndOthersSteer(_ verb: ControlRequest.Verb) {
        let access = ControlAccess(owner: 1000)
        let looks = [.version, .status, .config, .quarantine].contains(verb)
        #expect(code(verb, stranger, access) == (looks ? .success : .noPermission))
        #expect(code(verb, nil, access) == (looks ? .success : .noPermission))
        for user: uid_t in [0, 1000] { #expect(code(verb, ControlPeer(process: 7, user: user, group: 654_321), access) == .success) }
    }

    @Test func membersOfTheGroupThatSteersMaySteer() throws {
        let own = try #require(Accounts.name(of: 0))
        #expect(own == "root")
        let access = ControlAccess(steerGroup: "root", owner: 1000)
        #expect(code(.pause, ControlPeer(process: 7, user: 123_456, group: 0), access) == .success)
        #expect(code(.pause, stranger, access) == .noPermission)
        #expect(code(.pause, stranger, ControlAccess(steerGroup: "no such group", owner: 1000)) == .noPermission)
        // A user of the database is a member of what the database says.
        #expect(Accounts.groups(of: 0).contains(0))
    }

    @Test func onlyARequestThatIsLetThroughIsNoted() {
        let list = NoteList()
        let access = ControlAccess(owner: 1000) { request, _ in list.notes.withLock { $0.append(request) } }
        _ = code(.pause, stranger, access)
        _ = code(.status, stranger, access)
        _ = code(.resume, ControlPeer(process: 7, user: 0, group: 0), access)
        #expect(list.notes.withLock { $0 } == [ControlRequest(.resume)])
    }

    @Test func nobodyKeepsTheOthersOut() {
        let quota = ConnectionQuota(total: 6, ofOneUser: 4)
        #expect((0..<5).map { _ in quota.enter(1000) } == [true, true, true, true, false])
        #expect((0..<3).map { _ in quota.enter(1001) } == [true, true, false])
        #expect(quota.enter(0))
        quota.leave(1000)
        #expect(!quota.enter(1002), "root's place counts")
        quota.leave(1000)
        #expect(quota.enter(1002))
    }
}
