import JSONPaths

/// How a listing goes on.
extension StreamConverter {
    /// Finds out whether an answer leads to the next page by its address: then requests say only what the first page needs.
    func planPages(of retriever: Component) throws {
        guard let paginator = try retriever.component("paginator", "NoPagination"), paginator.type == "DefaultPaginator",
            let option = try paginator.component("page_token_option", "RequestOption")
        else { return }
        followsLinks = try option.type == "RequestPath" || option.value("inject_into")?.text == "path" || isCut(from: paginator, option)
    }

    /// Whether the token is cut out of the address of the next page.
    private func isCut(from paginator: Component, _ option: Component) throws -> Bool {
        guard let strategy = try paginator.component("pagination_strategy", "PaginationStrategy"), strategy.type == "CursorPagination",
            let value = try strategy.value("cursor_value")
        else { return false }
        // What is wrong with it is told where pages are converted.
        return (try? TokenCut(value, for: requestPlace(option))) != nil
    }

    func convertPages(of retriever: Component) throws {
        guard let paginator = try retriever.component("paginator", "NoPagination"), paginator.type != "NoPagination" else { return }
        guard paginator.type == "DefaultPaginator" else {
            return findings.refuse("paginator", named(paginator), "pages of this kind cannot be carried over")
        }
        expect(paginator, handled: ["pagination_strategy", "page_size_option", "page_token_option", "url_base", "decoder"])
        guard let strategy = try paginator.component("pagination_strategy", "PaginationStrategy") else {
            return findings.refuse("paginator.pagination_strategy", nil, line: paginator.line, "it is missing")
        }
        let option = try paginator.component("page_token_option", "RequestOption").map { try requestPlace($0) }
        let size = try paginator.component("page_size_option", "RequestOption").map { try requestPlace($0) }
        guard let token = option else {
            return findings.refuse("paginator.page_token_option", nil, line: paginator.line, "nothing says in a request which page is meant")
        }
        _ = findings.refusing("paginator.pagination_strategy", line: strategy.line) {
            switch strategy.type {
            case "PageIncrement": try convertCounted(strategy, token, size, isOffset: false)
            case "OffsetIncrement": try convertCounted(strategy, token, size, isOffset: true)
            case "CursorPagination": try convertCursor(strategy, token, size)
            default: findings.refuse("paginator.pagination_strategy", named(strategy), "pages of this kind cannot be carried over")
            }
        }
        let isOnce = try retriever.value("ignore_stream_slicer_parameters_on_paginated_requests")
        if isOnce?.isTruthy == true, !followsLinks {
            findings.refuse(
                "ignore_stream_slicer_parameters_on_paginated_requests", isOnce,
                "parameters that only the first page has cannot be said for these pages")
        }
    }

    // MARK: Numbers

    private func convertCounted(_ strategy: Component, _ token: RequestPlace, _ size: RequestPlace?, isOffset: Bool) throws {
        expect(strategy, handled: ["page_size", "start_from_page", "inject_on_first_request"])
        guard token.kind != .path else { return findings.refuse("paginator.page_token_option", nil, line: strategy.line, "a number is no address") }
        let count = try integer("page_size", in: strategy)
        var table = TOMLTable([("kind", .text(isOffset ? "offset" : "page"))])
        if let word = token.word { table["in"] = .text(word) }
        table["param"] = .text(token.parameter)
        if !isOffset {
            let start = try integer("start_from_page", in: strategy)
            table["start"] = .integer(start ?? 0)
            if start == nil {
                let isInjected = try strategy.flag("inject_on_first_request")
                findings.remark(
                    "paginator.start_from_page", nil, line: strategy.line,
                    "pages are counted from 0, as connectors do where the manifest says nothing"
                        + (isInjected ? "" : "; the connector's first request says no page, and here it says page 0")
                        + "; write start = 1 if the service counts from 1")
            }
        }
        let name = isOffset ? "limit" : "size", parameter = isOffset ? "limit_param" : "size_param"
        if token.kind == .json || token.kind == .form { try needBody(token.kind) }
        if let size, let count, size.kind == token.kind {
            table[parameter] = .text(size.parameter)
            table[name] = .integer(count)
        } else {
            table[parameter] = .text("")
            if let count { table[name] = .integer(count) }
            if let size, let count { try insert(.integer(count), at: size) }
        }
        draft.pages = table
    }

