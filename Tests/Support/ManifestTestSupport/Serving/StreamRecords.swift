/// What a service has of a stream, made up: the parts, the records of each, and how these change.
struct StreamRecords: Sendable {
    let stream: DeclaredStream
    private(set) var parts: [StreamPart] = []

    /// The fields that others know its records by.
    private let referenced: Set<String>
    private let configuration: DataValue
    private let salt: Int
    /// What transformations add.
    private let added: [(path: [String], value: TemplateText)]
    /// What transformations and the filter read of records.
    private let read: [[String]]
    /// The field of the last record that the next page goes on from.
    private let keysetField: String?
    private let fields: [DataValue.Member]
    /// Whether the key holds something that is the part's, so that records need be told from each other within it only.
    private let hasKeyOfPart: Bool
    private var serials = 0

    /// Records to a page where the manifest does not say how many.
    static let defaultSize = 4

    init(_ stream: DeclaredStream, referenced: Set<String>, configuration: DataValue) {
        self.stream = stream
        self.referenced = referenced
        self.configuration = configuration
        salt = StableHash.number(stream.name, below: 900) + 100
        let adding = stream.transformations.filter { $0["type"]?.text == "AddFields" }
        let added = adding.flatMap { ($0["fields"]?.list ?? []).compactMap(Self.addedField) }
        self.added = added
        read = added.flatMap { $0.value.paths(from: "record") } + (stream.condition?.paths(from: "record") ?? [])
        var keyset: String?
        if case .cursor(let value, _) = stream.pages.strategy { keyset = value.paths(from: "last_record").first?.first }
        keysetField = keyset
        let needed = stream.primaryKey + referenced.sorted() + [stream.cursor?.field, keyset].compactMap(\.self)
        fields = Self.fields(stream.properties, needed)
        let ofPart = added.filter { !$0.value.isConstant && $0.value.paths(from: "record").isEmpty }
        hasKeyOfPart = stream.primaryKey.count > 1 && ofPart.contains { stream.primaryKey.contains($0.path[0]) }
    }

    // MARK: Paging

    /// Whether a page is one record: the records are nowhere in the body, which has to be an object since it says what comes next.
    var isPageRecord: Bool {
        guard stream.fieldPath.isEmpty, case .cursor(let value, _) = stream.pages.strategy else { return false }
        return !value.paths(from: "response").isEmpty
    }

    /// Records to a page; nil: all of them.
    var pageSize: Int? {
        if isPageRecord { return 1 }
        if case .none = stream.pages.strategy { return nil }
        // Nobody can ask for another page then.
        if stream.pages.tokenPlace == nil, !stream.saysPage { return nil }
        return stream.pages.size ?? Self.defaultSize
    }

    // MARK: Making up

    /// Adds the parts that are not there yet; the others are what is said of them now.
    /// - Parameters:
    ///   - time: of the records of parts that come later, in milliseconds since 1970; nil: it is the beginning.
    ///   - span: when the first records were changed.
    mutating func divide(into wanted: [StreamPart], at time: Int?, within span: Range<Int>) {
        var places = Dictionary(parts.enumerated().map { ($1.identity, $0) }) { first, _ in first }
        for part in wanted {
            if let place = places[part.identity] {
                (parts[place].value, parts[place].extra, parts[place].options) = (part.value, part.extra, part.options)
                continue
            }
            places[part.identity] = parts.count
            var part = part
            let count = part.origins == nil ? 0 : time == nil ? self.count(ofPart: parts.count) : 1
            for number in 0..<count { part.items.append(newItem(number + 1, time ?? madeTime(within: span))) }
            parts.append(part)
        }
    }

    /// Two and a half pages, none, one, exactly one page, two; then none and one in turn.
    private func count(ofPart index: Int) -> Int {
        let size = pageSize ?? Self.defaultSize
        if isPageRecord { return 3 }
        // Nobody can ask for more than the first page, and a full one would promise another.
        let cannotGoOn = stream.pages.size != nil && pageSize == nil
        let many =
            cannotGoOn ? max((stream.pages.size ?? 2) - 1, 1) : StableHash.number(stream.name, below: 3) == 0 ? 2 * size : 2 * size + size / 2 + 1
        if stream.routers.isEmpty { return pageSize == nil && !cannotGoOn ? 5 : many }
        switch index {
        case 0: return many
        case 1: return 0
        case 2: return 1
        case 3: return cannotGoOn ? 1 : size
        case 4: return 2
        default: return index % 2
        }
    }

    private mutating func newItem(_ number: Int, _ time: Int) -> StreamItem {
        serials += 1
        return StreamItem(serial: serials, number: number, time: time)
    }

    /// Somewhere in it, in no order, on a whole second.
    private func madeTime(within span: Range<Int>) -> Int {
        let steps = span.count / 1000
        return span.lowerBound + (serials * 7_919 + salt * 31) % steps * 1000
    }

    /// Changes the first record and the last one, and adds two, all in the first part that has any.
    mutating func change(at time: Int) {
        guard let index = parts.firstIndex(where: { !$0.items.isEmpty }) else { return }
        var part = parts[index]
        for place in Set([0, part.items.count - 1]) {
            part.items[place].revision += 1
            part.items[place].time = time
        }
        let cannotGoOn = stream.pages.size != nil && pageSize == nil
        if !cannotGoOn {
            for _ in 0..<2 { part.items.append(newItem(part.items.count + 1, time)) }
        }
        parts[index] = part
    }

    // MARK: As the service says it, and as it is kept

