import Foundation

/// What people read in place of names: what the model's `localizationDictionary` says, or the names themselves.
extension NSEntityDescription {
    private var words: [String: String] { managedObjectModel?.localizationDictionary ?? [:] }

    var wordForPeople: String { words["Entity/\(name ?? "")"] ?? name ?? "?" }

    /// - Parameter property: the name of a property, which may be inherited.
    func wordForPeople(of property: String) -> String {
        let words = self.words
        if words.isEmpty { return property }
        var entity: NSEntityDescription? = self
        while let current = entity {
            if let word = words["Property/\(property)/Entity/\(current.name ?? "")"] { return word }
            entity = current.superentity
        }
        return words["Property/\(property)"] ?? property
    }

    /// - Parameter text: what is wrong, or a warning of the model.
    func wordsForPeople(error text: String) -> String { words["ErrorString/\(text)"] ?? text }
}
