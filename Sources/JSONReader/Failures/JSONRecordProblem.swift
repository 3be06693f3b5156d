import CSimdJSON

/// Why one record is refused while its page goes on.
public struct JSONRecordProblem: Error, Sendable, Hashable {
    /// What a policy or a limit refused. The cases up to `bigInteger` arise only under a policy that refuses records for it.
    public enum Kind: Sendable, Hashable {
        /// A key appears twice in one object of the record.
        case duplicateKey
        /// An escape of half a surrogate pair without the other half.
        case loneSurrogate
        /// `\u0000` in a string.
        case nulInText
        /// A number beyond the largest double.
        case numberOverflow
        /// An integer outside of int64.
        case bigInteger
        /// An element of the record list is neither an object nor an array whose elements some field wants.
        case notAnObject
        /// More than one of the ``JSONReaderLimits`` allows.
        case limit(JSONLimit)
    }

    /// Of the first problem found; a record with several has only that one.
    public let kind: Kind
    /// Where in the body; of a duplicate key, that of the second one.
    public let byteOffset: Int

    private init(kind: Kind, byteOffset: Int) {
        self.kind = kind
        self.byteOffset = byteOffset
    }

    /// The same problem, of a record that starts so far from where it was read.
    package func moved(by distance: Int) -> JSONRecordProblem { JSONRecordProblem(kind: kind, byteOffset: byteOffset + distance) }

    init?(_ view: UnsafePointer<csj_view>) {
        byteOffset = Int(view.pointee.problem_offset)
        let limit = Int(clamping: view.pointee.problem_limit)
        switch Int(view.pointee.problem) {
        case CSJ_PROBLEM_NONE: return nil
        case CSJ_PROBLEM_DUPLICATE_KEY: kind = .duplicateKey
        case CSJ_PROBLEM_LONE_SURROGATE: kind = .loneSurrogate
        case CSJ_PROBLEM_NUL: kind = .nulInText
        case CSJ_PROBLEM_NUMBER_OVERFLOW: kind = .numberOverflow
        case CSJ_PROBLEM_BIG_INTEGER: kind = .bigInteger
        case CSJ_PROBLEM_NUMBER_DIGITS: kind = .limit(JSONLimit(.maxNumberDigits, limit))
        case CSJ_PROBLEM_STRING_LENGTH: kind = .limit(JSONLimit(.maxString, limit))
        case CSJ_PROBLEM_KEY_LENGTH: kind = .limit(JSONLimit(.maxKey, limit))
        case CSJ_PROBLEM_CELLS: kind = .limit(JSONLimit(.maxCells, limit))
        default: kind = .notAnObject
        }
    }
}

extension JSONRecordProblem: CustomStringConvertible {
    /// What and where, without anything of the record's content.
    public var description: String { "\(reason), at byte \(byteOffset)" }

    /// The same without where.
    package var reason: String {
        switch kind {
        case .duplicateKey: "a key appears twice in one object"
        case .loneSurrogate: "half a surrogate pair in a string"
        case .nulInText: "U+0000 in a string"
        case .numberOverflow: "a number beyond the largest double"
        case .bigInteger: "an integer beyond 64 bits"
        case .notAnObject: "a record that is not an object"
        case .limit(let limit): "\(limit.subject) over the limit \(limit)"
        }
    }
}
