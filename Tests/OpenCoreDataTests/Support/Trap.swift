import Testing

/// What the program said when it was stopped: an exit test must observe the standard error.
func lastWords(_ result: ExitTest.Result?) -> String {
    let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    return text.split(separator: "\n").first { $0.contains("OpenCoreData: ") }.map(String.init) ?? "no trap of ours: \(text)"
}
