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
        case 26, 27: "it refers to an entity that nobody declared"
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

/// Builds the tree out of what libxml2 has read. Foundation's own parser on Linux ends the process at many a damaged file.
///
/// No entity may be declared: none leads to another file, and none multiplies.
private struct MarkupReader {
    private let data: Data
    private let path: String
    /// Elements in elements: nothing that we read needs a tenth of it.
    private static let greatestDepth = 256

    init(_ data: Data, path: String) {
        self.data = data
        self.path = path
    }

    /// The first is the cause, those after it its consequences.
    private final class Failure {
        var first: (code: Int, line: Int)?
        var declaresEntity: Int?
    }

    func root() throws(ModelFileError) -> Markup {
        guard let count = Int32(exactly: data.count) else {
            throw ModelFileError(path: path, "is \(data.count) bytes long; files of XML of 2 GiB and more are not read")
        }
        let failure = Failure()
        let result = data.withUnsafeBytes { bytes -> Result<Markup?, ModelFileError> in
            guard let base = bytes.baseAddress, count > 0, let context = xmlNewParserCtxt() else { return .success(nil) }
            defer { xmlFreeParserCtxt(context) }
            context.pointee._private = Unmanaged.passUnretained(failure).toOpaque()
            context.pointee.sax.pointee.serror = { Self.note($0, $1) }
            context.pointee.sax.pointee.entityDecl = { context, _, _, _, _, _ in Self.refuseEntity(context) }
            let options = XML_PARSE_NONET.rawValue | XML_PARSE_BIG_LINES.rawValue | XML_PARSE_HUGE.rawValue
            let document = xmlCtxtReadMemory(context, base.assumingMemoryBound(to: CChar.self), count, nil, nil, Int32(options))
            defer { xmlFreeDoc(document ?? context.pointee.myDoc) }
            return withExtendedLifetime(failure) {
                guard failure.first == nil, failure.declaresEntity == nil, let root = xmlDocGetRootElement(document) else { return .success(nil) }
                return tree(root)
            }
        }
        if let line = failure.declaresEntity {
            throw ModelFileError(
                path: path, line: line, "declares an entity of its own, which means nothing here", suggestion: "write what it stands for")
        }
        guard let root = try result.get() else {
            throw ModelFileError(
                path: path, line: failure.first?.line, "is not well-formed XML: \(Markup.words(failure.first?.code))",
                suggestion: "open the model in Xcode and save it again, or undo the change made by hand")
        }
        return root
    }

    private static func failure(_ context: UnsafeMutableRawPointer?) -> Failure? {
        let parser = context?.assumingMemoryBound(to: xmlParserCtxt.self)
        return parser?.pointee._private.map { Unmanaged<Failure>.fromOpaque($0).takeUnretainedValue() }
    }

    /// Prefixes without a namespace are no fault of the text.
    private static func note(_ context: UnsafeMutableRawPointer?, _ error: UnsafeMutablePointer<xmlError>?) {
        guard let error = error?.pointee, let failure = failure(context), failure.first == nil, error.level.rawValue >= XML_ERR_ERROR.rawValue,
            UInt32(bitPattern: error.domain) != XML_FROM_NAMESPACE.rawValue
        else { return }
        failure.first = (Int(error.code), Int(error.line))
    }

    private static func refuseEntity(_ context: UnsafeMutableRawPointer?) {
        guard let failure = failure(context), let parser = context?.assumingMemoryBound(to: xmlParserCtxt.self) else { return }
        failure.declaresEntity = failure.declaresEntity ?? Int(xmlSAX2GetLineNumber(context))
        xmlStopParser(parser)
    }

    // MARK: The tree

    private func tree(_ root: xmlNodePtr) -> Result<Markup?, ModelFileError> {
        var open: [Markup] = [], node = root
        while true {
            switch node.pointee.type {
            case XML_ELEMENT_NODE:
                guard open.count < Self.greatestDepth else {
                    return .failure(
                        ModelFileError(path: path, line: xmlGetLineNo(node), "has more than \(Self.greatestDepth) elements in each other"))
                }
                open.append(Markup(name: name(node.pointee.name, node.pointee.ns), attributes: attributes(node), line: xmlGetLineNo(node)))
                if let child = node.pointee.children {
                    node = child
                    continue
                }
                if let done = close(&open) { return .success(done) }
            case XML_TEXT_NODE, XML_CDATA_SECTION_NODE: open[open.count - 1].text += text(node.pointee.content)
            default: break
            }
            while node.pointee.next == nil {
                guard let parent = node.pointee.parent else { return .success(nil) }
                node = parent
                if let done = close(&open) { return .success(done) }
            }
            if let next = node.pointee.next { node = next }
        }
    }

    /// Ends the innermost element. Nil unless it is the root.
    private func close(_ open: inout [Markup]) -> Markup? {
        guard let element = open.popLast() else { return nil }
        if open.isEmpty { return element }
        open[open.count - 1].children.append(element)
        return nil
    }

    private func attributes(_ node: xmlNodePtr) -> [String: String] {
        var result: [String: String] = [:], next = node.pointee.properties
        while let attribute = next {
            var value = "", part = attribute.pointee.children
            while let piece = part {
                value += text(piece.pointee.content)
                part = piece.pointee.next
            }
            result[name(attribute.pointee.name, attribute.pointee.ns)] = value
            next = attribute.pointee.next
        }
        return result
    }

    private func name(_ name: UnsafePointer<xmlChar>?, _ space: UnsafeMutablePointer<xmlNs>?) -> String {
        guard let prefix = space?.pointee.prefix else { return text(name) }
        return "\(text(prefix)):\(text(name))"
    }

    private func text(_ bytes: UnsafePointer<xmlChar>?) -> String { bytes.map { String(cString: $0) } ?? "" }
}
