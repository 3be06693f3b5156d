import Foundation
import GRDB
import OpenCoreData
import Synchronization

// One measurement a process, printed as one line of JSON. The main thread serves the main queue.

func fail(_ message: String) -> Never {
    FileHandle.standardError.write(Data("stack-benchmark: \(message)\n".utf8))
    exit(1)
}

let usage = """
    usage: stack-benchmark import [--ids] DESIGN(1|2|3) COUNT SAVE-EVERY STORE
           stack-benchmark insert|fetch cistern|grdb COUNT STORE
           stack-benchmark batch objects|handler|dictionaries COUNT STORE
           stack-benchmark find first|all STORE
           stack-benchmark discard CYCLES COUNT STORE
           stack-benchmark migrate same|attribute|default|rename|wider|alter STORE
    """
let arguments = CommandLine.arguments.dropFirst().filter { $0 != "--ids" }
/// Notifications carry no objects.
let idsOnly = CommandLine.arguments.contains("--ids")

/// The largest resident size of this process, in MiB.
func peakMemory() -> Double {
    let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
    let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
    return (line?.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Double($0) } ?? 0) / 1024
}

@Sendable func openCoordinator(_ path: String) throws -> NSPersistentStoreCoordinator {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Stop.model())
    try coordinator.addPersistentStore(
        ofType: NSSQLiteStoreType, configurationName: nil, at: URL(fileURLWithPath: path),
        options: [NSSQLitePragmasOption: ["synchronous": "FULL"]])
    return coordinator
}

@Sendable func close(_ coordinator: NSPersistentStoreCoordinator) throws {
    for store in coordinator.persistentStores { try coordinator.remove(store) }
}

/// The processor time in user mode that this process took while something was measured, in seconds: what other programs on the machine
/// disturb least.
let processorTime = Atomic<UInt64>(0)

@Sendable func userMicroseconds() -> UInt64 {
    var usage = rusage()
    getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
    return UInt64(usage.ru_utime.tv_sec) * 1_000_000 + UInt64(usage.ru_utime.tv_usec)
}

@Sendable func seconds(_ body: () throws -> Void) rethrows -> Double {
    let start = DispatchTime.now().uptimeNanoseconds, used = userMicroseconds()
    try body()
    processorTime.store(userMicroseconds() - used, ordering: .relaxed)
    return Double(DispatchTime.now().uptimeNanoseconds - start) / 1e9
}

@Sendable func openDatabase(_ path: String) throws -> DatabasePool {
    var configuration = Configuration()
    configuration.prepareDatabase { try $0.execute(sql: "PRAGMA synchronous = FULL") }
    return try DatabasePool(path: path, configuration: configuration)
}

