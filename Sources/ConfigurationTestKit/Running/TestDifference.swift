/// Something that is not as a test says.
package struct TestDifference: Sendable, Hashable, Encodable, CustomStringConvertible {
    /// Where it is said: `FILE:LINE`.
    package let place: String
    /// What is different, in words.
    package let subject: String
    /// As the test says it; nil: it says nothing that could be set against what came.
    package let wanted: String?
    /// As it came.
    package let got: String?
    /// Lines that may be put into the file of tests.
    package let block: String?

    /// A difference from its parts.
    package init(_ place: String, _ subject: String, wanted: String? = nil, got: String? = nil, block: String? = nil) {
        self.place = place
        self.subject = subject
        self.wanted = wanted
        self.got = got
        self.block = block
    }

    /// One line: `cisternd.test.toml:12: Issue with number = 1: title: wanted "a", got "b"`. The block is not in it.
    package var description: String {
        var text = "\(place): \(subject)"
        if let wanted { text += ": wanted \(wanted)" }
        if let got { text += (wanted == nil ? ": " : ", ") + "got \(got)" }
        return text
    }
}
