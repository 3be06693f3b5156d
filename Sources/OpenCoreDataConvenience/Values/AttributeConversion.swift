import CoreData
import Foundation

/// What a given value becomes in an attribute. Text says numbers, truth, dates, identifiers and bytes; a number may become text. Nothing becomes
/// less than it was: a number that does not fit, or loses a fraction, is refused. Only where binary numbers are wanted, one with a fraction becomes the
/// nearest of them.
struct AttributeConversion {
    let attribute: NSAttributeDescription
    private let dates: DateReader

    init(_ attribute: NSAttributeDescription) {
        self.attribute = attribute
        dates = DateReader(attribute)
    }

    /// Why a value can't be one of the attribute.
    struct Refusal: Error {
        let problem: String
        let remedy: String
    }

    /// The value of the attribute's own type; nil for null.
    ///
    /// - Throws: `RecordError`, with the place if the value has one.
    func value(_ given: Any, of entity: NSEntityDescription, at place: InputPlace? = nil) throws(RecordError) -> Any? {
        if given is NSNull { return nil }
        do {
            return try converted(given)
        } catch {
            throw RecordError(
                entity: entity.name ?? "?", property: attribute.name, place: place, value: given, problem: error.problem, remedy: error.remedy)
        }
    }

    private func converted(_ given: Any) throws(Refusal) -> Any {
        switch attribute.attributeType {
        case .integer16AttributeType: NSNumber(value: try integer(given, in: Int64(Int16.min)...Int64(Int16.max), bits: 16))
        case .integer32AttributeType: NSNumber(value: try integer(given, in: Int64(Int32.min)...Int64(Int32.max), bits: 32))
        case .integer64AttributeType: NSNumber(value: try integer(given, in: Int64.min...Int64.max, bits: 64))
        case .decimalAttributeType: NSDecimalNumber(decimal: try decimal(given))
        case .doubleAttributeType: NSNumber(value: try double(given))
        case .floatAttributeType: NSNumber(value: try float(given))
        case .booleanAttributeType: NSNumber(value: try truth(given))
        case .stringAttributeType: try text(given)
        case .dateAttributeType: try date(given)
        case .binaryDataAttributeType: try data(given)
        case .UUIDAttributeType: try uuid(given)
        case .URIAttributeType: try url(given)
        case .compositeAttributeType: try elements(given)
        default: try object(given)
        }
    }

    /// What an object says of the elements of a composite; what is none of them is left out, as in records.
    private func elements(_ given: Any) throws(Refusal) -> [String: Any] {
        let elements = (attribute as? NSCompositeAttributeDescription)?.elements ?? []
        guard let object = given as? [String: Any] else {
            throw Refusal(problem: "is no object", remedy: "give an object with \(elements.map(\.name).joined(separator: ", ")), or null")
        }
        var result: [String: Any] = [:]
        for element in elements {
            guard let value = object[element.name], !(value is NSNull) else { continue }
            do throws(Refusal) { result[element.name] = try AttributeConversion(element).converted(value) } catch {
                throw Refusal(problem: "has \(element.name), which \(error.problem)", remedy: error.remedy)
            }
        }
        return result
    }

    // MARK: Numbers

    private func number(_ given: Any) throws(Refusal) -> Number {
        guard let number = Number(given) ?? (given as? String).flatMap(Number.init(text:)) else {
            throw Refusal(problem: "is no number", remedy: "give a number, or text that is one")
        }
        return number
    }

    /// A number that is kept to the last digit. One that was read by somebody else, and has as many digits as he can keep, may have had more.
    private func exactNumber(_ given: Any) throws(Refusal) -> Number {
        let number = try number(given)
        if type(of: given) != Decimal.self, number.mayBeCutOff {
            throw Refusal(problem: "has more digits than a number can be relied on to keep (38)", remedy: "give it as text, in an attribute of text")
        }
        return number
    }

