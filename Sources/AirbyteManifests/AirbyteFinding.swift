/// Something of a manifest that the configuration does not say, or not in the same way.
package struct AirbyteFinding: Sendable, Hashable, Codable, CustomStringConvertible {
    /// Whether the stream, or the whole part that is named, is not in the configuration because of it.
    package var isLeftOut: Bool
    /// The line of the manifest, counted from 1.
    package var line: Int
    /// The stream that it is about; nil: the manifest as a whole.
    package var stream: String?
    /// The component and the field: `paginator.cursor_value`.
    package var key: String
    /// What the manifest says there, shortened.
    package var says: String
    /// Why it cannot be carried over, or what is otherwise.
    package var reason: String

    /// One line without the file: `12: stream "items": paginator.cursor_value: {{ … }}: …`
    package var description: String { "\(line): \(text)" }

    /// The same without the line.
    package var text: String {
        [stream.map { "stream \"\($0)\"" }, key.isEmpty ? nil : key, says.isEmpty ? nil : says, reason].compactMap { $0 }.joined(separator: ": ")
    }
}

/// The findings about one stream, while it is converted.
final class StreamFindings {
    let stream: String?
    let line: Int
    private(set) var all: [AirbyteFinding] = []

    init(stream: String?, line: Int) {
        self.stream = stream
        self.line = line
    }

    /// Whether the stream has to be left out.
    var isRefused: Bool { all.contains(where: \.isLeftOut) }

    /// What would change data or requests if it were dropped.
    func refuse(_ key: String, _ value: ManifestValue?, line: Int? = nil, _ reason: String) {
        add(key, value, line: line, reason, isLeftOut: true)
    }

    /// What makes requests less polite or more of them, and nothing else.
    func remark(_ key: String, _ value: ManifestValue?, line: Int? = nil, _ reason: String) {
        add(key, value, line: line, reason, isLeftOut: false)
    }

    /// Does something with a part of the manifest; what is thrown is a refusal of that part, unless it only follows from another one.
    ///
    /// - Returns: nil where it was refused.
    func refusing<Result>(_ key: String, _ value: ManifestValue? = nil, line: Int? = nil, _ body: () throws -> Result) -> Result? {
        do {
            return try body()
        } catch let error as Unsayable where error.isConsequence && isRefused {
            return nil
        } catch let error as Unsayable {
            refuse(key, value, line: line, error.reason)
        } catch let error as ManifestError {
            refuse(key, value, line: error.line ?? line, error.message)
        } catch {
            refuse(key, value, line: line, "\(error)")
        }
        return nil
    }

    private func add(_ key: String, _ value: ManifestValue?, line: Int?, _ reason: String, isLeftOut: Bool) {
        let finding = AirbyteFinding(
            isLeftOut: isLeftOut, line: line ?? value?.line ?? self.line, stream: stream, key: key, says: value?.brief ?? "", reason: reason)
        if !all.contains(finding) { all.append(finding) }
    }
}