    // MARK: Tokens

    private func convertCursor(_ strategy: Component, _ token: RequestPlace, _ size: RequestPlace?) throws {
        expect(strategy, handled: ["page_size", "cursor_value", "stop_condition", "decoder"])
        guard let value = try strategy.value("cursor_value") else {
            return findings.refuse("paginator.cursor_value", nil, line: strategy.line, "it is missing")
        }
        if let size, let count = try integer("page_size", in: strategy) { try insert(.integer(count), at: size) }
        let evaluator = evaluator(for: strategy)
        let cut = try? TokenCut(value, for: token)
        let source = { try cut.map { try self.reference(evaluator.term($0.address)) } ?? self.reference(evaluator.term(value)) }
        guard let origin = findings.refusing("paginator.cursor_value", value, source) else { return }
        var table = TOMLTable()
        _ = findings.refusing("paginator.cursor_value", value) {
            table = try self.pages(origin, cut == nil ? token : RequestPlace(kind: .path, names: []))
        }
        if cut != nil { followed = (value, token.parameter) }
        if let stop = try strategy.value("stop_condition"), stop.isTruthy {
            _ = findings.refusing("paginator.stop_condition", stop) {
                try addStop(stop, evaluator, origin, pageSize: integer("page_size", in: strategy), &table)
            }
        }
        draft.pages = table
    }

    /// Says what following an address means in place of taking a token out of it. To be called when it is known what requests send.
    func tellFollowed() {
        guard let followed else { return }
        let names = draft.parameters.entries.map(\.key)
        let list = names.dropLast().joined(separator: ", ") + (names.count > 1 ? " and " : "") + (names.last ?? "")
        let once =
            names.isEmpty
            ? ""
            : "; \(list) \(names.count == 1 ? "is" : "are") sent with the first page only, unless the address has \(names.count == 1 ? "it" : "them")"
        findings.remark(
            "paginator.cursor_value", followed.value,
            "the address that it is cut out of is followed as it is, and not only its parameter \(followed.parameter)\(once)")
    }

    private func reference(_ term: Term) throws -> Term.Reference {
        guard case .reference(let reference) = term else { throw Unsayable("a token that is worked out cannot be said") }
        return reference
    }

    private func pages(_ origin: Term.Reference, _ token: RequestPlace) throws -> TOMLTable {
        if token.kind == .path {
            switch origin.root {
            case .response: return TOMLTable([("kind", .text("body-link")), ("path", .text(try Self.path(origin.steps).description))])
            case .headers where isLinkHeader(origin): return TOMLTable([("kind", .text("link-header"))])
            default: throw Unsayable("an address that comes from there cannot be followed")
            }
        }
        if token.kind == .json || token.kind == .form { try needBody(token.kind) }
        var table = TOMLTable()
        switch origin.root {
        case .response:
            if case .graphQL = draft.body, token.names.count == 2, token.names[0] == "variables", origin.steps.last == .key("endCursor") {
                let info = try Self.path(Array(origin.steps.dropLast())).description
                return TOMLTable([("kind", .text("graphql")), ("page_info", .text(info)), ("variable", .text(token.names[1]))])
            }
            table = TOMLTable([("kind", .text("cursor")), ("path", .text(try Self.path(origin.steps).description))])
        case .headers:
            guard let keys = origin.keys, keys.count == 1, keys[0].lowercased() != "link" else {
                throw Unsayable("a token out of a Link header cannot be said")
            }
            table = TOMLTable([("kind", .text("cursor")), ("header", .text(keys[0]))])
        case .lastRecord:
            guard let names = origin.keys, !names.isEmpty, let path = draft.paths(of: names).first else {
                throw Unsayable("which field of the last record is meant is not known")
            }
            table = TOMLTable([("kind", .text("keyset")), ("from", .text(path.description))])
        default: throw Unsayable("a token from there cannot be said")
        }
        if let word = token.word { table["in"] = .text(word) }
        table["param"] = .text(token.parameter)
        return table
    }

