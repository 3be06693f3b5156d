"""Each rule is shown something it must find, and something it must leave alone."""

import tempfile
from pathlib import Path

from . import index, rules, tables
from .source import SwiftFile, strip

CLEAN = "import Foundation\n\n/// A thing.\npublic struct Thing {\n    public enum Kind { case one }\n}\n"

# (rule, files, fragment of the finding that must appear; None: there must be none)
CASES = [
    (rules.file_sizes, {"Sources/Systemd/Long.swift": "// line\n" * 601}, "divide it"),
    (rules.file_sizes, {"Sources/Systemd/Long.swift": "// line\n" * 401}, "aim at"),
    (rules.file_sizes, {"Sources/Systemd/Thing.swift": CLEAN}, None),
    (rules.file_names, {"Sources/Systemd/Thing.swift": CLEAN}, None),
    (rules.file_names, {"Sources/Systemd/Other.swift": CLEAN}, "belongs into Thing.swift"),
    (rules.file_names, {"Sources/Systemd/Thing.swift": CLEAN + "public\nfinal class Second {}\n"}, None),
    (rules.file_names, {"Sources/Systemd/Thing+Verb.swift": "extension Thing {}\npublic struct Second {}\n"}, "public Second"),
    (rules.file_names, {"Sources/Systemd/Thing.swift": "struct Other {}\n"}, "nothing named Thing"),
    (rules.file_names, {"Sources/Systemd/Thing.swift": "struct Other {}\nstruct Thing {}\n"}, None),
    (rules.file_names, {"Sources/Systemd/Thing+Verb.swift": "extension Thing {}\n"}, None),
    (rules.file_names, {"Sources/Systemd/Thing+Verb.swift": "extension Other {}\n"}, "extends no Thing"),
    (rules.file_names, {"Sources/Systemd/Helpers/Thing.swift": CLEAN}, "says nothing"),
    (rules.documentation, {
        "Sources/Systemd/Thing.swift": "/// A thing.\n// Locked.\npublic final class Thing {\n    /// Its size.\n    public private(set) var size = 0\n}\n"}, None),
    (rules.documentation, {"Sources/Systemd/Thing.swift": "/// A thing.\npublic final class Thing {\n    public private(set) var size = 0\n}\n"}, "no comment says"),
    (rules.documentation, {"Sources/Systemd/Thing.swift": "/// Things.\npublic enum Thing {\n    case one\n}\n"}, "no comment says"),
    (rules.folder_order, {
        "Sources/OpenCoreData/Model/A.swift": "struct A { var b: B? }\n",
        "Sources/OpenCoreData/Context/B.swift": "struct B {}\n"}, "names B of the later folder Context/"),
    (rules.folder_order, {
        "Sources/OpenCoreData/Model/A.swift": "/// B is mentioned only.\nstruct A { let text = \"B\"; let x = Other.B }\n",
        "Sources/OpenCoreData/Context/B.swift": "struct B { var a: A? }\n"}, None),
    (rules.folder_order, {
        "Sources/OpenCoreData/Context/A.swift": "struct A { var b: B? }\n",
        "Sources/OpenCoreData/ManagedObject/B.swift": "struct B { var a: A? }\n"}, None),
    (rules.folder_order, {"Scripts/house/tables.py": "", "Sources/OpenCoreData/Rows/A.swift": "struct A {}\n"}, "which needs it no more"),
    (rules.folder_order, {"Sources/OpenCoreData/Attic/A.swift": "struct A {}\n"}, "has no place"),
    (rules.imports, {"Sources/SyncPipeline/A.swift": "import Systemd\n"}, "arrows point down"),
    (rules.imports, {"Sources/SyncPipeline/A.swift": "public import OpenCoreData\nimport CZlib\n"}, None),
    (rules.imports, {"Sources/OpenCoreData/Context/A.swift": "@preconcurrency import GRDB\n"}, "only under"),
    (rules.imports, {"Sources/OpenCoreData/Stores/SQLite/A.swift": "import GRDB\n"}, None),
    (rules.imports, {"Sources/SyncPipeline/A.swift": "import FoundationNetworking\n"}, "no home"),
    (rules.imports, {"Tests/SystemdTests/A.swift": "import XCTest\n"}, "Swift Testing"),
    (rules.imports, {"Tests/CoreDataTests/A.swift": "@testable import OpenCoreData\n"}, "may not import OpenCoreData"),
    (rules.imports, {"Tests/CoreDataTests/A.swift": "import CoreData\nimport Testing\n"}, None),
    (rules.reasons, {"Sources/Systemd/A.swift": "final class A: @unchecked Sendable {}\n"}, "@unchecked Sendable without"),
    (rules.reasons, {"Sources/Systemd/A.swift": "// Confined to a queue.\nfinal class A: @unchecked Sendable {}\n"}, None),
    (rules.reasons, {"Sources/Systemd/A.swift": "// Confined.\n@objc\nfinal class A: B,\n    @unchecked Sendable {}\n"}, None),
    (rules.reasons, {"Sources/Systemd/A.swift": "let a = 1\nlet b = try! f()\n"}, "try! without"),
    (rules.reasons, {"Sources/Systemd/A.swift": "// why\nlet a = 1\nnonisolated(unsafe) var b = 1\n"}, "nonisolated(unsafe) without"),
    (rules.reasons, {"Sources/Systemd/A.swift": "func f() {\n    fatalError(\"x\")\n}\n"}, "fatalError without"),
    (rules.reasons, {"Sources/Systemd/A.swift": "// Misuse.\nfunc f() -> Never {\n    fatalError(\"try! \\(x)\")\n}\n"}, None),
    (rules.bare_closures, {"Sources/Systemd/A.swift": "let a = Mutex<(@Sendable () -> Void)?>(nil)\n"}, "keep it in a struct"),
    (rules.bare_closures, {"Tests/SystemdTests/A.swift": "let a = Mutex<(b: [Int], c: (() -> Void)?)>(([], nil))\n"}, "keep it in a struct"),
    (rules.bare_closures, {"Sources/Systemd/A.swift": "typealias B = (Int) -> Void\nlet a = Mutex<B?>(nil)\n"}, "keep it in a struct"),
    (rules.bare_closures, {"Sources/Systemd/A.swift": "let a = Mutex<[Int: () -> Void]>([:])\nlet b = Mutex<B?>(nil)\n"}, None),
    (rules.leftovers, {"Sources/Systemd/A.swift": "// " + "TO" + "DO: later\n"}, "finish it"),
    (rules.leftovers, {"docs/A.md": "see /ho" + "me/someone/x\n"}, "somebody's machine"),
    (rules.leftovers, {"docs/A.md": "ProtectHome=yes, /home is hidden\n"}, None),
    (rules.sleeping_tests, {"Tests/SystemdTests/A.swift": "try await Task.sleep(for: .seconds(1))\n"}, "Task.sleep"),
    (rules.sleeping_tests, {"Tests/SystemdTests/A.swift": "func sleep(until: Int) {}\nclock.sleep(until: 3)\n"}, None),
    (rules.quiet_libraries, {"Sources/SyncPipeline/A.swift": "print(\"x\")\n"}, "prints"),
    (rules.quiet_libraries, {"Sources/cisternctl/A.swift": "print(\"x\")\n"}, None),
    (rules.quiet_libraries, {"Sources/OpenCoreData/Context/A.swift": "let e = getenv(\"X\")\n"}, "reads the environment"),
    (rules.configuration_flags, {
        "Sources/SyncConfiguration/Source/TLSConfiguration.swift": "public struct TLSConfiguration {\n    public var verify = true\n}\n",
        "Sources/SyncConfiguration/Reading/A.swift": "let a = tls.verify\n",
        "Sources/SyncPipeline/A.swift": "let a = other.verify // tls.verify\n"}, "nobody acts on TLSConfiguration.verify"),
    (rules.configuration_flags, {
        "Sources/SyncConfiguration/Source/TLSConfiguration.swift":
            "public struct TLSConfiguration {\n    public private(set) var verify: Bool = true\n    public var isOff: Bool { !verify }\n}\n",
        "Sources/SyncPipeline/A.swift": "let a = options.tls.verify\n"}, None),
    (rules.configuration_flags, {
        "Sources/SyncConfiguration/Source/NewTable.swift": "public struct NewTable {\n    public let a: Int\n}\n"}, "say in tables.py"),
    (rules.catalogue, {
        "systemd/cisternd.catalog": "-- " + "a" * 32 + "\nSubject: x\n",
        "Sources/SyncDaemon/A.swift": "let id = \"" + "b" * 32 + "\"\n"}, "is sent by no code"),
    (rules.catalogue, {
        "systemd/cisternd.catalog": "-- " + "a" * 32 + "\nSubject: x\n",
        "Sources/SyncDaemon/A.swift": "let id = \"" + "a" * 32 + "\"\n"}, None),
    (rules.catalogue, {
        "systemd/cisternd.catalog": "-- " + "a" * 32 + "\nSubject: x\n",
        "Sources/Systemd/A.swift": "enum A: String {\n    case one = \"" + "a" * 32 + "\"\n    var b: Bool { self == .one }\n}\n",
        "Sources/SyncDaemon/B.swift": "// .one\nlet b = A.oneMore\n"}, "nobody sends one"),
    (rules.catalogue, {
        "systemd/cisternd.catalog": "-- " + "a" * 32 + "\nSubject: x\n",
        "Sources/Systemd/A.swift": "enum A: String {\n    case one = \"" + "a" * 32 + "\"\n}\n",
        "Sources/SyncDaemon/B.swift": "let b = JournalEntry(.one, \"x\")\n"}, None),
    (rules.named_tests, {"docs/DEVIATIONS.md": "| what | test |\n| --- | --- |\n| x | `missing()` |\n"}, "there is no test missing"),
    (rules.named_tests, {"docs/DEVIATIONS.md": "| what | test |\n| --- | --- |\n| x | y |\n"}, "names no test"),
    (rules.named_tests, {
        "docs/DEVIATIONS.md": "| what | test |\n| --- | --- |\n| x | `found()` |\n",
        "Tests/OpenCoreDataTests/A.swift": "@Test func found() {}\n"}, None),
    (rules.named_tests, {"README.md": "| Promise | Tests |\n| --- | --- |\n| x | `missing` |\n"}, "there is no test missing"),
    (rules.named_tests, {"README.md": "| Promise | Tests |\n| --- | --- |\n| x | y |\n"}, "names no test"),
    (rules.named_tests, {"README.md": "| what | where |\n| --- | --- |\n| x | `y` |\n"}, None),
    (rules.named_tests, {
        "docs/COVERAGE.md": "| Statement | State | Tests |\n| --- | --- | --- |\n| X1 | present | `first`, `second` and 2 more |\n",
        "Tests/OpenCoreDataTests/A.swift": "@Test func first() {}\nfunc second() {}\n"}, "there is no test second"),
    (rules.named_tests, {
        "docs/COVERAGE.md": "| Class | Missing |\n| --- | --- |\n| A | `b` |\n\n| X | Tests |\n| --- | --- |\n| X1 | `first` |\n| X2 | – |\n",
        "Tests/OpenCoreDataTests/A.swift": "@Test(arguments: [1])\n    func first(_ number: Int) {}\n"}, None),
    (rules.listed_tests, {
        "docs/COVERAGE.md": "| X | Tests |\n| --- | --- |\n| X1 | `first` |\n",
        "Tests/OpenCoreDataTests/A.swift": "// X1\n@Test func first() {}\n// E2, X1: why\n@MainActor\n@Test(.y)\nfunc second() {}\n"}, "second"),
    (rules.listed_tests, {
        "docs/COVERAGE.md": "| X | Tests |\n| --- | --- |\n| X1 | `first` and 1 more |\n| X2 | – |\n",
        "Tests/OpenCoreDataTests/A.swift": "// X1\n@Test func first() {}\n// E2, X1\n@Test func second() {}\n// X12\n@Test func third() {}\n",
        "Tests/SystemdTests/A.swift": "// X1\n@Test func other() {}\n"}, None),
    (rules.listed_tests, {
        "docs/COVERAGE.md": "| X | Tests |\n| --- | --- |\n| X1 | `first` |\n",
        "Tests/CoreDataTests/A.swift": "// X1\n@Test func first() {}\n// X1\n@Test func second() {}\n"}, "second"),
    (rules.mirrored_tests, {
        "Sources/Systemd/Journal/A.swift": "struct A {}\n", "Tests/SystemdTests/Attic/ATests.swift": "struct ATests {}\n"}, "mirror"),
    (rules.remote_text, {"Sources/SyncDaemon/A.swift": "let a = text.split(separator: \"\\n\")\n"}, "RemoteText alone"),
    (rules.remote_text, {"Sources/SyncPipeline/A.swift": "let a = text.prefix { $0 != \"\\n\" }\n"}, "RemoteText alone"),
    (rules.remote_text, {"Sources/SyncDaemon/A.swift": "let a = text.split(whereSeparator: \\.isNewline)\n"}, None),
    (rules.remote_text, {"Sources/cisternctl/A.swift": "console.write(text)\n"}, "past the console"),
    (rules.remote_text, {"Sources/cisternctl/A.swift": "console.out(text)\n"}, None),
    (rules.remote_text, {"Sources/SyncDaemon/A.swift": "journal.current.send(entry)\n"}, "past the JournalReporter"),
    (rules.control_flags, {
        "Sources/SyncControl/ControlRequest.swift": "struct R {\n    public var full: Bool\n}\n",
        "Sources/SyncDaemon/A.swift": "f(request.wait)\n"}, "nobody in SyncDaemon reads request.full"),
    (rules.control_flags, {
        "Sources/SyncControl/ControlRequest.swift": "struct R {\n    public var full: Bool\n    public var x: Int { 1 }\n}\n",
        "Sources/SyncDaemon/A.swift": "f(request.full)\n"}, None),
    (rules.declared_names, {
        "docs/COVERAGE.md": "## Names\n\n1 of 2 declarations, 50.0 %.\n\n| Class | There | Missing |\n| --- | --- | --- |\n| A | 1 of 2 | `c` (no) |\n",
        "Tests/CoreDataTests/Declarations/A.swift": "// MARK: A\n\nlet b = 1  // = b\n// - c\nlet c = 1\n"}, None),
    (rules.declared_names, {
        "docs/COVERAGE.md": "## Names\n\n1 of 1 declarations, 100.0 %.\n\n| A | 1 of 1 | – |\n",
        "Tests/CoreDataTests/Declarations/A.swift": "// MARK: A\nlet b = 1  // = b\nlet d = 1  // = d\n"}, "A has 2 of 2"),
    (rules.declared_names, {
        "docs/COVERAGE.md": "## Names\n\n| A | 0 of 1 | `c` |\n",
        "Tests/CoreDataTests/Declarations/A.swift": "// MARK: A\nlet b = 1  // - b\n"}, "A is missing b"),
    (rules.declared_names, {
        "docs/COVERAGE.md": "## Names\n\n1 of 2 declarations, 51.0 %.\n\n| A | 1 of 1 | – |\n",
        "Tests/CoreDataTests/Declarations/A.swift": "// MARK: A\nlet b = 1  // = b\n"}, "the snippets say 1 of 1 declarations, 100.0 %"),
    (rules.declared_names, {
        "docs/COVERAGE.md": "## Names\n\n1 of 1 declarations, 100.0 %.\n",
        "Tests/CoreDataTests/Declarations/A.swift": "// MARK: A\nlet b = 1  // = b\n"}, "the names of A are not counted"),
    (rules.declared_names, {"Tests/CoreDataTests/Declarations/A.swift": "// MARK: A\nlet b = 1  // = b\nlet c = 1  // = b\n"}, "A has b twice"),
]