/// Wall time of what was asked for, with everything durable.
@Sendable func measure() throws -> Double {
    switch (arguments.first, arguments.count) {
    case ("import", 5):
        guard let design = Int(arguments[1]).flatMap(Design.init), let count = Int(arguments[2]), let every = Int(arguments[3]) else {
            fail(usage)
        }
        let coordinator = try openCoordinator(arguments[4])
        let wall = try seconds { try Import(design: design, count: count, saveEvery: every, idsOnly: idsOnly, coordinator: coordinator).run() }
        try close(coordinator)
        return wall
    case ("insert", 4):
        guard let count = Int(arguments[2]) else { fail(usage) }
        if arguments[1] == "grdb" {
            let pool = try openDatabase(arguments[3])
            try pool.write { try StopRecord.createTable(in: $0) }
            return try seconds {
                try pool.write { database in
                    for number in 0..<count { try StopRecord(number).insert(database) }
                }
            }
        }
        let coordinator = try openCoordinator(arguments[3])
        let context = NSManagedObjectContext(.privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        let wall = try seconds {
            try context.performAndWait {
                for number in 0..<count { Stop(context: context).fill(number) }
                try context.save()
            }
        }
        try close(coordinator)
        return wall
    case ("fetch", 4):
        var length = 0
        let wall: Double
        if arguments[1] == "grdb" {
            let pool = try openDatabase(arguments[3])
            wall = try seconds {
                for stop in try pool.read({ try StopRecord.fetchAll($0) }) { length += stop.name.utf8.count }
            }
        } else {
            let coordinator = try openCoordinator(arguments[3])
            let context = NSManagedObjectContext(.privateQueueConcurrencyType)
            context.persistentStoreCoordinator = coordinator
            wall = try seconds {
                try context.performAndWait {
                    for stop in try context.fetch(NSFetchRequest<Stop>(entityName: "Stop")) { length += stop.name.utf8.count }
                }
            }
            try close(coordinator)
        }
        if length == 0 { fail("\(arguments[3]) holds no stops; insert some first") }
        return wall
    case ("batch", 4):
        guard let count = Int(arguments[2]), let request = batch(arguments[1], count) else { fail(usage) }
        let coordinator = try openCoordinator(arguments[3])
        let context = NSManagedObjectContext(.privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        let wall = try seconds { _ = try context.performAndWait { try context.execute(request) } }
        try close(coordinator)
        return wall
    case ("find", 3):
        let coordinator = try openCoordinator(arguments[2])
        let context = NSManagedObjectContext(.privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        let request = NSFetchRequest<Stop>(entityName: "Stop")
        request.predicate = NSPredicate(format: "zone == 1 AND identifier >= 400000 AND identifier < 430000")
        request.sortDescriptors = [NSSortDescriptor(key: "latitude", ascending: true), NSSortDescriptor(key: "name", ascending: true)]
        if arguments[1] == "first" { request.fetchLimit = 1 }
        var length = 0
        let wall = try seconds {
            try context.performAndWait {
                for stop in try context.fetch(request) { length += stop.name.utf8.count + (stop.platform?.utf8.count ?? 0) }
            }
        }
        try close(coordinator)
        if length == 0 { fail("\(arguments[2]) holds no stops; insert some first") }
        return wall
    case ("migrate", 3):
        if arguments[1] == "alter" {
            let pool = try openDatabase(arguments[2])
            return try seconds { try pool.write { try $0.execute(sql: "ALTER TABLE ZSTOP ADD COLUMN ZADDED INTEGER DEFAULT 7") } }
        }
        guard let model = Stop.model(changed: arguments[1]) else { fail(usage) }
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        let wall = try seconds {
            try coordinator.addPersistentStore(
                ofType: NSSQLiteStoreType, configurationName: nil, at: URL(fileURLWithPath: arguments[2]),
                options: [NSMigratePersistentStoresAutomaticallyOption: true, NSInferMappingModelAutomaticallyOption: true])
        }
        try close(coordinator)
        return wall
    case ("discard", 4):
        guard let cycles = Int(arguments[1]), let count = Int(arguments[2]) else { fail(usage) }
        let coordinator = try openCoordinator(arguments[3])
        let root = NSManagedObjectContext(.privateQueueConcurrencyType)
        root.persistentStoreCoordinator = coordinator
        let wall = try seconds {
            for cycle in 1...cycles {
                try discard(count, inChildOf: root)
                if [cycles / 10, cycles].contains(cycle) { try say("after \(cycle) cycles of \(count): \(process())") }
            }
        }
        try close(coordinator)
        return wall
    default: fail(usage)
    }
}

/// That many stops: out of one object that is filled again and again, as dictionaries that a handler fills, or as dictionaries that are there.
@Sendable func batch(_ source: String, _ count: Int) -> NSBatchInsertRequest? {
    var number = 0
    switch source {
    case "objects":
        return NSBatchInsertRequest(entityName: "Stop") { (object: NSManagedObject) in
            if number == count { return true }
            (object as? Stop)?.fill(number)
            number += 1
            return false
        }
    case "handler":
        return NSBatchInsertRequest(entityName: "Stop") { (row: NSMutableDictionary) in
            if number == count { return true }
            row.addEntries(from: stopValues(number))
            number += 1
            return false
        }
    case "dictionaries": return NSBatchInsertRequest(entityName: "Stop", objects: (0..<count).map(stopValues))
    default: return nil
    }
}

@Sendable func stopValues(_ number: Int) -> [String: Any] {
    var row: [String: Any] = [
        "identifier": number, "name": "Stop at the corner number \(number)", "latitude": 52.3 + Double(number % 1000) / 2000,
        "longitude": 13.1 + Double(number % 777) / 1000, "zone": number % 3, "isAccessible": number % 5 != 0,
        "changed": Date(timeIntervalSinceReferenceDate: Double(number)),
    ]
    if number % 2 == 0 { row["platform"] = "platform \(number % 12)" }
    return row
}

/// Imports into a worker above the root, pushes, and throws everything away at both levels.
@Sendable func discard(_ count: Int, inChildOf root: NSManagedObjectContext) throws {
    let worker = NSManagedObjectContext(.privateQueueConcurrencyType)
    worker.parent = root
    try worker.performAndWait {
        for number in 0..<count { Stop(context: worker).fill(number) }
        try worker.save()
    }
    root.performAndWait { root.rollback() }
    if root.performAndWait({ !root.registeredObjects.isEmpty || root.hasChanges }) { fail("something is left in the root") }
}

/// Resident memory and threads of this process.
@Sendable func process() throws -> String {
    let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8).split(separator: "\n")
    return status.filter { $0.hasPrefix("VmRSS") || $0.hasPrefix("Threads") }.map { $0.split(whereSeparator: \.isWhitespace).joined(separator: " ") }
        .joined(separator: ", ")
}

@Sendable func say(_ line: String) { FileHandle.standardError.write(Data((line + "\n").utf8)) }

Task.detached {
    do {
        let wall = try measure()
        print(
            """
            {"wall_s": \(wall), "user_s": \(Double(processorTime.load(ordering: .relaxed)) / 1e6), "peak_rss_mib": \(peakMemory()), "main_queue_s": \(Double(MainQueueLoad.total) / 1e9), \
            "main_queue_longest_ms": \(Double(MainQueueLoad.longest) / 1e6)}
            """)
        exit(0)
    } catch {
        fail("\(error)")
    }
}
RunLoop.main.run()
