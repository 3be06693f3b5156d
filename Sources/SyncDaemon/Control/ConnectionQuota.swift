import Glibc
import Synchronization

/// How many connections to the control socket may stand at once: in all, and of one user, so that nobody can keep the others out or take the
/// descriptors that fetching and saving need.
final class ConnectionQuota: Sendable {
    private let total: Int
    private let ofOneUser: Int
    private let open = Mutex<[uid_t: Int]>([:])

    init(total: Int = 128, ofOneUser: Int = 32) {
        self.total = total
        self.ofOneUser = ofOneUser
    }

    /// Takes a place; false if there is none.
    func enter(_ user: uid_t) -> Bool {
        open.withLock { open in
            // Root comes in where everybody else has filled the place.
            let limit = user == 0 ? total + ofOneUser : total
            guard open.values.reduce(0, +) < limit, open[user, default: 0] < ofOneUser else { return false }
            open[user, default: 0] += 1
            return true
        }
    }

    func leave(_ user: uid_t) {
        open.withLock { open in
            let left = open[user, default: 1] - 1
            open[user] = left > 0 ? left : nil
        }
    }
}
