import Foundation
import Glibc
import Synchronization

/// Which runs are open, in a file beside the store: after an unclean end it tells the next process whose runs were open, and how often in a row that
/// was so. It is written without waiting for the disk: what ends a process leaves what it wrote. A file that cannot be written is done without.
final class OpenRuns: Sendable {
    /// The file's name in the document's folder.
    static let fileName = ".runs"
    /// Nobody counts further.
    private static let most = 30
    /// More than all names of a configuration take.
    private static let longest = 1 << 20
    /// What ends the list: bytes behind it are of an older, longer one.
    private static let end = "."

    private struct State {
        /// Unclean ends in a row, of resources that had no clean one since.
        var ends: [ResourceScope: Int] = [:]
        var open: Set<ResourceScope> = []
    }

    private let file: Int32
    private let state: Mutex<State>
    /// How many unclean ends in a row came while a run of these was open, as the last process left it.
    let suspects: [ResourceScope: Int]

    init(folder: URL) {
        file = open(folder.appendingPathComponent(Self.fileName).path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0o640)
        suspects = Self.read(file)
        state = Mutex(State(ends: suspects))
    }

    deinit {
        if file >= 0 { close(file) }
    }

    func begin(_ scope: ResourceScope) { change { $0.open.insert(scope) } }

    /// Its run has ended, however well.
    func end(_ scope: ResourceScope) {
        change { state in
            state.open.remove(scope)
            state.ends[scope] = nil
        }
    }

    /// The process ends in order: nobody is under suspicion for what it leaves open.
    func forgetOpen() { change { $0.open = [] } }

    private func change(_ body: (inout State) -> Void) {
        guard file >= 0 else { return }
        state.withLock { state in
            body(&state)
            let scopes = Set(state.ends.keys).union(state.open).sorted()
            let lines = scopes.map { "\(min(Self.most, (state.ends[$0] ?? 0) + (state.open.contains($0) ? 1 : 0))) \($0)" } + [Self.end, ""]
            let bytes = Array(lines.joined(separator: "\n").utf8)
            guard pwrite(file, bytes, bytes.count, 0) == bytes.count else { return }
            _ = ftruncate(file, off_t(bytes.count))
        }
    }

    private static func read(_ file: Int32) -> [ResourceScope: Int] {
        var bytes = [UInt8](repeating: 0, count: longest)
        let count = file >= 0 ? pread(file, &bytes, bytes.count, 0) : 0
        var found: [ResourceScope: Int] = [:]
        for bytes in bytes.prefix(max(count, 0)).split(separator: UInt8(ascii: "\n")) {
            let line = String(decoding: bytes, as: UTF8.self)
            if line == end { break }
            let parts = line.split(separator: " ", maxSplits: 1)
            guard parts.count == 2, let number = Int(parts[0]), number > 0 else { continue }
            let names = parts[1].split(separator: "/", maxSplits: 1).map(String.init)
            if names.count == 2 { found[ResourceScope(source: names[0], resource: names[1])] = min(number, most) }
        }
        return found
    }
}
