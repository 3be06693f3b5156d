import Foundation
import ModelFiles

/// Attributes of a model's file, with their values in the types that they have.
struct ModelAttributes {
    private let path: String
    private let composites: [String: ModelFile.Composite]

    /// Throws for two composite types of one name.
    init(_ file: ModelFile) throws(ModelFileError) {
        path = file.path
        var composites: [String: ModelFile.Composite] = [:]
        for composite in file.composites {
            if composites.updateValue(composite, forKey: composite.name) != nil {
                throw ModelFileError(
                    path: path, line: composite.line, "two composite types are named \(composite.name)", suggestion: "rename one of them")
            }
        }
        self.composites = composites
    }

    func attribute(_ attribute: ModelFile.Attribute, of entity: String) throws(ModelFileError) -> NSAttributeDescription {
        try self.attribute(attribute, of: entity, within: [])
    }

    /// - Parameter outer: the composite types that it is an element of.
    private func attribute(
        _ attribute: ModelFile.Attribute, of entity: String, within outer: [String]
    ) throws(ModelFileError) -> NSAttributeDescription {
        let what = "\(entity).\(attribute.property.name)"
        let made = try description(attribute, what, within: outer)
        attribute.property.describe(made)
        made.attributeType = attribute.type.map(Self.type) ?? .undefinedAttributeType
        made.valueTransformerName = attribute.transformer
        made.attributeValueClassName = attribute.valueClass
        made.allowsExternalBinaryDataStorage = attribute.allowsExternalStorage
        made.preservesValueInHistoryOnDeletion = attribute.preservesAfterDeletion
        made.regularExpression = attribute.regularExpression
        func bad(_ key: String, _ text: String, _ suggestion: String) -> ModelFileError {
            ModelFileError(path: path, line: attribute.property.line, "\(what) has the \(key) \"\(text)\"", suggestion: suggestion)
        }
        // An emptied field of the editor stays as an empty string; only of text is that a value.
        if let text = attribute.defaultValue, let type = attribute.type, !text.isEmpty || type == .string {
            guard let value = Self.value(text, type) else { throw bad("default value", text, Self.expected(type)) }
            made.defaultValue = value
        }
        for (text, isMinimum) in [(attribute.minimum, true), (attribute.maximum, false)] {
            guard let text, !text.isEmpty else { continue }
            guard Self.bound(made, text, isMinimum) else { throw bad(isMinimum ? "minimum" : "maximum", text, "a number") }
        }
        return made
    }

    private func description(
        _ attribute: ModelFile.Attribute, _ what: String, within outer: [String]
    ) throws(ModelFileError) -> NSAttributeDescription {
        if attribute.type == .composite { return try composed(attribute, what, within: outer) }
        guard let derivation = attribute.derivation else { return NSAttributeDescription() }
        let made = NSDerivedAttributeDescription()
        do throws(PredicateFormatError) {
            made.derivationExpression = try NSExpression.parse(derivation)
        } catch {
            throw ModelFileError(path: path, line: attribute.property.line, "\(what) has no derivation: \(error)")
        }
        return made
    }

    private func composed(
        _ attribute: ModelFile.Attribute, _ what: String, within outer: [String]
    ) throws(ModelFileError) -> NSCompositeAttributeDescription {
        func fail(_ text: String, _ suggestion: String) -> ModelFileError {
            ModelFileError(path: path, line: attribute.property.line, text, suggestion: suggestion)
        }
        let known = composites.keys.sorted().joined(separator: ", ")
        guard let name = attribute.composite, !name.isEmpty else { throw fail("\(what) is composite and names no composite type", "composite=\"…\"") }
        guard let type = composites[name] else {
            throw fail("\(what) is of the composite type \(name), which the model does not have", known.isEmpty ? "add it" : "choose one of \(known)")
        }
        if outer.contains(name) { throw fail("the composite type \(name) contains itself", "remove \(what)") }
        let made = NSCompositeAttributeDescription()
        var elements: [NSAttributeDescription] = []
        for element in type.elements { elements.append(try self.attribute(element, of: name, within: outer + [name])) }
        made.elements = elements
        if let complaint = made.complaintAboutElements() {
            throw ModelFileError(
                path: path, line: type.line, "the composite type \(name) \(complaint)", suggestion: "correct it in Xcode's model editor")
        }
        return made
    }

