import Foundation

extension Error {
    /// What went wrong, in a sentence for people. The store's errors, which are `CocoaError`s and `NSError`s, describe themselves for programmers
    /// otherwise.
    package var inWords: String {
        if let error = self as? CocoaError { return error.localizedDescription }
        return type(of: self) is NSError.Type ? (self as NSError).localizedDescription : "\(self)"
    }
}
