import JSONReader

/// Who hears of a page while it arrives. From any thread, of one page at a time.
protocol PageArrival: Sendable {
    /// A page begins to arrive.
    ///
    /// - Parameter limits: those under which its records are read.
    func began(under limits: JSONReaderLimits)
    /// More records are there. Called with the page's lists in order; what is left at its end is for nobody but who reads the page.
    func arrived(_ list: RecordSpool.Place)
    /// The rest of the page does not arrive; the page may begin anew.
    func failed()
}
