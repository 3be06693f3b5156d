/// Spans of time as a person says them: `42s`, `4min`, `3h`, `2d`. Two digits are enough in a line of status.
public enum RelativeTime {
    public static func text(_ seconds: Double) -> String {
        let seconds = max(0, seconds)
        if seconds < 90 { return "\(Int(seconds.rounded()))s" }
        if seconds < 90 * 60 { return "\(Int((seconds / 60).rounded()))min" }
        if seconds < 36 * 3600 { return "\(Int((seconds / 3600).rounded()))h" }
        return "\(Int((min(seconds, 1e12) / 86400).rounded()))d"
    }

    public static func text(_ duration: Duration) -> String {
        let (seconds, attoseconds) = duration.components
        return text(Double(seconds) + Double(attoseconds) / 1e18)
    }
}
