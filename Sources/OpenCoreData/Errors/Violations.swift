import Foundation

/// Misuse of the interface that no program can go on from: there is no right value to return. Where Apple raises an exception, a named function here
/// tells whoever handles misuses and stops the program, with a sentence that says what was done, where, and what to do instead. What can be gone on
/// from is a `CoreDataMisuse` by itself.
enum Violation {
    private static func stop(_ message: String, _ kind: CoreDataMisuse.Kind = .other) -> Never {
        CoreDataMisuse(kind, message, isSurvivable: false).tell()
        // A programmer error is not recoverable here.
        fatalError("OpenCoreData: \(message)")
    }

    static func unknownEntity(_ name: String, known: [String]) -> Never {
        stop("no entity named \"\(name)\" in the model; it has \(known.sorted().joined(separator: ", ")).", .unknownEntity)
    }

    static func unknownKey(_ key: String, entity: String?) -> Never {
        stop(CoreDataMisuse.unknownKey(key, entity: entity).message, .unknownKey)
    }

    static func wrongType(_ value: Any, key: String, entity: String?, expected: String) -> Never {
        stop(CoreDataMisuse.wrongType(value, key: key, entity: entity, expected: expected).message, .wrongType)
    }

    static func modelIsFrozen(_ what: String) -> Never {
        stop("can't change \(what): the model is in use by a coordinator. Change a copy of it instead.")
    }

    static func wrongQueue(_ context: String) -> Never {
        stop(
            "__Multithreading_Violation_AllThatIsLeftToUsIsHonor__: \(context) was used outside of its queue. "
                + "Wrap the access in perform(_:) or performAndWait(_:).")
    }

    /// Tells each side with where it waits: only the caller's own stack is in the report of the crash.
    static func deadlock(_ description: String, sides: [(who: String, stack: [String])]) -> Never {
        let stacks = sides.map { "\($0.who), here:\n\($0.stack.map { "    \($0)\n" }.joined())" }
        stop("deadlock: \(description)\n\(stacks.joined())")
    }

    static func confinement(_ what: String) -> Never {
        stop("\(what): a context of confinement type has no queue. Use a private-queue or main-queue context.")
    }

    static func noParent(_ context: String, doing: String) -> Never {
        stop("\(context) has neither a parent nor a persistent store coordinator; it can't \(doing).")
    }

    static func detachedFault(_ id: String) -> Never {
        stop("\(id) is a fault whose context is gone; its values can no longer be loaded.")
    }

    static func inaccessibleFault(_ id: String) -> Never {
        stop("could not fulfil a fault for \(id): its row is no longer in the store.")
    }

    // Where a value is read without a way to throw, there is none to return that the program might not save later in place of the stored one.
    static func unreadable(_ what: String, _ error: any Error) -> Never {
        stop(
            "could not read \(what): \((error as NSError).localizedDescription) The store could not be read, which says nothing about "
                + "the object. To survive this, load it first with existingObject(with:) or a fetch, which throw.")
    }

    static func otherContext(_ id: String) -> Never { stop(CoreDataMisuse.otherContext(id).message, .otherContext) }

    static func invalidModel(_ message: String) -> Never { stop("the model can't be used: \(message)") }

    static func misuse(_ message: String) -> Never { stop(message) }
}