    private static func type(_ type: ModelFile.AttributeType) -> NSAttributeType {
        switch type {
        case .integer16: .integer16AttributeType
        case .integer32: .integer32AttributeType
        case .integer64: .integer64AttributeType
        case .decimal: .decimalAttributeType
        case .double: .doubleAttributeType
        case .float: .floatAttributeType
        case .string: .stringAttributeType
        case .boolean: .booleanAttributeType
        case .date: .dateAttributeType
        case .binary: .binaryDataAttributeType
        case .uuid: .UUIDAttributeType
        case .uri: .URIAttributeType
        case .transformable: .transformableAttributeType
        case .objectID: .objectIDAttributeType
        case .composite: .compositeAttributeType
        }
    }

    /// Nil if the text is no value of the type.
    private static func value(_ text: String, _ type: ModelFile.AttributeType) -> Any? {
        switch type {
        case .integer16: integer(text).flatMap(Int16.init(exactly:))
        case .integer32: integer(text).flatMap(Int32.init(exactly:))
        case .integer64: integer(text)
        case .decimal: decimal(text)
        case .double: Double(text).flatMap { $0.isNaN ? nil : $0 }
        case .float: Float(text).flatMap { $0.isNaN ? nil : $0 }
        case .string: text
        case .boolean: ModelFile.truth(text)
        case .date: Double(text).flatMap { $0.isFinite ? Date(timeIntervalSinceReferenceDate: $0) : nil }
        case .uuid: UUID(uuidString: text)
        case .uri: URL(string: text)
        case .binary, .transformable, .objectID, .composite: nil
        }
    }

    private static func expected(_ type: ModelFile.AttributeType) -> String {
        switch type {
        case .integer16, .integer32, .integer64: "a whole number that the type \(type.rawValue) can hold"
        case .decimal, .double, .float: "a number"
        case .boolean: "YES or NO"
        case .date: "a number, the seconds since 2001"
        case .uuid: "a UUID"
        case .uri: "a URL"
        case .string: "a text"
        case .binary, .transformable, .objectID, .composite: "the type \(type.rawValue) has no default value; remove it"
        }
    }

    /// `0.0` is one too: the editor lets the text stand when the type is changed.
    private static func integer(_ text: String) -> Int64? {
        if let value = Int64(text) { return value }
        return decimal(text).flatMap { number in
            let value = (number as NSDecimalNumber).int64Value
            return Decimal(value) == number ? value : nil
        }
    }

    private static func decimal(_ text: String) -> Decimal? {
        // Foundation's reading stops where a number ends and takes what comes before.
        guard Double(text)?.isFinite == true, !text.lowercased().contains("0x") else { return nil }
        return Decimal(string: text, locale: Locale(identifier: "en_US_POSIX"))
    }

    /// False if the text is no number.
    private static func bound(_ made: NSAttributeDescription, _ text: String, _ isMinimum: Bool) -> Bool {
        guard let number = Double(text), number.isFinite else { return false }
        // Doubles don't hold every one of these.
        let isExact = made.attributeType == .decimalAttributeType || made.attributeType == .integer64AttributeType
        if isExact, Int32(exactly: number) == nil {
            guard let exact = decimal(text) else { return false }
            if isMinimum { made.minimumDecimal = exact } else { made.maximumDecimal = exact }
        } else {
            if isMinimum { made.minimumValue = number } else { made.maximumValue = number }
        }
        return true
    }
}
