"""The copy of what is committed in which all mutants are compiled in, once."""
import io
import json
import os
import re
import subprocess
import sys
import tarfile

from .places import mutants, rewritten

SOURCES = "Sources/OpenCoreData/"
#: Merge, push, unify, delete propagation and save.
FILES = [
    "Context/Saving/*.swift", "Context/ContextChain.swift", "Context/NSManagedObjectContext+Channel.swift", "Context/Objects/DeletePropagation.swift",
    "Context/Objects/NSManagedObjectContext+Discarding.swift", "Context/Merging/NSMergePolicy.swift",
    "Context/Merging/NSManagedObjectContext+*.swift", "Rows/ChangeSet*.swift", "ManagedObject/NSManagedObject+Validation.swift",
    "Coordinator/StoresSave.swift", "Coordinator/NSPersistentStoreCoordinator+Saving.swift", "Stores/SQLite/SaveOperation*.swift",
    "Stores/SQL/SavePlan.swift", "Stores/KeyClaims.swift", "Stores/InMemory/InMemoryStore.swift",
]
#: Files of which only what follows this mark is saving.
ONLY_AFTER = {SOURCES + "Stores/InMemory/InMemoryStore.swift": "// MARK: Saving"}
COPIED = ["Sources/OpenCoreData", "Sources/CoreData", "Sources/CSwiftRuntime", "Sources/CXXHash", "Sources/CZlib", "Tests/OpenCoreDataTests", "Tests/CoreDataTests", "Tests/Support"]
BUILD = ["build", "--build-tests"]

PACKAGE = """// swift-tools-version:6.2
import PackageDescription

let settings: [SwiftSetting] = [.enableUpcomingFeature("ExistentialAny"), .enableUpcomingFeature("MemberImportVisibility")]

let package = Package(
    name: "mutants",
    dependencies: [GRDB],
    targets: [
        .systemLibrary(name: "CSwiftRuntime"),
        .systemLibrary(name: "CXXHash"),
        .systemLibrary(name: "CZlib", pkgConfig: "zlib"),
        .target(
            name: "OpenCoreData", dependencies: ["CSwiftRuntime", "CXXHash", "CZlib", .product(name: "GRDB", package: "GRDB.swift")],
            swiftSettings: settings + [.unsafeFlags(["-O"])]),
        .target(name: "CoreData", dependencies: ["OpenCoreData"], swiftSettings: settings),
        .target(
            name: "OpenCoreDataTestSupport", dependencies: ["OpenCoreData"], path: "Tests/Support/OpenCoreDataTestSupport",
            swiftSettings: settings + [.unsafeFlags(["-O"])]),
        .target(name: "TestTraits", path: "Tests/Support/TestTraits", swiftSettings: settings),
        .testTarget(
            name: "OpenCoreDataTests", dependencies: ["OpenCoreData", "CoreData", "OpenCoreDataTestSupport", "TestTraits"],
            swiftSettings: settings + [.unsafeFlags(["-O"])]),
        .testTarget(
            name: "CoreDataTests", dependencies: ["CoreData"], packageAccess: false, swiftSettings: settings + [.unsafeFlags(["-O"])]),
    ],
    swiftLanguageModes: [.v6],
    cxxLanguageStandard: .cxx17
)
"""

SWITCH = """import Foundation

/// Which mutant lives: the number in CISTERN_MUTANT; 0: none. With -1 none does, and each that is asked for is noted in the file CISTERN_REACHED,
/// one byte each, which is shared memory: a process that is killed has noted it, too.
private let chosen = ProcessInfo.processInfo.environment["CISTERN_MUTANT"].flatMap { Int($0) } ?? 0

// Bytes that only ever become 1.
nonisolated(unsafe) private let reached: UnsafeMutablePointer<UInt8>? = {
    guard let path = ProcessInfo.processInfo.environment["CISTERN_REACHED"] else { return nil }
    let file = open(path, O_RDWR)
    guard file >= 0, let memory = mmap(nil, COUNT, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0), memory != MAP_FAILED else { return nil }
    return memory.bindMemory(to: UInt8.self, capacity: COUNT)
}()

func mutant(_ number: Int) -> Bool {
    if chosen >= 0 { return number == chosen }
    reached?[number] = 1
    return false
}
"""


