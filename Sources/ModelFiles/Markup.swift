import CLibXML2
import Foundation

/// An element of an XML file.
package struct Markup {
    package let name: String
    package let attributes: [String: String]
    /// Of the end of its opening tag.
    package let line: Int
    package var children: [Markup] = []
    /// What stands in it that is no element.
    package var text = ""

    /// The root element of a file. Entities lead to no other file, and what is suggested where there is no element fits a model.
    package init(_ data: Data, path: String) throws(ModelFileError) {
        self = try MarkupReader(data, path: path).root()
    }

    fileprivate init(name: String, attributes: [String: String], line: Int) {
        self.name = name
        self.attributes = attributes
        self.line = line
    }

    /// The children of that name.
    package func all(_ name: String) -> [Markup] { children.filter { $0.name == name } }

    /// libxml2's numbers (`xmlParserErrors`) of what a hand or a merge leaves behind.
    fileprivate static func words(_ code: Int?) -> String {
        switch code {
        case nil: "it ends too early"
        case 4: "it does not begin with a tag"
        case 5: "it ends too early, or something follows its end"
        case 74, 77: "it ends too early"
        case 38: "the value of an attribute holds \"<\" or has no closing quote"
        case 39, 40: "the value of an attribute has no quotes"
        case 42: "an attribute stands twice in one tag"
        case 64: "the XML declaration does not stand at its beginning"
        case 65: "attributes are not separated by a space"
        case 68, 73: "a tag is not closed"
        case 76: "an element is closed by another's tag"
        case 81, 9: "it holds bytes that are not text in its encoding"
        case 89: "its entities refer to each other without an end"
        case let code?: "error \(code) of libxml2"
        }
    }
}

/// Builds the tree out of what libxml2 reads, node by node. Foundation's own parser on Linux ends the process at many a damaged file.
private struct MarkupReader {
    private let data: Data
    private let path: String

    init(_ data: Data, path: String) {
        self.data = data
        self.path = path
    }

    /// The first is the cause, those after it its consequences.
    private final class Failure {
        var first: (code: Int, line: Int)?
    }

    func root() throws(ModelFileError) -> Markup {
        let failure = Failure()
        let result = data.withUnsafeBytes { bytes -> Result<Markup?, ModelFileError> in
            guard let count = Int32(exactly: bytes.count), let base = bytes.baseAddress,
                let reader = xmlReaderForMemory(base.assumingMemoryBound(to: CChar.self), count, nil, nil, options)
            else { return .success(nil) }
            defer { xmlFreeTextReader(reader) }
            xmlTextReaderSetStructuredErrorHandler(
                reader,
                { context, error in
                    guard let context, let error else { return }
                    let failure = Unmanaged<Failure>.fromOpaque(context).takeUnretainedValue()
                    if failure.first == nil, error.pointee.level.rawValue >= XML_ERR_ERROR.rawValue {
                        failure.first = (Int(error.pointee.code), Int(error.pointee.line))
                    }
                }, Unmanaged.passUnretained(failure).toOpaque())
            return withExtendedLifetime(failure) { read(reader, failure) }
        }
        guard let root = try result.get(), failure.first == nil else {
            throw ModelFileError(
                path: path, line: failure.first?.line, "is not well-formed XML: \(Markup.words(failure.first?.code))",
                suggestion: "open the model in Xcode and save it again, or undo the change made by hand")
        }
        return root
    }

    /// Values of any length, and lines beyond the 65,535th. Without that libxml2 watches how far entities multiply, so where there are any it does.
    private var options: Int32 {
        let limits = data.contains(0) || data.range(of: Data("<!ENTITY".utf8)) != nil ? 0 : XML_PARSE_HUGE.rawValue
        return Int32(XML_PARSE_NONET.rawValue | XML_PARSE_BIG_LINES.rawValue | limits)
    }

    private func read(_ reader: xmlTextReaderPtr, _ failure: Failure) -> Result<Markup?, ModelFileError> {
        var open: [Markup] = [], root: Markup?
        func close() {
            guard let element = open.popLast() else { return }
            if open.isEmpty { root = element } else { open[open.count - 1].children.append(element) }
        }
        while xmlTextReaderRead(reader) == 1 {
            switch UInt32(bitPattern: xmlTextReaderNodeType(reader)) {
            case XML_READER_TYPE_ELEMENT.rawValue:
                let isEmpty = xmlTextReaderIsEmptyElement(reader) == 1, line = xmlTextReaderCurrentNode(reader).map { xmlGetLineNo($0) } ?? 0
                let name = text(xmlTextReaderConstName(reader))
                open.append(Markup(name: name, attributes: attributes(reader), line: line))
                if isEmpty { close() }
            case XML_READER_TYPE_END_ELEMENT.rawValue: close()
            case XML_READER_TYPE_TEXT.rawValue, XML_READER_TYPE_CDATA.rawValue, XML_READER_TYPE_WHITESPACE.rawValue,
                XML_READER_TYPE_SIGNIFICANT_WHITESPACE.rawValue:
                if !open.isEmpty { open[open.count - 1].text += text(xmlTextReaderConstValue(reader)) }
            case XML_READER_TYPE_ENTITY_REFERENCE.rawValue:
                return .failure(
                    ModelFileError(
                        path: path, line: open.last?.line, "refers to the entity \(text(xmlTextReaderConstName(reader))), which means nothing here",
                        suggestion: "write what it stands for"))
            default: break
            }
        }
        return .success(open.isEmpty ? root : nil)
    }

    private func attributes(_ reader: xmlTextReaderPtr) -> [String: String] {
        var result: [String: String] = [:]
        while xmlTextReaderMoveToNextAttribute(reader) == 1 {
            result[text(xmlTextReaderConstName(reader))] = text(xmlTextReaderConstValue(reader))
        }
        return result
    }

    private func text(_ bytes: UnsafePointer<xmlChar>?) -> String { bytes.map { String(cString: $0) } ?? "" }
}
