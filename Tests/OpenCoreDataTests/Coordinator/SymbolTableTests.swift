import Foundation
import Testing

@testable import OpenCoreData

@Suite struct SymbolTableTests {
    // GB26
    @Test func aStackNamesTheFunctionsOfTheProgramItself() {
        let frames = CallStack.here().frames
        #expect(frames.contains { $0.contains("aStackNamesTheFunctionsOfTheProgramItself") }, "\(frames)")
    }

    @Test func whatIsNoProgramHasNoNames() throws {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("symbols-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: file) }
        let head: [UInt8] = [0x7F, 0x45, 0x4C, 0x46, 2]
        // Cut behind the magic number, and with a section table that points anywhere.
        for bytes in [[], head, head + Array(repeating: 0xFF, count: 200), head + Array(repeating: 0, count: 59)] {
            try Data(bytes).write(to: file)
            #expect(SymbolTable(path: file.path)?.names(of: [0, 1, .max]).isEmpty != false)
        }
        #expect(SymbolTable(path: file.path + "/none") == nil)
    }
}
