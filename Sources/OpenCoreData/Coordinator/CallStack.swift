import Runtime

/// Where a thread was: taken in microseconds, put into words, which takes milliseconds, only for who reads it.
public struct CallStack: Sendable, CustomStringConvertible {
    private let backtrace: Backtrace

    /// What is loaded, looked up once. What is loaded later has no names.
    private static let images = ImageMap.capture()

    /// Where the caller is. Nil where this can't be found out.
    static func here() -> CallStack? {
        // Whoever could not be told where he is can still be told the rest.
        guard let backtrace = try? Backtrace.capture(limit: 32, images: images) else { return nil }
        return CallStack(backtrace: backtrace)
    }

    /// The functions, innermost first, with file and line where they are known. Those by which the stack was taken are left out.
    public var frames: [String] {
        guard let symbolicated = backtrace.symbolicated() else { return [] }
        let names = symbolicated.frames.compactMap { frame -> String? in
            guard let symbol = frame.symbol else { return nil }
            return symbol.sourceLocation.map { "\(symbol.name) at \($0.path):\($0.line)" } ?? symbol.name
        }
        return Array(names.drop { name in Self.own.contains { name.contains($0) } })
    }

    private static let own = ["CallStack.", "WaitGraph.", "ContextQueue.", "MainQueueLoad."]

    /// A line for each frame.
    public var description: String { frames.map { "    \($0)" }.joined(separator: "\n") }
}
