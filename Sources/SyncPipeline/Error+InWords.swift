import Foundation

extension Error {
    /// What went wrong, in a sentence for people. Errors of Foundation and of the store describe themselves for programmers otherwise.
    package var inWords: String {
        if let error = self as? CocoaError { return error.localizedDescription }
        return type(of: self) is NSError.Type ? (self as NSError).localizedDescription : "\(self)"
    }
}
