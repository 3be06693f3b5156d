/// Carries a value to a queue that the type system can't see, or out of a lock.
// Used for blocks handed to a context, which run on its queue, one at a time, as is the contract of `perform`; and for what comes out of a lock to one
// caller.
struct Unchecked<Value>: @unchecked Sendable {
    let value: Value
}
