/// What a page may be at most. The defaults are those of the configuration's `[defaults.limits]`.
///
/// Limits hold for all of the document, also for values nobody asked for. Beyond ``maxDepth`` or ``maxRecordsPerPage`` the page is
/// refused; the other limits refuse the record in which they are exceeded, or the page when that happens outside of the records.
public struct JSONReaderLimits: Sendable, Hashable {
    /// Arrays and objects inside each other; the outermost one counts. `max_depth`.
    public var maxDepth = 128
    /// Bytes of a string after decoding its escapes. `max_string`.
    public var maxString = 4 << 20
    /// Bytes of a key after decoding its escapes. `max_key`.
    public var maxKey = 1 << 10
    /// Digits of a number, before and after the point and in the exponent together. `max_number_digits`.
    public var maxNumberDigits = 1000
    /// Records in one page, bad ones included. `max_records_per_page`.
    public var maxRecordsPerPage = 20_000
    /// Cells taken out of one record, nested records and items of arrays included, so that a small text cannot claim much memory:
    /// a cell takes about 30 bytes. `max_cells`; not in the configuration.
    public var maxCells = 1_000_000

    public init() {}
}
