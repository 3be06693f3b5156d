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
