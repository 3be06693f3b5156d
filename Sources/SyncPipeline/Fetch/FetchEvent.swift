/// What happens during a fetch and is worth telling someone.
public enum FetchEvent: Sendable, Hashable {
    /// A request is wanted, as soon as there is a slot for it; the first attempt is 1.
    case attempt(Int)
    /// It goes out.
    case asking(Int)
    /// An attempt failed and there will be another one after `delay`.
    case retrying(FetchError, delay: Duration)
}
