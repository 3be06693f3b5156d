import Foundation

/// What generated code calls, over a dictionary: a library that is built in no time.
enum StubLibrary {
    static let openCoreData = """
        public import Foundation
        open class NSManagedObject: NSObject {
            public var values: [String: Any] = [:]
            public final func managedValue<V>(forProperty name: StaticString) -> V { values[name.description] as! V }
            public final func setManagedValue<V>(_ value: V, forProperty name: StaticString) { values[name.description] = value }
            public final func managedPrimitiveValue<V>(forProperty name: StaticString) -> V { values[name.description] as! V }
            public final func setManagedPrimitiveValue<V>(_ value: V, forProperty name: StaticString) { values[name.description] = value }
            public final func addManagedMembers(_ m: Any, toProperty n: StaticString) { values["call"] = "add \\(n)" }
            public final func removeManagedMembers(_ m: Any, fromProperty n: StaticString) { values["call"] = "remove \\(n)" }
            public final func removeManagedMember(fromProperty n: StaticString, at i: Int) { values["call"] = "remove \\(n) at \\(i)" }
            public final func insertManagedMember(_ m: NSManagedObject, intoProperty n: StaticString, at i: Int) { values["call"] = "insert \\(n)" }
            public final func insertManagedMembers(_ m: Any, intoProperty n: StaticString, at i: NSIndexSet) { values["call"] = "insert \\(n)s" }
            public final func removeManagedMembers(fromProperty n: StaticString, at i: NSIndexSet) { values["call"] = "remove \\(n)s" }
            public final func replaceManagedMember(ofProperty n: StaticString, at i: Int, with m: NSManagedObject) { values["call"] = "replace" }
            public final func replaceManagedMembers(ofProperty n: StaticString, at i: NSIndexSet, with m: Any) { values["call"] = "replace \\(n)s" }
        }
        open class NSFetchRequest<Result>: NSObject { public init(entityName: String) {} }
        """
    static let coreData = "@_exported public import OpenCoreData\n"

    /// Builds modules `OpenCoreData` and `CoreData` into a folder.
    static func build(with compiler: SwiftCompiler, options: [String] = [], in folder: TemporaryFolder) throws {
        try folder.write(openCoreData, to: "Library.swift")
        try folder.write(coreData, to: "CoreData.swift")
        try compiler.build("OpenCoreData", ["Library.swift"], options: options, in: folder.url)
        try compiler.build("CoreData", ["CoreData.swift"], options: options, in: folder.url)
    }
}
