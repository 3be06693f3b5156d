/// After an unclean end: whoever's run was open may be why. Such a resource is polled last and alone, and after the second time in a row later and later,
/// so that no server takes the mirrors of the others down.
extension PipelineState {
    /// How long one that is due gives way to others, and others to it: nobody is kept from being polled for longer.
    static let suspectPatience = Duration.seconds(300)
    private static let longestDelay = Duration.seconds(86_400)

    /// Who waits for others although it is due.
    enum HeldBack {
        case nobody, suspects, everybody
    }

    func heldBack(at now: Moment) -> HeldBack {
        guard !suspects.isEmpty, !resources.running.isEmpty else { return .nobody }
        let ends = suspects.keys.compactMap { scope in resources[scope].map { ($0.run != nil, patienceEnd(of: $0)) } }
        if ends.contains(where: { isOpen, end in isOpen && end > now.instant }) { return .everybody }
        return ends.contains { isOpen, end in !isOpen && end <= now.instant } ? .nobody : .suspects
    }

    /// When others, or it itself, have waited long enough.
    private func patienceEnd(of resource: Resource) -> SyncInstant {
        guard let since = resource.run?.started ?? (isAwake(resource) ? resource.due : nil) else { return .never }
        return since.advanced(by: Self.suspectPatience)
    }

    /// When somebody who is held back is so no more, whoever ends meanwhile.
    func nextPatienceEnd(after now: Moment) -> SyncInstant? {
        guard heldBack(at: now) != .nobody else { return nil }
        return suspects.keys.compactMap { resources[$0].map(patienceEnd) }.filter { $0 > now.instant && $0 < .never }.min()
    }

    /// Those whose time counts now, the longest overdue first, as far as they are due at `limit`.
    func counted(until limit: SyncInstant, at now: Moment) -> [ResourceScope] {
        let heldBack = heldBack(at: now)
        return resources.due.until(limit).map(\.scope).filter { counts($0, heldBack) }
    }

    /// When the first is due whose time counts now.
    func earliestDue(at now: Moment) -> SyncInstant? {
        let heldBack = heldBack(at: now)
        return resources.due.entries.first { counts($0.scope, heldBack) }?.time
    }

    private func counts(_ scope: ResourceScope, _ heldBack: HeldBack) -> Bool {
        guard heldBack != .everybody, let resource = resources[scope], isAwake(resource) else { return false }
        return heldBack == .nobody || suspects[scope] == nil
    }

    /// How long after a start it is left alone.
    func suspicionDelay(_ scope: ResourceScope) -> Duration {
        guard let count = suspects[scope]?.ends, count > 1 else { return .zero }
        return min(.seconds(60 << min(count - 1, 20)), Self.longestDelay)
    }
}
