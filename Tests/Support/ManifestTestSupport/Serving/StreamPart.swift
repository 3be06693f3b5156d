/// One record of a stream, without its fields: these are made of it when they are wanted.
struct StreamItem: Sendable, Hashable {
    /// Unique in its stream, counted from 1.
    let serial: Int
    /// Unique in its part, counted from 1.
    let number: Int
    /// How often it was changed.
    var revision = 0
    /// When it was changed last, in milliseconds since 1970.
    var time: Int
}

/// What a stream is divided into: a list of its own, with requests of its own.
struct StreamPart: Sendable {
    /// What templates know as `stream_partition`.
    var value = DataValue.object([])
    /// What templates know as `stream_slice.extra_fields`.
    var extra = DataValue.object([])
    /// What goes into requests besides templates.
    var options: [Option] = []
    /// The records that it is about, by their streams; nil where they do not belong together, and the part has nothing.
    var origins: [String: Int]? = [:]
    var items: [StreamItem] = []
    /// The values and the records that it is about, in order.
    var subjects: [String] = []

    struct Option: Sendable, Hashable {
        let place: RequestPlace
        let text: String
    }

    /// What tells it from the others, whatever becomes of the records that it is about.
    var identity: String { subjects.joined(separator: " ") }

    /// Both at once.
    func product(_ other: StreamPart) -> StreamPart {
        var result = self
        result.value = Self.merged(value, other.value)
        result.extra = Self.merged(extra, other.extra)
        result.options += other.options
        result.subjects += other.subjects
        var origins = self.origins
        for (stream, serial) in other.origins ?? [:] {
            if let known = origins?[stream], known != serial { origins = nil }
            origins?[stream] = serial
        }
        if other.origins == nil { origins = nil }
        result.origins = origins
        return result
    }

    /// The members of both; of two with one name the first, and of two objects the members of both.
    private static func merged(_ one: DataValue, _ two: DataValue) -> DataValue {
        var result = one
        for member in two.members ?? [] {
            if let known = one[member.name] {
                if known.members != nil { result.set(merged(known, member.value), at: [member.name]) }
            } else {
                result.set(member.value, at: [member.name])
            }
        }
        return result
    }
}
