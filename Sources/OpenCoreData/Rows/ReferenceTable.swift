import Synchronization

/// What a store calls its objects, where it does not know them by the primary keys of this process: reference and key, both ways, and the name of
/// the store. One for each store that gives references of its own; it lives as long as the IDs do.
///
/// References are told apart by concrete entity: equal ones of two entities are two objects, also within one tree. A key stands for the same
/// reference for good. A reference stands for the same key until its object is deleted; if the store gives it again, then or because no save ever
/// brought the object to it, it names another object.
package final class ReferenceTable: Sendable {
    private struct Name: Hashable, Sendable {
        let entity: Int
        let reference: AttributeValue
    }

    private struct Entry: Sendable {
        let name: Name
        var state: KeyState
    }

    /// What is known of the object that a key stands for.
    package enum KeyState: Sendable {
        /// The reference was given to a new object that no save has brought to the store yet.
        case reserved
        case stored
        /// The store did not have it when it was asked last; another object may be given the reference.
        case missing
        case deleted
    }

    private struct State: Sendable {
        var storeName: String?
        var keys: [Name: Int64] = [:]
        var entries: [Int64: Entry] = [:]
        var nextKey: Int64 = 1
    }

    private let state = Mutex(State())

    package init() {}

    /// The identifier of the store; nil until it has said it.
    package var storeName: String? {
        get { state.withLock { $0.storeName } }
        set { state.withLock { $0.storeName = newValue } }
    }

    /// Takes keys out of circulation for objects whose references come later.
    package func reserveKeys(_ count: Int) -> Range<Int64> {
        state.withLock { state in
            defer { state.nextKey += Int64(count) }
            return state.nextKey..<state.nextKey + Int64(count)
        }
    }

    /// The key that a reference stands for, if it is known.
    package func key(of reference: AttributeValue, _ entity: NSEntityDescription) -> Int64? {
        state.withLock { $0.keys[Name(entity: entity.number, reference: reference)] }
    }

    /// The key that a reference stands for from now on at the latest: the known one, else `wanted`, else a new one. A key that is new is known to be
    /// in the store unless it was wanted. A wanted key takes the reference from one that the store did not have, as far as is known.
    package func bind(_ reference: AttributeValue, _ entity: NSEntityDescription, to wanted: Int64? = nil) -> Int64 {
        let name = Name(entity: entity.number, reference: reference)
        return state.withLock { state in
            if let known = state.keys[name] {
                guard wanted != nil, Self.isFree(state.entries[known]?.state) else { return known }
                state.entries[known]?.state = .deleted
            }
            let key = wanted ?? state.nextKey
            if wanted == nil { state.nextKey += 1 }
            state.keys[name] = key
            state.entries[key] = Entry(name: name, state: wanted == nil ? .stored : .reserved)
            return key
        }
    }

    /// Whether the reference of a key can be given to another object: the store did not have this one, as far as is known.
    package func isFree(_ key: Int64) -> Bool { Self.isFree(state(of: key)) }

    private static func isFree(_ state: KeyState?) -> Bool {
        switch state {
        case .reserved?, .missing?: true
        case .stored?, .deleted?, nil: false
        }
    }

    /// A deleted object is to be written again: its reference stands for it as before. False if the reference was given to another one since.
    package func rebind(_ key: Int64) -> Bool {
        state.withLock { state in
            guard let entry = state.entries[key], state.keys[entry.name] == nil || state.keys[entry.name] == key else { return false }
            state.keys[entry.name] = key
            state.entries[key]?.state = .reserved
            return true
        }
    }

    /// Forgets what keys stand for that never came to be.
    package func release(_ keys: some Sequence<Int64>) {
        state.withLock { state in
            for key in keys {
                guard let entry = state.entries.removeValue(forKey: key) else { continue }
                if state.keys[entry.name] == key { state.keys[entry.name] = nil }
            }
        }
    }

    package func reference(of key: Int64) -> AttributeValue? { state.withLock { $0.entries[key]?.name.reference } }

    /// What is known of the object; nil for a key without a reference.
    package func state(of key: Int64) -> KeyState? { state.withLock { $0.entries[key]?.state } }

    /// Whether the store is to be asked for the object.
    package func mayBeStored(_ key: Int64) -> Bool {
        switch state(of: key) {
        case .stored?, .missing?: true
        case .reserved?, .deleted?, nil: false
        }
    }

    /// These objects are in the store.
    package func noteStored(_ keys: some Sequence<Int64>) {
        state.withLock { state in
            for key in keys {
                switch state.entries[key]?.state {
                case .reserved?, .missing?: state.entries[key]?.state = .stored
                case .stored?, .deleted?, nil: break
                }
            }
        }
    }

    /// The store does not have this object.
    package func noteMissing(_ key: Int64) {
        state.withLock { state in
            if state.entries[key]?.state == .stored { state.entries[key]?.state = .missing }
        }
    }

    /// These objects are not in the store any more; their references are free.
    package func noteDeleted(_ keys: some Sequence<Int64>) {
        state.withLock { state in
            for key in keys {
                guard let entry = state.entries[key] else { continue }
                state.entries[key]?.state = .deleted
                if state.keys[entry.name] == key { state.keys[entry.name] = nil }
            }
        }
    }
}
