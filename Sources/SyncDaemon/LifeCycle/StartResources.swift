import CEpoll
import Glibc

/// What the process needs from the machine to be of any use. Without it, the libraries below trap or wait for ever, anywhere and silently; so it is
/// tried first, in a way that can fail.
public enum StartResources {
    /// Threads, for queues, connections and the store, and their stacks.
    static let threads = 24
    /// Open files, beside those that are open already.
    static let files = 40
    /// Address space, in bytes, beside the stacks.
    static let memory = 192 << 20

    /// Acquires everything that is needed at once, and releases it. Must be called before the second thread starts.
    /// - Returns: what is not available, and what to do; nil if everything is.
    public static func shortage() -> String? {
        guard let block = mmap(nil, memory, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0), block != MAP_FAILED else {
            return "cisternd cannot start: it needs \(memory >> 20) MiB of memory and cannot get it: \(reason(errno)); raise LimitAS= or ulimit -v"
        }
        defer { munmap(block, memory) }
        if let (count, code) = shortageOfFiles() {
            return "cisternd cannot start: it needs \(files) open files and can have \(count): \(reason(code)); raise LimitNOFILE= or ulimit -n"
        }
        if let (call, code) = shortageOfEvents() {
            return
                "cisternd cannot start: it cannot wait for events, \(call) fails: \(reason(code)); "
                + "raise fs.epoll.max_user_watches (sysctl) or LimitNOFILE="
        }
        if let (count, code) = shortageOfThreads() {
            return
                "cisternd cannot start: it needs \(threads) threads and can have \(count): \(reason(code)); "
                + "raise TasksMax=, LimitNPROC=, ulimit -u or ulimit -v"
        }
        return nil
    }

    private static func reason(_ code: Int32) -> String { String(cString: strerror(code)) }

    private static func shortageOfFiles() -> (had: Int, code: Int32)? {
        var opened: [Int32] = []
        defer { for descriptor in opened { close(descriptor) } }
        while opened.count < files {
            let descriptor = open("/dev/null", O_RDONLY | O_CLOEXEC)
            if descriptor < 0 { return (opened.count, errno) }
            opened.append(descriptor)
        }
        return nil
    }

    /// What an event loop is made of.
    private static func shortageOfEvents() -> (call: String, code: Int32)? {
        let queue = epoll_create1(Int32(EPOLL_CLOEXEC))
        guard queue >= 0 else { return ("epoll_create1", errno) }
        defer { close(queue) }
        let event = eventfd(0, Int32(EFD_CLOEXEC))
        guard event >= 0 else { return ("eventfd", errno) }
        defer { close(event) }
        let timer = timerfd_create(CLOCK_MONOTONIC, Int32(TFD_CLOEXEC))
        guard timer >= 0 else { return ("timerfd_create", errno) }
        defer { close(timer) }
        for descriptor in [event, timer] {
            var interest = epoll_event(events: EPOLLIN.rawValue, data: epoll_data_t(fd: descriptor))
            guard epoll_ctl(queue, EPOLL_CTL_ADD, descriptor, &interest) == 0 else { return ("epoll_ctl", errno) }
        }
        return nil
    }

    /// The threads wait for a lock until all of them are there.
    private static func shortageOfThreads() -> (had: Int, code: Int32)? {
        let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
        pthread_mutex_init(mutex, nil)
        pthread_mutex_lock(mutex)
        var made: [pthread_t] = []
        var code: Int32 = 0
        while made.count < threads, code == 0 {
            var thread = pthread_t()
            code = pthread_create(
                &thread, nil,
                { mutex in
                    if let mutex = mutex?.assumingMemoryBound(to: pthread_mutex_t.self) {
                        pthread_mutex_lock(mutex)
                        pthread_mutex_unlock(mutex)
                    }
                    return nil
                }, mutex)
            if code == 0 { made.append(thread) }
        }
        pthread_mutex_unlock(mutex)
        for thread in made { pthread_join(thread, nil) }
        pthread_mutex_destroy(mutex)
        mutex.deallocate()
        return code == 0 ? nil : (made.count, code)
    }
}

/// Why the daemon cannot start or cannot go on: words for the operator, and the exit status.
public struct StartFailure: Error, Sendable, Hashable, CustomStringConvertible {
    /// How the process ends because of it.
    public var status: ExitStatus
    /// What happened, where, and what to do about it.
    public var message: String
    /// The `errno` behind it, for `systemctl status`.
    public var code: Int32?

    /// `code` is nil if no system call stands behind it.
    public init(_ status: ExitStatus, _ message: String, code: Int32? = nil) {
        self.status = status
        self.message = message
        self.code = code
    }

    /// The message alone, without status and `errno`.
    public var description: String { message }
}

/// The exit statuses of `cisternd`. 200 to 245 belong to the service manager and are never used.
public enum ExitStatus: Int32, Sendable, Hashable, CaseIterable {
    /// A clean stop.
    case success = 0
    /// Unexpected.
    case failure = 1
    /// Bad command line.
    case usage = 64
    /// An internal error.
    case software = 70
    /// A socket or a thread could not be made.
    case osError = 71
    /// The state directory cannot be written.
    case cannotCreate = 73
    /// The disk reported an error.
    case ioError = 74
    /// The store is in use by another process.
    case temporaryFailure = 75
    /// No usable credential.
    case noPermission = 77
    /// Configuration or model invalid.
    case configuration = 78
}
