/// How a manifest says that a stream asks for what has changed.
struct DeclaredCursor: Sendable {
    /// The field of the records.
    var field: String
    /// How requests write times.
    var request: TimePattern
    /// How records do.
    var record: TimePattern
    var since: RequestPlace?
    var until: RequestPlace?
    /// The longest range of one request, in milliseconds.
    var step: Int?
    /// The newest first.
    var isFeed: Bool

    /// - Throws: `TemplateParser.Failure`.
    init?(_ declared: DataValue?, _ scope: TemplateScope) throws {
        guard let declared, !declared.isNull else { return nil }
        guard declared["type"]?.text == "DatetimeBasedCursor" else {
            throw TemplateParser.Failure(description: "changes by \(declared["type"]?.shown ?? "nothing")")
        }
        field = try TemplateText(declared["cursor_field"]?.shown ?? "").text(in: scope)
        let format = declared["datetime_format"]?.text ?? "%Y-%m-%dT%H:%M:%S.%fZ"
        request = TimePattern(source: format)
        record = TimePattern(source: declared["cursor_datetime_formats"]?.list?.first?.text ?? format)
        since = RequestPlace(declared["start_time_option"])
        until = RequestPlace(declared["end_time_option"])
        isFeed = declared["is_data_feed"]?.bool ?? false
        if let text = declared["step"]?.text { step = try Self.milliseconds(text) }
    }

    /// A duration as ISO 8601 writes it; months have 31 days, years 366.
    static func milliseconds(_ text: String) throws -> Int {
        var total = 0, digits = "", isTime = false
        for character in text.dropFirst() {
            if character == "T" {
                isTime = true
            } else if character.isNumber || character == "." {
                digits.append(character)
            } else {
                guard let number = Double(digits) else { throw TemplateParser.Failure(description: "\(text) is no duration") }
                let seconds: Double
                switch character {
                case "Y": seconds = 366 * 86_400
                case "M": seconds = isTime ? 60 : 31 * 86_400
                case "W": seconds = 7 * 86_400
                case "D": seconds = 86_400
                case "H": seconds = 3600
                default: seconds = 1
                }
                total += Int(number * seconds * 1000)
                digits = ""
            }
        }
        return total
    }
}
