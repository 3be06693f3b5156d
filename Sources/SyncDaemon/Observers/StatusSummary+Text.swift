import Foundation
import SyncControl
import SyncPipeline

extension StatusSummary {
    /// The sentence for `STATUS=`: what matters most comes first.
    func text(at now: Date) -> String {
        if isStopping { return stoppingText }
        if let opening { return opening }
        if resources.isEmpty { return "No sources configured" }
        if let trouble = trouble(at: now) { return "Degraded: " + join([trouble + "; " + okText, unverified]) }
        if let running { return "Polling " + join([running, okText, unverified]) }
        if let held { return "Waiting: " + join([held.description, okText, unverified]) }
        return "Idle: " + join([okText, nextText(at: now), objectsText, unverified])
    }

    func readyText(at now: Date) -> String {
        if resources.isEmpty { return "No sources configured" }
        return "Ready: " + join([Self.count(sourceCount, "source"), nextText(at: now), unverified])
    }

    private var stoppingText: String {
        guard let (scope, resource) = open.first, let page = resource.page else { return "Stopping: saving" }
        return "Stopping: finishing page \(page) of \(scope)"
    }

    /// Open runs, in the order of the configuration.
    private var open: [(ResourceScope, Resource)] {
        resources.filter { $0.value.page != nil }.sorted { $0.value.order < $1.value.order }.map { ($0.key, $0.value) }
    }

    private var running: String? {
        let open = open
        guard let (scope, resource) = open.first, let page = resource.page else { return nil }
        var text = "\(scope): page \(page), \(Self.count(resource.records, "record"))"
        if open.count > 1 { text += " (and \(open.count - 1) more)" }
        return text
    }

    /// What is wrong; `nil` if nothing is.
    func trouble(at now: Date) -> String? {
        if let saveError { return "cannot save: \(Self.short(saveError))" }
        if let held, held.isLowDisk { return held.description }
        let degraded = resources.filter(\.value.isTroubled).sorted { $0.value.order < $1.value.order }
        guard let (scope, worst) = degraded.first else { return nil }
        // If all resources of a source are in trouble, the source is in trouble.
        let siblings = resources.filter { $0.key.source == scope.source }
        let name = siblings.count > 1 && !siblings.allSatisfy(\.value.isTroubled) ? "\(scope)" : scope.source
        var text = "\(name) \(worst.failure ?? Self.words(for: worst))"
        if let since = worst.failingSince { text += " for \(RelativeTime.text(now.timeIntervalSince(since)))" }
        if let next = worst.nextPollAt, next > now { text += " (retry in \(RelativeTime.text(next.timeIntervalSince(now))))" }
        let others = Set(degraded.map(\.key.source)).subtracting([scope.source]).count
        if others > 0 { text += ", and \(Self.count(others, "other source"))" }
        return text
    }

    /// What is wrong where no run failed.
    private static func words(for resource: Resource) -> String {
        resource.heldDeletes == 0 ? "not current" : "holds \(count(resource.heldDeletes, "deletion")) back until accepted"
    }

    /// `3 sources ok`, `2 of 3 sources ok`
    private var okText: String {
        let bad = Set(resources.filter(\.value.isTroubled).map(\.key.source)).count
        return bad == 0 ? Self.count(sourceCount, "source") + " ok" : "\(sourceCount - bad) of \(Self.count(sourceCount, "source")) ok"
    }

    private func nextText(at now: Date) -> String? {
        next.map { "next \($0.scope) in \(RelativeTime.text($0.at.timeIntervalSince(now)))" }
    }

    private var objectsText: String? {
        let known = resources.values.compactMap(\.objects)
        return known.isEmpty ? nil : Self.count(known.reduce(0, +), "object")
    }

    /// A switched-off certificate check is always visible.
    private var unverified: String? {
        let sources = Set(resources.filter(\.value.isUnverified).map(\.key.source)).sorted()
        return sources.isEmpty ? nil : "TLS not verified for \(sources.joined(separator: ", "))"
    }

    private func join(_ parts: [String?]) -> String { parts.compactMap { $0 }.joined(separator: ", ") }

    private static func count(_ number: Int, _ noun: String) -> String { "\(number) \(noun)\(number == 1 ? "" : "s")" }

    private static func short(_ text: String) -> String {
        text.count <= 120 ? text : text.prefix(119) + "…"
    }
}
