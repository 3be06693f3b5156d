import Foundation
import ManagedClasses

/// `--module NAME --output FILE [--library NAME] [--model PATH …] [--dependency MODULE PATH …] [--dependencies FILE] SOURCE …`
///
/// By hand: every program with the plugin builds this first, and a parser of arguments takes longer to build than the rest.
struct ClassesCommand {
    private static let usage = """
        usage: opencoredata-classes --module NAME --output FILE [--library CoreData|OpenCoreData]
                                    [--model PACKAGE.xcdatamodeld]... [--dependency MODULE PATH]... [--dependencies FILE]
                                    SOURCE.swift...

        Writes to FILE the classes that models ask for (codegen "class" and "category"), and the accessors
        behind @NSManaged in the sources. Prints what stands in the way as compilers do, and exits 1.
        The PATH of a dependency is one of its sources, or a folder of them; FILE has one in each line:
        the module, a tab, the path.
        """

    private var module: String?
    private var output: String?
    private var library = "CoreData"
    private var models: [String] = []
    private var dependencies: [ManagedClasses.Dependency] = []
    private var sources: [String] = []
    private var lists: [String] = []
    private var isUnderstood = true

    init(_ arguments: ArraySlice<String>) {
        var rest = arguments
        while let argument = rest.popFirst() {
            switch argument {
            case "--module": module = rest.popFirst()
            case "--output": output = rest.popFirst()
            case "--library": library = rest.popFirst() ?? library
            case "--model": models += rest.popFirst().map { [$0] } ?? []
            case "--dependency":
                if let module = rest.popFirst(), let path = rest.popFirst() { dependencies.append(.init(module: module, path: path)) }
            case "--dependencies": lists += rest.popFirst().map { [$0] } ?? []
            case _ where argument.hasPrefix("-"): isUnderstood = false
            default: sources.append(argument)
            }
        }
    }

    /// The exit status: 0, 1 for what stands in the way, 64 for arguments that make no sense.
    func run() -> Int32 {
        guard isUnderstood, let module, let output else {
            complain(Self.usage)
            return 64
        }
        var dependencies = dependencies
        for list in lists {
            guard let text = try? String(contentsOfFile: list, encoding: .utf8) else {
                complain("\(list):1:1: error: the list of the dependencies' sources can't be read; build again")
                return 1
            }
            for line in text.split(separator: "\n") {
                let parts = line.split(separator: "\t", maxSplits: 1).map(String.init)
                if parts.count == 2 { dependencies.append(.init(module: parts[0], path: parts[1])) }
            }
        }
        let classes = ManagedClasses(module: module, sources: sources, models: models, dependencies: dependencies, library: library)
        switch classes.generated() {
        case .failure(let complaints):
            complain(complaints.description)
            return 1
        case .success(let text):
            return write(text, to: output)
        }
    }

    private func write(_ text: String, to path: String) -> Int32 {
        let file = URL(fileURLWithPath: path)
        do {
            // A file that says the same stays as it is, so that nothing is compiled again.
            if let known = try? String(contentsOf: file, encoding: .utf8), known == text { return 0 }
            try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data(text.utf8).write(to: file, options: .atomic)
            return 0
        } catch {
            complain("\(path):1:1: error: can't be written: \((error as NSError).localizedDescription)")
            return 1
        }
    }

    private func complain(_ text: String) { FileHandle.standardError.write(Data((text + "\n").utf8)) }
}
