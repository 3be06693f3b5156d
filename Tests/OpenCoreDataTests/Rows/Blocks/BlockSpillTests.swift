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

    private func copy(_ bytes: [UInt8], in spill: BlockSpill) -> SpilledBytes { bytes.withUnsafeBytes { spill.bytes(copying: $0) } }

    private func read(_ bytes: SpilledBytes) throws -> [UInt8] { try bytes.withBytes { Array($0) } }

    private static func number(_ number: Int) -> [UInt8] { [UInt8](repeating: UInt8(number), count: 1000 + number) }

    @Test func whatIsTooMuchForTheHeapIsInAFileUntilNobodyNeedsIt() throws {
        let spill = BlockSpill(in: folder, limit: 3000, leavesFree: 0)
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
        for spill in [BlockSpill(in: nil, limit: 0), BlockSpill(in: missing, limit: 0), BlockSpill(in: folder, limit: 0, leavesFree: .max)] {
            let all = (1...5).map { copy(Self.number($0), in: spill) }
            for (place, bytes) in all.enumerated() { #expect(try read(bytes) == Self.number(place + 1)) }
        }
        #expect(openFiles == 0)
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
        let rows = other.rows(in: BlockSpill(in: folder, limit: 0, leavesFree: 0))
        #expect(rows.count == 150)
        other.removeAll()
        try one.append(rows)
        write(["last"], to: one)
        write(["last"], to: whole)
        #expect(one.count == 201 && one.hashes == whole.hashes)
        for place in 0..<201 { #expect((0..<layout.count).allSatisfy { one.row(place)[$0] == whole.row(place)[$0] }) }
    }
}
