import Testing

extension ExitTest.Result? {
    /// Expects that the program was stopped with a sentence that holds these words: another crash, or an error thrown on the way, is not the
    /// trap that is tested. An exit test must observe the standard error.
    func trap(says words: String, sourceLocation: SourceLocation = #_sourceLocation) {
        let text = String(decoding: self?.standardErrorContent ?? [], as: UTF8.self)
        // The runtime's own words before those of whoever stopped the program; what was thrown out of the test's body has none.
        let last = text.split(separator: "\n").first { $0.contains("Fatal error: ") }.map(String.init) ?? "no trap: \(text)"
        #expect(last.contains(words), sourceLocation: sourceLocation)
    }
}