    /// Whether it is the address that a Link header calls the next one.
    private func isLinkHeader(_ reference: Term.Reference) -> Bool {
        guard let keys = reference.keys, keys.count == 3 else { return false }
        return keys[0].lowercased() == "link" && keys[1] == "next" && keys[2] == "url"
    }

    // MARK: Ends

    private func addStop(
        _ value: ManifestValue, _ evaluator: Evaluator, _ origin: Term.Reference, pageSize: Int?, _ table: inout TOMLTable
    ) throws {
        guard let text = value.text, let expression = try Evaluator.expression(text) else {
            if value.scalar?.lowercased() == "false" { return }
            throw Unsayable("a condition was expected")
        }
        if let known = try? evaluator.truth(of: expression) {
            if known { throw Unsayable("it always holds") }
            return
        }
        for condition in try evaluator.alternatives(expression) { try addStop(condition, origin, pageSize: pageSize, &table) }
    }

    private func addStop(_ condition: Comparison, _ origin: Term.Reference, pageSize: Int?, _ table: inout TOMLTable) throws {
        let reference = condition.reference
        switch reference.root {
        // A page without records is the last in any case; after a short one, another is asked for, which is empty.
        case .lastPageSize where Self.isShortPage(condition, pageSize): return
        case .response, .headers:
            if isTokenMissing(condition, origin) { return }
            guard reference.root == .response else { break }
            guard let flag = Self.flag(condition) else { break }
            let stop = TOMLValue.table(TOMLTable([(flag, .text(try Self.path(reference.steps).description))]))
            if let known = table["stop"], known != stop { throw Unsayable("two of them cannot be said") }
            table["stop"] = stop
            return
        default: break
        }
        throw Unsayable("this end of a listing cannot be said")
    }

    /// The key of `stop` for a condition on a truth value; nil: it may be on something else.
    private static func flag(_ condition: Comparison) -> String? {
        switch (condition.test, condition.isNegated) {
        case (.truth, true), (.equals(.bool(false)), false), (.equals(.bool(true)), true): return "has_more"
        case (.equals(.bool(true)), false), (.equals(.bool(false)), true): return "last"
        // What is there may be an address or a number as well, unless it is called otherwise.
        case (.truth, false):
            guard case .key(let name)? = condition.reference.steps.last else { return nil }
            return endFlags.contains(name.lowercased().filter { $0 != "_" }) ? "last" : nil
        default: return nil
        }
    }

    private static let endFlags: Set<String> = [
        "done", "finished", "completed", "isdone", "isfinished", "iscomplete", "iscompleted", "islast", "islastpage", "endofstream", "endofdata",
    ]

    /// Whether a condition on the number of records says no more than that a page is not full.
    private static func isShortPage(_ condition: Comparison, _ pageSize: Int?) -> Bool {
        switch condition.test {
        case .truth: return condition.isNegated
        case .equals(let term): return !condition.isNegated && term.constantText == "0"
        case .ordered(let sign, let term):
            guard !condition.isNegated, sign == "<" || sign == "<=", let text = term.constantText, let limit = Int(text) else { return false }
            guard let pageSize else { return true }
            // What holds of a full page ends a listing after the first one.
            return sign == "<" ? limit <= pageSize : limit < pageSize
        default: return false
        }
    }

    /// Whether a condition says no more than that there is no token, or nothing that could hold one.
    private func isTokenMissing(_ condition: Comparison, _ origin: Term.Reference) -> Bool {
        var steps = condition.reference.steps
        switch condition.test {
        case .truth: guard condition.isNegated else { return false }
        case .missing, .equals(.text("")): guard !condition.isNegated else { return false }
        case .contains(.text(let key)):
            guard condition.isNegated else { return false }
            steps.append(.key(key))
        default: return false
        }
        return condition.reference.root == origin.root && origin.steps.starts(with: steps)
    }
}
