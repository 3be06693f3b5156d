import SyncConfiguration

/// What an answer is taken for, whatever its status says.
struct AnswerVerdict: Sendable, Hashable {
    /// What it is taken for.
    let meaning: AnswerCondition.Meaning
    /// It is one of GraphQL that holds errors: nothing was configured.
    var isGraphQL = false
    /// What its body says is the matter, as it came; nil: nothing does.
    var message: String?

    /// The class of the failure that it is.
    var failure: FetchError.Kind { isGraphQL ? .answerErrors : .answer(meaning) }

    /// How much is shown of what an answer says.
    private static let longestMessage = 300

    /// The message as it may be shown: with secrets masked, before anything is cut off.
    func words(_ redactor: Redactor) -> String {
        message.map { RemoteText.line(redactor.redact($0), limit: Self.longestMessage) } ?? ""
    }
}