def run():
    """Runs every case; returns an exit status."""
    failures = 0
    for rule, files, expected in CASES:
        with tempfile.TemporaryDirectory() as folder:
            for name, text in files.items():
                path = Path(folder) / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text, encoding="utf-8")
            messages = [finding[3] for finding in rule(Path(folder))]
        right = not messages if expected is None else any(expected in message for message in messages)
        if not right:
            failures += 1
            print(f"{rule.__name__}: expected {expected or 'nothing'}, found {messages} in {files}")
    failures += _lexer() + _members()
    print(f"check-house --self-test: {len(CASES) + 2} cases, {failures} failed")
    return 1 if failures else 0


def _members():
    """A member of a later floor is found, one of an earlier floor is not, nor what an exception allows."""
    where, names, _ = tables.LAYER_EXCEPTIONS[0]
    found = list(index.later_floors([
        (("Rows/A.swift", 3), "mayBe(in:)", "Stores/B.swift"), (("Stores/B.swift", 4), "slot(of:)", "Rows/A.swift"),
        ((f"{where}.swift", 5), sorted(names)[0], "Document/C.swift"), (("Rows/A.swift", 6), "x", "Rows/D.swift")]))
    ok = [(file, line) for _, file, line, _ in found] == [("Sources/OpenCoreData/Rows/A.swift", 3)]
    if not ok:
        print(f"_members: found {found}")
    return 0 if ok else 1


def _lexer():
    """Strings and comments vanish, whatever their form; lines and columns stay."""
    text = 'let a = "x \\(f("class Q {")) y" // struct R\nlet b = #"""\nclass S "\n"""# /* enum /* T */ U */ ; struct V {}\n'
    stripped = strip(text)
    ok = len(stripped) == len(text) and stripped.count("\n") == text.count("\n") and "struct V" in stripped
    ok = ok and not any(word in stripped for word in ("class", "struct R", "enum"))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "A.swift"
        path.write_text("public enum A { struct B {} }\nprivate final class C {}\nfunc f<T: AnyObject>(_: T) where T: Sendable {}\n")
        found = [(d.name, d.access, d.depth) for d in SwiftFile(Path(folder), path).declarations]
    ok = ok and found == [("A", "public", 0), ("B", "internal", 1), ("C", "private", 0)]
    if not ok:
        print(f"lexer: {stripped!r} {found}")
    return 0 if ok else 1