class Checkout:
    """A copy of the last commit, in a folder that is kept from run to run."""

    def __init__(self, repository, folder, swift):
        self.repository, self.swift = repository, swift
        self.folder = os.path.join(os.path.abspath(folder), "checkout")
        self.state = os.path.join(os.path.abspath(folder), "mutants.json")
        self.mutants, self.originals = [], {}

    def find(self):
        """Copies what is committed and lists its mutants."""
        os.makedirs(self.folder, exist_ok=True)
        archive = subprocess.run(["git", "archive", "HEAD", "Package.swift", *COPIED], cwd=self.repository, capture_output=True, check=True).stdout
        current = set()
        with tarfile.open(fileobj=io.BytesIO(archive)) as files:
            for entry in files:
                if not entry.isfile():
                    continue
                current.add(entry.name)
                self.originals[entry.name] = files.extractfile(entry).read()
        for pattern in FILES:
            expression = re.compile(re.escape(SOURCES + pattern).replace(r"\*", "[^/]*") + "$")
            paths = sorted(path for path in current if expression.match(path))
            if not paths:
                sys.exit(f"mutants: there is no {SOURCES}{pattern}; bring the list of files in Scripts/mutation/checkout.py up to date.")
            for path in paths:
                text = self.originals[path].decode()
                begin = text.index(ONLY_AFTER[path]) if path in ONLY_AFTER else 0
                self.mutants += [mutant for mutant in mutants(path, text) if mutant.begin >= begin]
        for number, mutant in enumerate(self.mutants, 1):
            mutant.number = number
        return self

    def write(self):
        """Writes what differs; so little is built again."""
        grdb = re.search(rb"\.package\(url: \"[^\"]*GRDB[^\n]*\)", self.originals["Package.swift"]).group().decode()
        wanted = {path: data for path, data in self.originals.items() if path != "Package.swift"}
        wanted["Package.swift"] = PACKAGE.replace("GRDB]", grdb + "]").encode()
        wanted[SOURCES + "Mutant.swift"] = SWITCH.replace("COUNT", str(len(self.mutants) + 1)).encode()
        self.ranges = {}
        for path in sorted({mutant.path for mutant in self.mutants}):
            chosen = [mutant for mutant in self.mutants if mutant.path == path and mutant.builds]
            text, ranges = rewritten(self.originals[path].decode(), chosen)
            wanted[path] = text.encode()
            self.ranges[path] = (text, ranges)
        for path, data in wanted.items():
            name = os.path.join(self.folder, path)
            if not os.path.exists(name) or open(name, "rb").read() != data:
                os.makedirs(os.path.dirname(name), exist_ok=True)
                open(name, "wb").write(data)
        for base in ("Sources", "Tests"):
            for directory, _, names in os.walk(os.path.join(self.folder, base)):
                for name in names:
                    path = os.path.join(directory, name)
                    if os.path.relpath(path, self.folder) not in wanted:
                        os.remove(path)
        resolved = os.path.join(self.repository, "Package.resolved")
        copy = os.path.join(self.folder, "Package.resolved")
        if os.path.exists(resolved) and not os.path.exists(copy):
            open(copy, "wb").write(open(resolved, "rb").read())

    def build(self, say):
        """Builds with all mutants in; those that the compiler refuses are left out."""
        self.recall()
        for _ in range(40):
            self.write()
            # First what has the mutants: the tests take their time.
            result = subprocess.run([self.swift, "build", "--target", "OpenCoreData"], cwd=self.folder, capture_output=True, text=True)
            if result.returncode == 0:
                result = subprocess.run([self.swift, *BUILD], cwd=self.folder, capture_output=True, text=True)
            output = result.stdout + result.stderr
            if result.returncode == 0:
                return
            dropped = self.refused(output)
            refused = [mutant for mutant in self.mutants if not mutant.builds]
            json.dump(sorted({mutant.key for mutant in refused}), open(self.state, "w"))
            say(f"building: {dropped} mutants more do not compile, {len(refused)} together")
            if not dropped:
                sys.exit("mutants: the copy does not build, and not because of a mutant:\n" + "\n".join(output.splitlines()[-40:]))
        sys.exit("mutants: after 40 builds there are still mutants that do not compile.")

    def recall(self):
        """Leaves out what did not compile the last time."""
        if os.path.exists(self.state):
            refused = {tuple(key) for key in json.load(open(self.state))}
            for mutant in self.mutants:
                mutant.builds = mutant.key not in refused

    def refused(self, output):
        places = set(re.findall(r"(?m)^(/[^\n:]+\.swift):(\d+):(\d+): error:", output))
        # What other errors bring with them is told again, if it is still there.
        dropped = 0
        for name, line, column in sorted(places):
            path = os.path.relpath(name, os.path.realpath(self.folder))
            if path not in self.ranges:
                continue
            text, ranges = self.ranges[path]
            lines = text.split("\n")
            at = sum(len(one) + 1 for one in lines[:int(line) - 1]) + len(lines[int(line) - 1].encode()[:int(column) - 1].decode())
            alive = [mutant for mutant in self.mutants if mutant.path == path and mutant.number in ranges]
            around = [mutant for mutant in alive if ranges[mutant.number][0] <= at < ranges[mutant.number][1]]
            if not around:
                # A function that does not return any more: told at its end.
                begin = sum(len(one) + 1 for one in lines[:int(line) - 1])
                around = [mutant for mutant in alive if begin <= ranges[mutant.number][0] < begin + len(lines[int(line) - 1])]
                before = [mutant for mutant in alive if ranges[mutant.number][1] <= at]
                around = around or before[-1:]
            else:
                around = [max(around, key=lambda mutant: ranges[mutant.number][0])]
            for mutant in around:
                dropped += mutant.builds
                mutant.builds = False
        return dropped

    @property
    def program(self):
        return os.path.join(self.folder, ".build", "debug", "mutantsPackageTests.xctest")
