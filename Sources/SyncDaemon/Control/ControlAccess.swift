import Glibc
import SyncControl

/// Who may do what at the control socket. Whoever may connect may look; to steer, one must be root, the user the daemon runs as, or a member of
/// the group that steers.
struct ControlAccess: Sendable {
    /// The name of the group; empty for none.
    var steerGroup = ""
    /// The user the daemon runs as.
    var owner: uid_t = geteuid()
    /// Is told of each request to steer that is let through.
    var note: @Sendable (ControlRequest, ControlPeer) -> Void = { _, _ in }

    /// - Throws: ``ControlError`` with status 77 if the peer may not ask for that.
    func check(_ request: ControlRequest, by peer: ControlPeer?) throws(ControlError) {
        guard request.verb.isSteering else { return }
        guard let peer, maySteer(peer) else {
            throw ControlError(
                "\(peer?.description ?? "somebody unknown") may look, but not ask for \(request.verb.rawValue)",
                advice: steerGroup.isEmpty
                    ? "use sudo, or name a group that may in [control] steer_group" : "use sudo, or become a member of the group \(steerGroup)",
                code: .noPermission)
        }
        note(request, peer)
    }

    func maySteer(_ peer: ControlPeer) -> Bool {
        if peer.user == 0 || peer.user == owner { return true }
        guard !steerGroup.isEmpty, let group = Accounts.groupID(steerGroup) else { return false }
        return peer.groups.contains(group)
    }
}
