import Foundation
import Glibc

/// One system call of a life that fails: the `at`-th of its family, and all after it if it `keeps` failing.
struct Fault: CustomStringConvertible {
    /// The families of `Fixtures/fault.c`, in its order, and what their calls fail with.
    static let families: [(name: String, codes: [Int32])] = [
        ("open", [EIO, ENOSPC, EMFILE, ENOMEM, EINTR]), ("read", [EIO, EINTR]), ("write", [EIO, ENOSPC, EINTR]), ("sync", [EIO, ENOSPC]),
        ("truncate", [EIO, ENOSPC]), ("rename", [EIO, ENOSPC]), ("unlink", [EIO]), ("mkdir", [EIO, ENOSPC]), ("stat", [EIO]),
        ("lock", [EIO, ENOLCK]), ("mmap", [ENOMEM]), ("socket", [EMFILE, ENOMEM]), ("connect", [ENOMEM, ECONNREFUSED, EINTR]),
        ("accept", [EMFILE, ENOMEM, EINTR]), ("recv", [ECONNRESET, ENOMEM, EINTR]), ("send", [EPIPE, ENOMEM, EINTR]), ("log", [EIO, ENOSPC, EPIPE]),
        ("epoll", [ENOMEM, ENOSPC]), ("event", [EMFILE, ENOMEM]), ("thread", [EAGAIN]),
    ]

    /// Where the event loops and threads of the libraries below (swift-nio, libdispatch, Foundation's run loop) are refused what they are made
    /// of, they trap: there is no error to catch. The rows are held to all promises.
    static let trapping: Set = ["epoll", "event", "thread"]

    let family: String
    let at: Int
    let code: Int32
    let keeps: Bool
    /// What comes to the process at the call instead; 0: it never returns; nil: it fails.
    let signal: Int32?

    init(family: String, at: Int, code: Int32, keeps: Bool) {
        (self.family, self.at, self.code, signal) = (family, at, code, nil)
        // Whoever is interrupted tries again, rightly, and would for ever.
        self.keeps = keeps && code != EINTR
    }

    /// A signal in place of a failure; 0: a call that never returns.
    init(family: String, at: Int, signal: Int32) {
        (self.family, self.at, code, keeps, self.signal) = (family, at, 0, false, signal)
    }

    var description: String {
        if let signal { return "signal \(signal) at \(family) \(at)" }
        return "\(family) \(at)\(keeps ? " and all after it" : "") fails with \(String(cString: strerror(code)))"
    }
}

/// The library that is preloaded into a program so that its system calls fail, built from `Fixtures/fault.c`.
struct FaultShim {
    let path: String

    /// The compiler of the toolchain or the system's, if there is one.
    static let compiler: String? = {
        let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":").map(String.init) + ["/opt/swift/usr/bin", "/usr/bin"]
        let beside = folders.filter { access("\($0)/swift", X_OK) == 0 }
        return (beside.map { "\($0)/clang" } + folders.flatMap { ["\($0)/cc", "\($0)/clang"] }).first { access($0, X_OK) == 0 }
    }()

    static let absent = "needs a C compiler: clang beside swift, or cc"

    init(in shop: Workshop) async throws {
        path = "\(shop.folder)/fault.so"
        let words = ["-shared", "-fPIC", "-O1", "-o", path, TestData.fixture("fault.c")]
        let result = try await shop.run(Self.compiler ?? "cc", words)
        guard result.status == 0 else { throw Child.Failure(description: result.errors.joined(separator: "\n")) }
    }

    /// After how many seconds the kernel ends a daemon that nobody else ends: those who look at it have given up by then (`timeLimit`). Whoever asks it
    /// to stop may come to their turn late, behind every test that computes.
    private static let limit = 4000

    /// Starts a daemon that lives under a fault, or one whose calls are counted.
    /// - Parameter variables: what its environment has besides.
    func launch(_ shop: Workshop, _ fault: Fault?, variables: [String] = []) throws -> Child {
        var words =
            variables + [
                "LD_PRELOAD=\(path)", "FAULT_COUNTS=\(shop.folder)/counts", "FAULT_PLACES=\(shop.folder)/places", "FAULT_LIMIT=\(Self.limit)",
            ]
        if let fault {
            words += ["FAULT_FAMILY=\(fault.family)", "FAULT_AT=\(fault.at)", "FAULT_ERRNO=\(fault.code)", "FAULT_ON=\(fault.keeps ? 1 : 0)"]
            if let signal = fault.signal { words.append("FAULT_SIGNAL=\(signal)") }
        }
        words += [try Workshop.binary("cisternd"), "--config", "\(shop.folder)/cisternd.toml"]
        // Where no thread can be made any more it may never be ready, and is to stop all the same.
        if let fault, fault.family == "thread", fault.keeps { return try shop.start("timeout", ["--preserve-status", "15", "env"] + words) }
        return try shop.start("env", words)
    }

    /// How many calls of each family there were, and how many of them failed.
    static func counts(_ shop: Workshop) throws -> (calls: [Int], failed: Int) {
        let numbers = try Data(contentsOf: URL(fileURLWithPath: "\(shop.folder)/counts")).withUnsafeBytes { bytes in
            (0...Fault.families.count).map { Int(bytes.loadUnaligned(fromByteOffset: $0 * 8, as: UInt64.self)) }
        }
        return (numbers.dropLast(), numbers[numbers.count - 1])
    }

    /// Where the first call failed, innermost first.
    static func place(_ shop: Workshop) -> String {
        let text = (try? String(contentsOfFile: "\(shop.folder)/places", encoding: .utf8)) ?? ""
        return text.split(separator: "\n").prefix(30).map { $0.split(separator: "/").last.map(String.init) ?? "" }.joined(separator: "\n        ")
    }
}