    /// What is on the wire.
    func raw(_ item: StreamItem, in part: StreamPart) -> DataValue {
        var value = DataValue.object([])
        let added = Set(self.added.compactMap { $0.path.count == 1 ? $0.path[0] : nil })
        for property in fields where !added.contains(property.name) || read.contains([property.name]) {
            value.set(made(property.name, property.value, item, part), at: [property.name])
        }
        for path in read where value.at(path) == nil {
            // What is copied from here is what the field that it becomes would hold.
            let target =
                self.added.first { $0.value.isConstant == false && $0.value.paths(from: "record") == [path] }?.path.last ?? path[path.count - 1]
            let schema = fields.first { $0.name == target }?.value ?? .having([("type", .text("string"))])
            value.set(made(target, schema, item, part), at: path)
        }
        return value
    }

    /// After filter and transformations; nil where the filter leaves it out.
    func final(_ item: StreamItem, in part: StreamPart) -> DataValue? {
        var record = raw(item, in: part)
        let scope = scope(of: part)
        if let condition = stream.condition, !scope.isTrue(condition.value(in: scope.with(["record": record]))) { return nil }
        for transformation in stream.transformations {
            switch transformation["type"]?.text {
            case "AddFields":
                for field in transformation["fields"]?.list ?? [] {
                    guard let added = Self.addedField(field) else { continue }
                    record.set(added.value.value(in: scope.with(["record": record])), at: added.path)
                }
            case "RemoveFields":
                for pointer in transformation["field_pointers"]?.list ?? [] { record.remove(at: (pointer.list ?? []).map(\.shown)) }
            default: break
            }
        }
        return record
    }

    /// What templates know of a part.
    func scope(of part: StreamPart) -> TemplateScope {
        let interval: [(String, DataValue?)] = [
            ("start_time", .text(TemplateScope.Mark.since.text)), ("end_time", .text(TemplateScope.Mark.until.text)),
        ]
        var slice = part.value
        slice.set(part.extra, at: ["extra_fields"])
        for (name, value) in interval {
            if let value { slice.set(value, at: [name]) }
        }
        return TemplateScope([
            "config": configuration, "stream_partition": part.value, "stream_slice": slice, "stream_interval": .having(interval),
            "next_page_token": .having([("next_page_token", .text(TemplateScope.Mark.page.text))]),
        ])
    }

    /// Names of fields that nobody knows beforehand, since the time is in them.
    var unknownFields: Set<String> {
        var names: Set<String> = []
        for part in parts {
            guard let item = part.items.first, let record = final(item, in: part) else { continue }
            for member in record.members ?? [] where TemplateScope.hasMark(member.value.shown) { names.insert(member.name) }
            return names
        }
        return names
    }

    // MARK: Fields

    private static func addedField(_ field: DataValue) -> (path: [String], value: TemplateText)? {
        guard let path = field["path"]?.list.map({ $0.map(\.shown) }), !path.isEmpty, let value = try? TemplateText(field["value"]?.shown ?? "")
        else { return nil }
        return (path, value)
    }

    /// Those of the schema, or a few that are in every record, and what is needed besides.
    private static func fields(_ properties: [DataValue.Member]?, _ needed: [String]) -> [DataValue.Member] {
        let text = DataValue.having([("type", .text("string"))])
        var fields = properties ?? [DataValue.Member("title", text), DataValue.Member("note", text)]
        for name in needed where !fields.contains(where: { $0.name == name }) { fields.append(DataValue.Member(name, text)) }
        return fields
    }

    /// Whether records may be told from each other, or be chosen, by it.
    private func isIdentity(_ name: String) -> Bool {
        if stream.primaryKey.contains(name) || referenced.contains(name) || name == keysetField { return true }
        if read.contains(where: { $0.first == name }) { return true }
        let usual = ["id", "uuid", "key", "code", "slug", "name", "email", "number"]
        return usual.contains(name) || name.hasSuffix("_id") || name.hasSuffix("Id")
    }

    private func made(_ name: String, _ schema: DataValue, _ item: StreamItem, _ part: StreamPart) -> DataValue {
        if let cursor = stream.cursor, name == cursor.field { return cursor.record.value(item.time) }
        let types = schema["type"]?.list.map { $0.map(\.shown) } ?? [schema["type"]?.text ?? "string"]
        let isIdentity = isIdentity(name)
        if types.contains("null"), !isIdentity, (item.serial + name.utf8.count) % 5 == 4 { return .null }
        if let choices = schema["enum"]?.list?.filter({ !$0.isNull }), !choices.isEmpty { return choices[item.serial % choices.count] }
        // What the part is known by as well is unique in the part only.
        let isOfPart = hasKeyOfPart && stream.primaryKey.contains(name) && !referenced.contains(name)
        let number = isOfPart ? item.number : salt * 10_000 + item.serial
        switch types.first(where: { $0 != "null" }) ?? "string" {
        case "integer": return .int(isIdentity ? number : item.serial * 3 + item.revision * 1000)
        case "number": return .double(Double(item.serial * 2 + item.revision * 1000) + 0.5)
        case "boolean": return .bool(item.serial % 2 == 0)
        case "array": return .list([.text("one \(item.serial)"), .text("two")])
        case "object":
            var value = DataValue.object([])
            for property in schema["properties"]?.members ?? [] { value.set(made(property.name, property.value, item, part), at: [property.name]) }
            return value
        default:
            if schema["format"]?.text == "date-time" { return .text(TimePattern(source: "%Y-%m-%dT%H:%M:%SZ").text(item.time)) }
            if schema["format"]?.text == "date" { return .text(TimePattern(source: "%Y-%m-%d").text(item.time)) }
            // Some of them are of a kind that has to be escaped in an address.
            if isIdentity { return .text(number % 7 == 3 ? "\(name) \(number)&é" : "\(name)-\(number)") }
            return .text("\(name) \(item.serial), version \(item.revision + 1)")
        }
    }
}
