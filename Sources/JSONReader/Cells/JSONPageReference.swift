import CSimdJSON

/// The way from a cell back to the page it is in. The view it points to is never freed, so that one kept too long is noticed by its
/// generation and does not read freed memory.
struct JSONPageReference {
    private let pointer: UnsafePointer<csj_view>
    private let generation: UInt64

    init(_ pointer: UnsafePointer<csj_view>) {
        self.pointer = pointer
        generation = pointer.pointee.generation
    }

    /// The view, if the page is still there. Traps otherwise.
    @inline(__always)
    var view: UnsafePointer<csj_view> {
        precondition(
            pointer.pointee.generation == generation,
            "JSONReader: a record, cell, string or span was used after the closure it was handed to had returned")
        return pointer
    }
}
