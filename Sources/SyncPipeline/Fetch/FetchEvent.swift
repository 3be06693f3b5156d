/// What happens during a fetch and is worth telling someone.
public enum FetchEvent: Sendable, Hashable {
    /// A request is about to be made; the first attempt is 1.
    case attempt(Int)
    /// An attempt failed and there will be another one after `delay`.
    case retrying(FetchError, delay: Duration)
}
