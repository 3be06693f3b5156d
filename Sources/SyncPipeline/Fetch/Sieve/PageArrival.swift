import JSONReader

/// Who hears of a page while it arrives. From any thread, of one page at a time.
protocol PageArrival: Sendable {
    /// A page begins to arrive. What came before was of an attempt that has failed.
    ///
    /// - Parameter limits: those under which its records are read.
    func began(under limits: JSONReaderLimits)
    /// More records are there. Called with each of the page's lists but the last, in order.
    func arrived(_ list: RecordSpool.Place)
}
