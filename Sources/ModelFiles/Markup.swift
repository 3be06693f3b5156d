import Foundation
import FoundationXML

/// An element of an XML file.
package struct Markup {
    package let name: String
    package let attributes: [String: String]
    /// Of the end of its opening tag.
    package let line: Int
    package var children: [Markup] = []
    /// What stands in it that is no element.
    package var text = ""

    /// The root element of a file. What is suggested where there is none fits a model.
    package init(_ data: Data, path: String) throws(ModelFileError) {
        let reader = MarkupReader()
        let parser = XMLParser(data: data)
        parser.delegate = reader
        let isWhole = parser.parse()
        guard isWhole, reader.failure == nil, let root = reader.root else {
            throw ModelFileError(
                path: path, line: reader.failure?.line, "is not well-formed XML: \(Self.words(reader.failure?.code))",
                suggestion: "open the model in Xcode and save it again, or undo the change made by hand")
        }
        self = root
    }

    fileprivate init(name: String, attributes: [String: String], line: Int) {
        self.name = name
        self.attributes = attributes
        self.line = line
    }

    /// The children of that name.
    package func all(_ name: String) -> [Markup] { children.filter { $0.name == name } }

    /// libxml2's numbers (`xmlParserErrors`) of what a hand or a merge leaves behind.
    private static func words(_ code: Int?) -> String {
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

/// Builds the tree while the parser runs. Entities of a document type that lead to other files stay out: the parser is not told to resolve any.
private final class MarkupReader: NSObject, XMLParserDelegate {
    private(set) var root: Markup?
    private(set) var failure: (code: Int, line: Int)?
    private var open: [Markup] = []

    func parser(
        _ parser: XMLParser, didStartElement name: String, namespaceURI: String?, qualifiedName: String?, attributes: [String: String]
    ) {
        open.append(Markup(name: name, attributes: attributes, line: parser.lineNumber))
    }

    func parser(_ parser: XMLParser, didEndElement name: String, namespaceURI: String?, qualifiedName: String?) {
        guard let element = open.popLast() else { return }
        if open.isEmpty {
            root = element
        } else {
            open[open.count - 1].children.append(element)
        }
    }

    func parser(_ parser: XMLParser, foundCharacters string: String) {
        if !open.isEmpty { open[open.count - 1].text += string }
    }

    func parser(_ parser: XMLParser, foundCDATA block: Data) {
        if !open.isEmpty { open[open.count - 1].text += String(decoding: block, as: UTF8.self) }
    }

    /// The first is the cause, those after it its consequences.
    func parser(_ parser: XMLParser, parseErrorOccurred error: any Error) {
        if failure == nil { failure = ((error as NSError).code, parser.lineNumber) }
    }
}
