import Foundation

extension Error {
    /// What went wrong, in a sentence for people. Foundation's errors, the store's among them, describe themselves for programmers otherwise.
    package var inWords: String {
        let speaksForPeople = self is any CustomNSError || self is any LocalizedError || type(of: self) is NSError.Type
        // What a server sent may stand in it.
        return RemoteText.line(speaksForPeople ? localizedDescription : "\(self)")
    }
}
