extension Duration {
    static func minutes(_ count: Double) -> Duration { .seconds(count * 60) }
    static func hours(_ count: Double) -> Duration { .seconds(count * 3600) }
}
