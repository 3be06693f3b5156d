/// How a manifest says that a listing goes on.
struct DeclaredPages: Sendable {
    enum Strategy: Sendable {
        case none
        /// Counted from here.
        case page(start: Int)
        case offset
        /// What the next request says, and when there is none.
        case cursor(TemplateText, stop: TemplateText?)
    }

    var strategy = Strategy.none
    /// The number of records that a page is asked for, if it is said.
    var size: Int?
    /// Where the number, the offset or the token goes; nil: nowhere.
    var tokenPlace: RequestPlace?
    var sizePlace: RequestPlace?

    init() {}

    /// - Throws: `TemplateParser.Failure`.
    init(_ paginator: DataValue?, _ scope: TemplateScope) throws {
        guard let paginator, paginator["type"]?.text == "DefaultPaginator", let declared = paginator["pagination_strategy"] else { return }
        tokenPlace = RequestPlace(paginator["page_token_option"])
        sizePlace = RequestPlace(paginator["page_size_option"])
        if let size = declared["page_size"], !size.isNull {
            self.size = Int(try TemplateText(size.shown).text(in: scope))
        }
        switch declared["type"]?.text {
        case "PageIncrement": strategy = .page(start: declared["start_from_page"]?.int ?? 0)
        case "OffsetIncrement": strategy = .offset
        case "CursorPagination":
            let stop = declared["stop_condition"]?.text
            strategy = .cursor(try TemplateText(declared["cursor_value"]?.shown ?? ""), stop: try stop.map { try TemplateText($0) })
        default: throw TemplateParser.Failure(description: "pages by \(declared["type"]?.shown ?? "nothing")")
        }
    }
}
