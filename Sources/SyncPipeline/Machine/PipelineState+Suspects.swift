/// After an unclean end: whoever's run was open may be why. Such a resource is polled last and alone, and after the second time in a row later and later,
/// so that no server takes the mirrors of the others down.
extension PipelineState {
    /// How long one that is due gives way to others before these begin no more runs.
    static let suspectPatience = Duration.seconds(300)
    private static let longestDelay = Duration.seconds(86_400)

    /// Who waits for others although it is due.
    enum HeldBack {
        case nobody, suspects, others, everybody

        func includes(_ isSuspect: Bool) -> Bool {
            switch self {
            case .nobody: false
            case .suspects: isSuspect
            case .others: !isSuspect
            case .everybody: true
            }
        }
    }

    func heldBack(at now: Moment) -> HeldBack {
        guard !suspects.isEmpty else { return .nobody }
        let isAnyOpen = resources.contains { $0.value.run != nil }, isLong = now.instant.advanced(by: .zero - Self.suspectPatience)
        for scope in suspects.keys {
            guard let resource = resources[scope] else { continue }
            if resource.run != nil { return .everybody }
            if isAwake(resource), let due = resource.due, due <= isLong { return isAnyOpen ? .everybody : .others }
        }
        return isAnyOpen ? .suspects : .nobody
    }

    /// Those whose time counts now, with their due times.
    func counted(at now: Moment) -> [(scope: ResourceScope, resource: Resource, due: SyncInstant)] {
        let heldBack = heldBack(at: now)
        return resources.compactMap { scope, resource in
            guard let due = resource.due, isAwake(resource), !heldBack.includes(suspects[scope] != nil) else { return nil }
            return (scope, resource, due)
        }
    }

    /// How long after a start it is left alone.
    func suspicionDelay(_ scope: ResourceScope) -> Duration {
        guard let count = suspects[scope], count > 1 else { return .zero }
        return min(.seconds(60 << min(count - 1, 20)), Self.longestDelay)
    }
}
