import JSONReader

/// Links as bodies list them: objects that say what each is to the document (`rel`, or `relation`), and where it leads (`href`, `url` or `uri`).
enum LinkList {
    private static let plan = JSONFieldPlan(["rel", "relation", "href", "url", "uri"].map { JSONField($0, path: JSONPath(keys: [$0])) })

    /// Where the first link of a relation leads.
    ///
    /// - Parameter list: a list of links, or one. Where `rel` names several relations, each counts; they are compared without regard to case, as those of
    ///   headers are (RFC 8288, 2.1.1).
    /// - Returns: empty if there is none; nil if that is no list of links, or the link leads nowhere.
    static func target(of relation: String, in list: JSONValue) -> String? {
        guard case .raw(let text) = list else { return nil }
        var target: String?, isUnreadable = false
        let isRead = try? JSONRecordReader().read(body: Array(text.utf8), plan: plan) { link in
            if link.problem != nil { isUnreadable = true }
            guard target == nil, !isUnreadable else { return }
            let relations = (link[0].stringValue ?? link[1].stringValue ?? "").lowercased().split(separator: " ")
            guard relations.contains(relation.lowercased()[...]) else { return }
            target = link[2].stringValue ?? link[3].stringValue ?? link[4].stringValue
            isUnreadable = target == nil
        }
        return isRead == nil || isUnreadable ? nil : target ?? ""
    }
}
