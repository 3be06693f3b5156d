/// One datagram to the service manager: assignments, one a line, and perhaps open files that travel with it.
public struct NotifyMessage: Sendable, Equatable {
    /// `NAME=VALUE` in the order in which they are sent.
    public let assignments: [Assignment]
    /// Open file descriptors that are passed along. Whoever sends the message closes them afterwards.
    public let descriptors: [Int32]

    public struct Assignment: Sendable, Equatable {
        public let name: String
        public let value: String

        /// A newline inside a value would start another assignment; line breaks and NUL therefore become spaces.
        public init(_ name: String, _ value: String) {
            self.name = name
            let oneLine = value.unicodeScalars.map { Self.breaksLine($0) ? " " : $0 }
            self.value = String(String.UnicodeScalarView(oneLine))
        }

        private static func breaksLine(_ scalar: Unicode.Scalar) -> Bool {
            scalar == "\n" || scalar == "\r" || scalar.value == 0
        }
    }

    public init(_ assignments: [Assignment], descriptors: [Int32] = []) {
        self.assignments = assignments
        self.descriptors = descriptors
    }

    /// What goes over the wire.
    public var text: String { assignments.map { "\($0.name)=\($0.value)" }.joined(separator: "\n") }

    /// The value of the first assignment of that name.
    public subscript(name: String) -> String? { assignments.first { $0.name == name }?.value }
}
