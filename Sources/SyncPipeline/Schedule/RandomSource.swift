/// Where jitter comes from: a function that returns a number in `0 ..< 1`. Tests hand in a constant or a seeded sequence.
public struct RandomSource: Sendable {
    private let draw: @Sendable () -> Double

    /// A source that calls `draw` for each number. Values outside `0 ..< 1` are clamped.
    public init(_ draw: @escaping @Sendable () -> Double) {
        self.draw = draw
    }

    /// The system's generator.
    public static let system = RandomSource { Double.random(in: 0..<1) }

    /// The next number, in `0 ..< 1`.
    public func next() -> Double {
        let value = draw()
        return value.isNaN ? 0 : min(max(value, 0), 1.0.nextDown)
    }
}
