import Testing

/// What the program said when it was stopped: an exit test must observe the standard error.
func lastWords(_ result: ExitTest.Result?) -> String {
    let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    // The runtime's own words before those of whoever stopped the program; what was thrown out of the test's body has none.
    return text.split(separator: "\n").first { $0.contains("Fatal error: ") }.map(String.init) ?? "no trap: \(text)"
}

extension ExitTest.Result? {
    /// Expects that the program was stopped with a sentence that holds these words: another crash, or an error thrown on the way, is not the
    /// trap that is tested.
    func trap(says words: String, sourceLocation: SourceLocation = #_sourceLocation) {
        #expect(lastWords(self).contains(words), sourceLocation: sourceLocation)
    }
}