    private func integer(_ given: Any, in range: ClosedRange<Int64>, bits: Int) throws(Refusal) -> Int64 {
        let number = try number(given)
        guard let integer = number.integer else {
            let isLarge = number.decimal.map { $0.magnitude >= Decimal(Int64.max) } ?? true
            throw Refusal(
                problem: isLarge ? "does not fit an integer of \(bits) bits" : "has a fraction, which an integer loses",
                remedy: isLarge ? "make the attribute a decimal" : "make the attribute a double or a decimal, or give a whole number")
        }
        guard range.contains(integer) else {
            throw Refusal(problem: "does not fit an integer of \(bits) bits", remedy: "make the attribute a larger integer")
        }
        return integer
    }

    private func decimal(_ given: Any) throws(Refusal) -> Decimal {
        guard let decimal = try exactNumber(given).decimal else {
            throw Refusal(problem: "does not fit a decimal number", remedy: "make the attribute a double, or give a finite number or null")
        }
        return decimal
    }

    private func double(_ given: Any) throws(Refusal) -> Double {
        guard let double = try number(given).double else {
            throw Refusal(
                problem: "is not kept exactly by a double, or is not finite", remedy: "make the attribute a decimal or an integer, or give null")
        }
        return double
    }

    private func float(_ given: Any) throws(Refusal) -> Float {
        let double = try double(given)
        let float = Float(double)
        guard float.isFinite, double.rounded() != double || Double(float) == double else {
            throw Refusal(problem: "is not kept exactly by a float", remedy: "make the attribute a double")
        }
        return float
    }

    private func truth(_ given: Any) throws(Refusal) -> Bool {
        if Number.isTruth(given), let truth = given as? Bool { return truth }
        switch Number(given) {
        case .whole(0)?: return false
        case .whole(1)?: return true
        case nil:
            switch (given as? String)?.lowercased() {
            case "true", "yes", "1": return true
            case "false", "no", "0": return false
            default: break
            }
        default: break
        }
        throw Refusal(problem: "is neither true nor false", remedy: "give true, false, 1, 0, \"yes\" or \"no\"")
    }

    // MARK: Everything else

    private func text(_ given: Any) throws(Refusal) -> String {
        if let text = given as? String { return text }
        guard !Number.isTruth(given), Number(given) != nil else { throw Refusal(problem: "is no text", remedy: "give text or a number") }
        return try exactNumber(given).text
    }

    private func date(_ given: Any) throws(Refusal) -> Date {
        if let date = given as? Date { return date }
        if let number = Number(given), let date = dates.date(number) { return date }
        if let text = given as? String, let date = dates.date(text) { return date }
        let patterns = dates.patterns.map { "\"\($0)\"" }.joined(separator: " or ")
        throw Refusal(
            problem: "is no date" + (patterns.isEmpty ? " of ISO 8601" : " in the format \(patterns)"),
            remedy: "say how it is written with dateFormat in the attribute's user info")
    }

    private func data(_ given: Any) throws(Refusal) -> Data {
        if let data = given as? Data { return data }
        if let text = given as? String, let data = Data(base64Encoded: text) { return data }
        throw Refusal(problem: "is no text in base64", remedy: "give bytes, or text in base64")
    }

    private func uuid(_ given: Any) throws(Refusal) -> UUID {
        if let uuid = given as? UUID { return uuid }
        if let text = given as? String, let uuid = UUID(uuidString: text) { return uuid }
        throw Refusal(problem: "is no UUID", remedy: "write it like \"E621E1F8-C36C-495A-93FC-0C247A3E6E5F\"")
    }

    private func url(_ given: Any) throws(Refusal) -> URL {
        if let url = given as? URL { return url }
        if let text = given as? String, let url = URL(string: text) { return url }
        throw Refusal(problem: "is no URI", remedy: "give text that is a URI")
    }

    /// Types whose values records don't have by themselves: taken if an `Importable` class has made one, or if the value is plain.
    private func object(_ given: Any) throws(Refusal) -> Any {
        if attribute.attributeType == .transformableAttributeType || attribute.attributeType == .undefinedAttributeType,
            let value = given as? AnyHashable
        {
            return value.base
        }
        throw Refusal(
            problem: "can't be a value of this attribute's type",
            remedy: "make one of it in importedValue(_:for:) of the entity's class, as Importable")
    }
}
