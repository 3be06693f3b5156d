/// What an expression comes to, as far as that is known before a run.
indirect enum Term: Hashable {
    case none
    case bool(Bool)
    case integer(Int)
    case number(Double)
    case text(String)
    case list([Term])
    case mapping([String: Term])
    /// What only a run knows.
    case reference(Reference)
    /// A secret that the user has, by its path in the connector's configuration.
    case secret([String])
    /// The time of a run.
    case moment(Moment)
    /// A length of time in seconds.
    case span(Int)
    /// Texts and others, one after the other.
    case pieces([Term])

    /// What a run comes upon.
    struct Reference: Hashable {
        enum Root: Hashable {
            case response, headers, record, lastRecord, lastRecords
            /// The beginning and the end of what an increment asks for.
            case since, until
            case interval, slice
            case partition, extraField, parentSlice
            case nextPageToken, lastPageSize, lastPageToken
            case configuration
        }

        /// A key, or an index; a negative one counts from the end.
        enum Step: Hashable {
            case key(String)
            case index(Int)
        }

        var root: Root
        var steps: [Step] = []
        /// How a time is written; nil: as the increment writes it.
        var format: String?

        init(_ root: Root, _ steps: [Step] = []) {
            self.root = root
            self.steps = steps
        }
    }

    /// A time that moves with the run.
    struct Moment: Hashable {
        /// Midnight is meant, and not the moment itself.
        var isDay = false
        /// In seconds.
        var offset = 0
        /// How it is written; nil: nobody said it.
        var format: String?
    }

    /// The value of a manifest as it stands there, texts not looked into.
    init(_ value: ManifestValue) {
        switch value.content {
        case .null: self = .none
        case .bool(let flag): self = .bool(flag)
        case .integer(let number): self = .integer(number)
        case .number(let number): self = .number(number)
        case .text(let text): self = .text(text)
        case .list(let elements): self = .list(elements.map { Term($0) })
        case .mapping(let mapping):
            self = .mapping(Dictionary(mapping.entries.map { ($0.key, Term($0.value)) }) { $1 })
        }
    }

    /// Whether Python takes it for true; nil: that is not known before a run.
    var truth: Bool? {
        switch self {
        case .none: false
        case .bool(let flag): flag
        case .integer(let value): value != 0
        case .number(let value): value != 0
        case .text(let text): !text.isEmpty
        case .list(let elements): !elements.isEmpty
        case .mapping(let members): !members.isEmpty
        case .secret, .moment, .span: true
        case .reference(let reference): reference.isAlwaysThere ? true : nil
        case .pieces(let pieces): pieces.contains { $0.truth == true } ? true : nil
        }
    }

    /// A constant as a text, as Python writes it; nil: it is none, or a list or mapping.
    var constantText: String? {
        switch self {
        case .none: ""
        case .bool(let flag): flag ? "True" : "False"
        case .integer(let value): "\(value)"
        case .number(let value): "\(value)"
        case .text(let text): text
        case .list, .mapping, .reference, .secret, .moment, .span, .pieces: nil
        }
    }

    var isConstant: Bool {
        switch self {
        case .none, .bool, .integer, .number, .text: true
        case .list(let elements): elements.allSatisfy(\.isConstant)
        case .mapping(let members): members.values.allSatisfy(\.isConstant)
        case .reference, .secret, .moment, .span, .pieces: false
        }
    }

    /// Terms one after the other, as one text.
    static func joined(_ terms: [Term]) -> Term {
        var pieces: [Term] = []
        for term in terms {
            let parts: [Term] = if case .pieces(let inner) = term { inner } else { [term] }
            for part in parts {
                guard let text = part.constantText else {
                    pieces.append(part)
                    continue
                }
                if text.isEmpty { continue }
                if case .text(let before)? = pieces.last {
                    pieces[pieces.count - 1] = .text(before + text)
                } else {
                    pieces.append(.text(text))
                }
            }
        }
        if pieces.isEmpty { return .text("") }
        return pieces.count == 1 && pieces[0].constantText != nil ? pieces[0] : .pieces(pieces)
    }
}

extension Term.Reference {
    /// Whether it has a value in every run.
    var isAlwaysThere: Bool {
        switch root {
        case .since, .until, .interval, .slice, .partition: true
        case .response, .headers, .record, .lastRecord, .lastRecords, .extraField, .parentSlice, .nextPageToken, .lastPageSize, .lastPageToken,
            .configuration:
            false
        }
    }

    /// The names that lead on from the root; nil: an index is among them.
    var keys: [String]? {
        var keys: [String] = []
        for step in steps {
            guard case .key(let key) = step else { return nil }
            keys.append(key)
        }
        return keys
    }
}
