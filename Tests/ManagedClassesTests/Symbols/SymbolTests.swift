import Foundation
import Testing

@testable import ManagedClasses

/// Names of accessors, held against the compiler.
@Suite struct SymbolTests {
    @Test(.enabled(if: SwiftCompiler.found != nil, "no swiftc or no nm was found"), arguments: [UInt64(1), 2, 3, 4])
    func everySymbolIsTheOneThatTheCompilerLooksFor(seed: UInt64) throws {
        let compiler = try #require(SwiftCompiler.found), folder = try TemporaryFolder()
        try folder.write("import Foundation\nopen class ManagedBase: NSObject {}\n", to: "Base.swift")
        try compiler.compile(
            ["-emit-module", "-parse-as-library", "-module-name", RandomDeclarations.base, "Base.swift"], in: folder.url)
        let random = RandomDeclarations(seed: seed)
        try folder.write(random.source, to: "Random.swift")
        try compiler.compile(
            ["-c", "-parse-as-library", "-I", ".", "-module-name", random.module, "Random.swift", "-o", "random.o"], in: folder.url)
        let wanted = try compiler.undefinedSymbols(of: "random.o", in: folder.url).filter(random.isOfMember)
        #expect(random.symbols.subtracting(wanted).sorted() == [])
        #expect(wanted.subtracting(random.symbols).sorted() == [])
    }

    @Test func aSumIsTheStandards() {
        #expect(MD5.hexadecimal(of: "") == "D41D8CD98F00B204E9800998ECF8427E")
        #expect(MD5.hexadecimal(of: "message digest") == "F96B697D7CB7938D525A2F31AAF161D0")
        #expect(MD5.hexadecimal(of: String(repeating: "1234567890", count: 8)) == "57EDF4A22BE3C955AC49DA2E2107B67A")
    }
}
