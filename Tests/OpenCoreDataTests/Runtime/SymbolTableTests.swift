import Foundation
import Testing

@testable import OpenCoreData

@Suite struct SymbolTableTests {
    // GB26
    @Test func aStackNamesTheFunctionsOfTheProgramItself() {
        let frames = CallStack.here().frames
        #expect(frames.contains { $0.contains("aStackNamesTheFunctionsOfTheProgramItself") }, "\(frames)")
    }

    /// The names that a file of these bytes has for these places; nil if it is no program with names.
    private func names(in bytes: [UInt8], of places: [UInt]) throws -> [UInt: String]? {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("symbols-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: file) }
        try Data(bytes).write(to: file)
        return SymbolTable(path: file.path)?.names(of: places)
    }

    @Test func whatIsNoProgramHasNoNames() throws {
        let head: [UInt8] = [0x7F, 0x45, 0x4C, 0x46, 2]
        // Cut behind the magic number, and with a section table that points anywhere.
        for bytes in [[], head, head + Array(repeating: 0xFF, count: 200), head + Array(repeating: 0, count: 59)] {
            #expect(try names(in: bytes, of: [0, 1, .max])?.isEmpty != false)
        }
        #expect(SymbolTable(path: "/nowhere/none") == nil)
    }

    /// A program of two sections, symbols and strings, with one function `f` of 16 bytes at 0x100.
    private struct Program {
        var count: UInt16 = 2
        var symbols: (offset: UInt64, size: UInt64, link: UInt32) = (192, 24, 1)
        var strings: (offset: UInt64, size: UInt64) = (216, 3)
        var name: UInt32 = 1
        var size: UInt64 = 16

        var bytes: [UInt8] {
            var bytes = [UInt8](repeating: 0, count: 219)
            func put<T: FixedWidthInteger>(_ value: T, at place: Int) {
                withUnsafeBytes(of: value) { bytes.replaceSubrange(place..<(place + $0.count), with: $0) }
            }
            bytes.replaceSubrange(0..<5, with: [0x7F, 0x45, 0x4C, 0x46, 2])
            put(UInt64(64), at: 0x28)
            put(count, at: 0x3C)
            for (start, kind, offset, size, link) in [
                (64, UInt32(2), symbols.offset, symbols.size, symbols.link), (128, UInt32(3), strings.offset, strings.size, UInt32(0)),
            ] {
                put(kind, at: start + 4)
                put(offset, at: start + 0x18)
                put(size, at: start + 0x20)
                put(link, at: start + 0x28)
            }
            put(name, at: 192)
            put(UInt8(2), at: 196)
            put(UInt64(0x100), at: 200)
            put(size, at: 208)
            bytes[217] = UInt8(ascii: "f")
            return bytes
        }
    }

    @Test func aProgramNamesTheFunctionThatAPlaceLiesIn() throws {
        #expect(try names(in: Program().bytes, of: [0, 0xFF, 0x100, 0x10F, 0x110, .max]) == [0x100: "f", 0x10F: "f"])
        #expect(try names(in: Program(size: .max).bytes, of: [0, 0x100, .max]) == [0x100: "f", .max: "f"])
    }

    @Test func aProgramWhoseSectionsLieOutsideOfItHasNoNames() throws {
        let broken = [
            // Symbols behind the end, over the end, and so many that their end is no number.
            Program(symbols: (1 << 20, 24, 1)), Program(symbols: (200, 24, 1)), Program(symbols: (192, .max - 100, 1)),
            Program(symbols: (192, .max, 1)), Program(symbols: (.max, .max, 1)), Program(symbols: (.max - 23, 24, 1)),
            // Less than one symbol.
            Program(symbols: (192, 23, 1)), Program(symbols: (219, 0, 1)),
            // Strings that are none of the sections, outside, or too short for the name.
            Program(symbols: (192, 24, 2)), Program(symbols: (192, 24, .max)), Program(count: 1), Program(strings: (1 << 20, 3)),
            Program(strings: (216, .max)), Program(strings: (.max, 1)), Program(strings: (216, 1)), Program(name: 3), Program(name: .max),
        ]
        for program in broken { #expect(try names(in: program.bytes, of: [0x100, .max])?.isEmpty != false, "\(program)") }
        // A table that says that it is longer than the file has those that are there.
        #expect(try names(in: Program(count: .max).bytes, of: [0x100]) == [0x100: "f"])
        for cut in 0..<219 { _ = try names(in: Array(Program().bytes.prefix(cut)), of: [0x100]) }
    }
}
