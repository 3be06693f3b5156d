extension ManifestWriter {
    /// Records to a page: few, so that a few records are several pages.
    func pageSize(_ stream: StreamFacts) -> Int { 3 + choice("size \(stream.stream)", 3) }

    func paginator(_ stream: StreamFacts) -> DataValue? {
        let kind = stream.word("pages")
        switch kind {
        case "", "none": return chance("no pages \(stream.stream)", 3) ? .having([("type", .text("NoPagination"))]) : nil
        case "custom":
            return .having([
                ("type", .text("DefaultPaginator")),
                ("pagination_strategy", .having([("type", .text("CustomPaginationStrategy")), ("class_name", .text("source.components.Pages"))])),
            ])
        default: break
        }
        let sizePlace = stream.word("page size in")
        let sizeOption = option(inWords: sizePlace, sizePlace == "header" ? "Page-Size" : chance("limit", 2) ? "limit" : "per_page")
        return .having([
            ("type", .text("DefaultPaginator")), ("page_token_option", option(inWords: stream.word("page token in"), tokenName(kind))),
            ("page_size_option", sizeOption), ("pagination_strategy", strategy(kind, stream, hasSizeOption: sizeOption != nil)),
        ])
    }

    private func tokenName(_ kind: String) -> String {
        switch kind {
        case "page", "page number computed": "page"
        case "offset": chance("skip", 2) ? "offset" : "skip"
        case "keyset (last record)": "after"
        default: "cursor"
        }
    }

    private func strategy(_ kind: String, _ stream: StreamFacts, hasSizeOption: Bool) -> DataValue {
        // What ends at a short page knows how long a page is.
        let isCounted = kind == "page" || kind == "offset"
        let knowsSize = hasSizeOption || (isCounted && stream.word("stop") == "short page")
        let size: DataValue? = knowsSize ? .int(pageSize(stream)) : nil
        let isInjected = chance("inject", 2)
        switch kind {
        case "page":
            var start: DataValue? = .int(1)
            // The first page is 0 where nothing is said.
            if stream.word("first page") == "0" { start = chance("start", 2) ? .int(0) : nil }
            return .having([
                ("type", .text("PageIncrement")), ("start_from_page", start), ("page_size", size), ("inject_on_first_request", flag(isInjected)),
            ])
        case "offset":
            return .having([("type", .text("OffsetIncrement")), ("page_size", size), ("inject_on_first_request", flag(isInjected))])
        default:
            let (value, stop) = cursor(kind, stream)
            return .having([
                ("type", .text("CursorPagination")), ("page_size", size), ("cursor_value", .text(value)),
                ("stop_condition", stop.map { DataValue.text($0) }),
            ])
        }
    }

    /// The templates for what comes next, and for whether nothing does.
    private func cursor(_ kind: String, _ stream: StreamFacts) -> (value: String, stop: String?) {
        switch kind {
        case "keyset (last record)":
            let field = primaryKey(stream).first ?? "id"
            var stop: String?
            if stream.word("page size in") == "query", chance("short \(stream.stream)", 2) { stop = "{{ last_page_size < \(pageSize(stream)) }}" }
            return ("{{ \(member("last_record", field, stream.stream)) }}", stop)
        case "link header":
            return ("{{ headers['link']['next']['url'] }}", "{{ 'next' not in headers['link'] }}")
        case "cursor cut out of a next URL":
            let isSplit = chance("cut \(stream.stream)", 2)
            let value =
                isSplit
                ? "response['links']['next'].split('cursor=')[1]" : "response.get('links', {}).get('next') | regex_search('[?&]cursor=([^&]+)')"
            return (
                "{{ \(value) }}", isSplit ? "{{ not response.get('links', {}).get('next') }}" : "{{ response.get('links', {}).get('next') is none }}"
            )
        case "next URL in the body, by rel":
            return ("{{ response['links'] | selectattr('rel', 'equalto', 'next') | map(attribute='href') | first }}", nil)
        case "cursor computed":
            return (
                "{{ response.get('meta', {}).get('next_page') or response.get('cursor_id') }}",
                "{{ not response.get('meta', {}).get('next_page') and not response.get('cursor_id') }}"
            )
        case "page number computed":
            return ("{{ response['paging']['page'] + 1 }}", "{{ response['paging']['page'] >= response['paging']['total_pages'] }}")
        default:
            let name = kind == "next URL in the body" ? "next_url" : "next"
            return next(name, stream)
        }
    }

    /// A token or an address in the body, in one of the ways in which manifests look for it.
    private func next(_ name: String, _ stream: StreamFacts) -> (value: String, stop: String?) {
        let way = choice("next \(stream.stream)", 4)
        let value: String
        switch way {
        case 0: value = "response['paging']['\(name)']"
        case 1: value = "response.get('paging', {}).get('\(name)', {})"
        case 2: value = "response.paging.\(name)"
        default: value = "response['\(name)']"
        }
        switch stream.word("stop") {
        case "has_more":
            let stops = [
                "{{ not response.get('has_more', False) }}", "{{ response['has_more'] is false }}", "{{ not response.paging.has_more }}",
            ]
            return ("{{ \(value) }}", stops[choice("stop \(stream.stream)", 3)])
        case "has_more inverted": return ("{{ \(value) }}", "{{ response['is_last'] }}")
        case "total": return ("{{ \(value) }}", "{{ response['paging']['page'] >= response['paging']['total_pages'] }}")
        case "empty":
            let records = fieldPath(stream).map { "['\($0)']" }.joined()
            return ("{{ \(value) }}", records.isEmpty ? nil : "{{ not response\(records) }}")
        default:
            let isSaid = chance("absent \(stream.stream)", 2)
            let again = way == 3 ? "response.get('\(name)')" : "response.get('paging', {}).get('\(name)')"
            return ("{{ \(value) }}", isSaid ? "{{ not \(again) }}" : nil)
        }
    }
}
