import Foundation

/// Misuse of the interface. Where Apple raises an exception, a named function here stops the program with a sentence that says
/// what was done, where, and what to do instead.
enum Violation {
    // A programmer error is not recoverable: there is no right value to return.
    static func unknownEntity(_ name: String, known: [String]) -> Never {
        fatalError("OpenCoreData: no entity named \"\(name)\" in the model; it has \(known.sorted().joined(separator: ", ")).")
    }

    // As above.
    static func unknownKey(_ key: String, entity: String?) -> Never {
        fatalError("OpenCoreData: entity \(entity ?? "?") is not key value coding-compliant for the key \"\(key)\".")
    }

    // As above.
    static func wrongType(_ value: Any, key: String, entity: String?, expected: String) -> Never {
        fatalError(
            "OpenCoreData: unacceptable type of value for \(entity ?? "?").\(key): desired type = \(expected); "
                + "given type = \(type(of: value)); value = \(value).")
    }

    // As above.
    static func modelIsFrozen(_ what: String) -> Never {
        fatalError("OpenCoreData: can't change \(what): the model is in use by a coordinator. Change a copy of it instead.")
    }

    // As above.
    static func wrongQueue(_ context: String) -> Never {
        fatalError(
            "OpenCoreData: __Multithreading_Violation_AllThatIsLeftToUsIsHonor__: \(context) was used outside of its queue. "
                + "Wrap the access in perform(_:) or performAndWait(_:).")
    }

    /// Tells each side with where it waits: only the caller's own stack is in the report of the crash.
    static func deadlock(_ description: String, sides: [(who: String, stack: [String])]) -> Never {
        let stacks = sides.map { "\($0.who), here:\n\($0.stack.map { "    \($0)\n" }.joined())" }
        // As above.
        fatalError("OpenCoreData: deadlock: \(description)\n\(stacks.joined())")
    }

    // As above.
    static func confinement(_ what: String) -> Never {
        fatalError("OpenCoreData: \(what): a context of confinement type has no queue. Use a private-queue or main-queue context.")
    }

    // As above.
    static func noParent(_ context: String, doing: String) -> Never {
        fatalError("OpenCoreData: \(context) has neither a parent nor a persistent store coordinator; it can't \(doing).")
    }

    // As above.
    static func detachedFault(_ id: String) -> Never {
        fatalError("OpenCoreData: \(id) is a fault whose context is gone; its values can no longer be loaded.")
    }

    // As above.
    static func inaccessibleFault(_ id: String) -> Never {
        fatalError("OpenCoreData: could not fulfil a fault for \(id): its row is no longer in the store.")
    }

    // Where a value is read without a way to throw, there is none to return that the program might not save later in place of the stored one.
    static func unreadable(_ what: String, _ error: any Error) -> Never {
        fatalError(
            "OpenCoreData: could not read \(what): \((error as NSError).localizedDescription) The store could not be read, which says nothing about "
                + "the object. To survive this, load it first with existingObject(with:) or a fetch, which throw.")
    }

    // As above.
    static func otherContext(_ id: String) -> Never {
        fatalError(
            "OpenCoreData: illegal attempt to relate or use \(id) in a different context from its own. Pass its objectID and use object(with:).")
    }

    // As above.
    static func insertedElsewhere(_ id: String, _ owner: String) -> Never {
        fatalError(
            "OpenCoreData: an object can't be inserted into two contexts: \(id) belongs to \(owner). Make one there, or pass its objectID and use "
                + "object(with:).")
    }

    // As above.
    static func noKeys(_ key: String, of value: Any) -> Never {
        fatalError("OpenCoreData: a \(type(of: value)) has no value for the key \"\(key)\".")
    }

    // As above.
    static func malformedKeyPath(_ text: String) -> Never {
        fatalError("OpenCoreData: \"\(text)\" is not a key path by which a value can be read or set.")
    }

    // As above.
    static func invalidModel(_ message: String) -> Never {
        fatalError("OpenCoreData: the model can't be used: \(message)")
    }

    // As above.
    static func misuse(_ message: String) -> Never {
        fatalError("OpenCoreData: \(message)")
    }
}
