import Foundation
import OpenCoreDataTestSupport
import Testing

@testable import OpenCoreData

/// New rows that are too many for the memory.
@Suite struct BlockSpillTests {
    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("spill-\(UUID().uuidString)")

    init() throws { try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true) }

    /// The files of the folder that this process has open and that nobody else sees.
    private var openFiles: Int {
        let open = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
        return open.count {
            let target = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)")
            return target?.hasPrefix(folder.path) == true && target?.hasSuffix(" (deleted)") == true
        }
    }

    private static func limits(heap: Int, leavesFree: Int = 0) -> BlockSpill.Limits {
        var limits = BlockSpill.Limits()
        (limits.heap, limits.leavesFree) = (heap, leavesFree)
        return limits
    }

    private func copy(_ bytes: [UInt8], in spill: BlockSpill) -> SpilledBytes { bytes.withUnsafeBytes { spill.bytes(copying: $0) } }

    private func read(_ bytes: SpilledBytes) throws -> [UInt8] { try bytes.withBytes { Array($0) } }

    private static func number(_ number: Int) -> [UInt8] { [UInt8](repeating: UInt8(number), count: 1000 + number) }

    @Test func whatIsTooMuchForTheHeapIsInAFileUntilNobodyNeedsIt() throws {
        let spill = BlockSpill(in: folder, Self.limits(heap: 3000))
        var all = (1...2).map { copy(Self.number($0), in: spill) }
        #expect(openFiles == 0)
        all += (3...9).map { copy(Self.number($0), in: spill) }
        #expect(openFiles == 1)
        for (place, bytes) in all.enumerated() { #expect(try read(bytes) == Self.number(place + 1)) }
        // There is room on the heap again.
        all.removeFirst(2)
        all.append(copy(Self.number(10), in: spill))
        for (place, bytes) in all.enumerated() { #expect(try read(bytes) == Self.number(place + 3)) }
        all = [all[7]]
        #expect(openFiles == 0)
        #expect(try read(all[0]) == Self.number(10))
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == [])
    }

    @Test func withoutAFileAllIsOnTheHeap() throws {
        let missing = folder.appendingPathComponent("missing")
        let limits = Self.limits(heap: 0), places = [(nil, limits), (missing, limits), (folder, Self.limits(heap: 0, leavesFree: .max))]
        for spill in places.map({ BlockSpill(in: $0, $1) }) {
            let all = (1...5).map { copy(Self.number($0), in: spill) }
            for (place, bytes) in all.enumerated() { #expect(try read(bytes) == Self.number(place + 1)) }
            // It may have been opened, and has taken nothing.
            #expect(openFiles == 0)
        }
    }

    // The disk gives back something else than it was given.
    @Test func otherBytesThanWereWrittenAreNoRows() throws {
        let spill = BlockSpill(in: folder, Self.limits(heap: 0)), bytes = copy(Self.number(1), in: spill)
        let name = try #require(
            FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").first {
                let target = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)")
                return target?.hasPrefix(folder.path) == true
            })
        let file = try FileHandle(forUpdating: URL(fileURLWithPath: "/proc/self/fd/\(name)"))
        try file.seek(toOffset: 500)
        try file.write(contentsOf: [0])
        try file.close()
        let error = #expect(throws: NSError.self) { try read(bytes) }
        #expect(error?.code == CocoaError.Code.fileReadUnknown.rawValue && error?.localizedDescription.contains("other bytes") == true)
    }

    @Test func rowsOfABuilderAreWrittenBehindThoseOfAnother() throws {
        let model = BlockWorld.model()
        model.freeze()
        let layout = try #require(model.entitiesByName["Place"]).layout
        func write(_ codes: [String], to builder: RowBlockBuilder) {
            for code in codes {
                for name in layout.names { #expect(builder.put(name == "code" || name == "text" ? .string(code) : .null)) }
                #expect(builder.endRow())
            }
        }
        let codes = (1...200).map { "\($0)" + String(repeating: "x", count: $0 * 7) }
        let one = RowBlockBuilder(layout), other = RowBlockBuilder(layout), whole = RowBlockBuilder(layout)
        write(Array(codes[..<50]), to: one)
        write(Array(codes[50...]), to: other)
        write(codes, to: whole)
        let rows = other.rows(in: BlockSpill(in: folder, Self.limits(heap: 0)))
        other.removeAll()
        try one.append(rows)
        write(["last"], to: one)
        write(["last"], to: whole)
        #expect(rows.count == 150 && one.count == 201 && one.hashes == whole.hashes)
        for place in 0..<201 { #expect((0..<layout.count).allSatisfy { one.row(place)[$0] == whole.row(place)[$0] }) }
    }
}
