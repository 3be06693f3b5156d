import Foundation
import OpenCoreData
import SyncConfiguration
import SyncPipeline

// One import, measured from before the store is opened until after it is closed. The main thread serves the main queue, as in the daemon.

func fail(_ message: String) -> Never {
    FileHandle.standardError.write(Data("cistern-benchmark: \(message)\n".utf8))
    exit(1)
}

var arguments = Array(CommandLine.arguments.dropFirst())
guard let option = arguments.firstIndex(of: "--db"), option + 1 < arguments.count else {
    fail("usage: cistern-benchmark geo FOLDER [--cities BODY] --db STORE | places BODY --db STORE | pages BODY --db STORE | issues BODY --db STORE")
}
let store = URL(fileURLWithPath: arguments[option + 1])
arguments.removeSubrange(option...option + 1)
// Also says where memory is that stays when all is imported, before the store is closed.
let showsResident = arguments.contains("--resident")
arguments.removeAll { $0 == "--resident" }
guard let workload = try Workload(arguments) else { fail("unknown workload \(arguments)") }

/// Seconds of processor time that this process has used.
func processorTime() -> Double {
    var usage = rusage()
    getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
    func seconds(_ time: timeval) -> Double { Double(time.tv_sec) + Double(time.tv_usec) / 1e6 }
    return seconds(usage.ru_utime) + seconds(usage.ru_stime)
}

/// The largest resident size of this process, in MiB.
func peakMemory() -> Double {
    let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
    let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
    return (line?.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Double($0) } ?? 0) / 1024
}

/// A function of a library that Swift has no module of.
@Sendable func function<T>(_ name: String, _ type: T.Type) -> T? { dlsym(nil, name).map { unsafeBitCast($0, to: type) } }

/// What of the C library's heap is in use and what is free, in MiB: malloc_info(3).
@Sendable func heap() -> (inUse: Double, free: Double) {
    typealias MallocInfo = @convention(c) (Int32, UnsafeMutablePointer<FILE>) -> Int32
    guard let file = tmpfile() else { return (0, 0) }
    defer { fclose(file) }
    _ = function("malloc_info", MallocInfo.self)?(0, file)
    rewind(file)
    let text = String(decoding: FileHandle(fileDescriptor: fileno(file)).readDataToEndOfFile(), as: UTF8.self)
    /// The last number of its kind is that of all arenas together.
    func last(_ kind: String) -> Double {
        let line = text.split(separator: "\n").last { $0.contains(kind) }
        return line?.split(separator: "size=\"").last.flatMap { Double($0.prefix { $0.isNumber }) } ?? 0
    }
    let free = last("<total type=\"fast\"") + last("<total type=\"rest\"")
    return ((last("<system type=\"current\"") - free + last("<total type=\"mmap\"")) / 1_048_576, free / 1_048_576)
}

/// Where the resident memory of this process is, in MiB: by kinds of mappings, and of the C library's heap what is in use and what is free.
@Sendable func residentMemory() -> String {
    var sizes: [String: Double] = [:], kind = ""
    // It has no size, by which Foundation reads files.
    let text = FileHandle(forReadingAtPath: "/proc/self/smaps").map { String(decoding: $0.readDataToEndOfFile(), as: UTF8.self) } ?? ""
    for line in text.split(separator: "\n") {
        let words = line.split(separator: " ", omittingEmptySubsequences: true)
        if words[0].contains("-"), !words[0].hasSuffix(":") {
            let name = words.count > 5 ? String(words[5]) : ""
            kind =
                switch name {
                case "": "mappings without a name"
                case "[heap]": "heap"
                case _ where name.hasPrefix("["): "stack"
                case _ where name.hasSuffix("-shm"): "index of the log"
                case _ where name.hasSuffix("/cistern-benchmark"): "program"
                default: name.contains(".so") ? "libraries" : "files"
                }
        } else if words[0] == "Rss:", let size = Double(words[1]) {
            sizes[kind, default: 0] += size / 1024
        }
    }
    let (inUse, free) = heap()
    sizes["malloc: in use"] = inUse
    sizes["malloc: free"] = free
    typealias MemoryUsed = @convention(c) () -> Int64
    if let used = function("sqlite3_memory_used", MemoryUsed.self) { sizes["malloc: of that SQLite"] = Double(used()) / 1_048_576 }
    return sizes.sorted { $0.value > $1.value }.map { "\($0.key): \(($0.value * 10).rounded() / 10)" }.joined(separator: "\n")
}

@Sendable func importAll() async throws -> [RunReport] {
    let texts = ConfigurationTexts(["/cisternd.toml": workload.configuration])
    let configuration = try ConfigurationReader(path: "/cisternd.toml", files: texts).configuration()
    let policy = AutosavePolicy(
        interval: configuration.document.autosaveInterval.seconds, changes: configuration.document.autosaveChanges,
        bytes: configuration.document.autosaveBytes.bytes)
    let document = UIManagedDocument(fileURL: store, model: try SyncPipeline.model(for: configuration), autosavePolicy: policy)
    document.persistentStoreOptions = [NSSQLitePragmasOption: ["synchronous": "FULL"]]
    try FileManager.default.createDirectory(at: store, withIntermediateDirectories: true)
    let isOpen = await withCheckedContinuation { continuation in
        document.save(to: store, for: .forCreating) { continuation.resume(returning: $0) }
    }
    guard isOpen else { fail("\(store.path) can't be opened") }
    let pipeline = try SyncPipeline(
        document: document, configuration: configuration, transports: TransportPool { _ in workload.transport }, clock: SystemClock(), secrets: .none,
        version: "benchmark"
    ) { _ in }
    try await pipeline.start(armed: false)
    var reports: [RunReport] = []
    for resource in workload.resources { reports += try await pipeline.sync("files/\(resource)", cause: .control, wait: true) }
    if showsResident {
        FileHandle.standardError.write(Data("\(residentMemory())\nafter malloc_trim:\n".utf8))
        typealias Trim = @convention(c) (Int) -> Int32
        _ = function("malloc_trim", Trim.self)?(0)
        FileHandle.standardError.write(Data("\(residentMemory())\n".utf8))
    }
    await pipeline.stop(grace: .seconds(1))
    try await document.close()
    return reports
}

let cpu = processorTime(), start = DispatchTime.now().uptimeNanoseconds
Task.detached {
    do {
        let reports = try await importAll()
        let wall = Double(DispatchTime.now().uptimeNanoseconds - start) / 1e9
        for report in reports where report.outcome != .succeeded { fail("\(report.scope): \(report.outcome): \(report.error ?? "")") }
        var counts = RecordCounts()
        for report in reports { counts += report.counts }
        let written = counts.inserted + counts.updated + counts.deleted
        print(
            """
            {"wall_s": \(wall), "cpu_s": \(processorTime() - cpu), "peak_rss_mib": \(peakMemory()), \
            "records": \(written + counts.unchanged + counts.quarantined - counts.deleted), "rejected": \(counts.quarantined), \
            "rows_written": \(written), "body_bytes": \(reports.reduce(0) { $0 + $1.bytes }), \
            "main_queue_s": \(Double(MainQueueLoad.total) / 1e9), "main_queue_longest_ms": \(Double(MainQueueLoad.longest) / 1e6)}
            """)
        exit(0)
    } catch {
        fail("\(error)")
    }
}
RunLoop.main.run()
