import Foundation

extension Error {
    /// What went wrong, in a sentence for people. Foundation's errors, the store's among them, describe themselves for programmers otherwise.
    package var inWords: String {
        // An error that came as `any Error`, by way of a continuation for one, is still in its box here: `type(of: self)` would be the box's.
        let speaksForPeople = self is any CustomNSError || self is any LocalizedError || type(of: self as any Error) is NSError.Type
        // What a server sent may stand in it.
        return RemoteText.line(speaksForPeople ? localizedDescription : "\(self)")
    }
}
