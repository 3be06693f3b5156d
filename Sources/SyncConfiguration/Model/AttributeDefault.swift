import Foundation

/// The value an attribute has before anything else was said; of the attribute's own type.
public enum AttributeDefault: Sendable, Hashable {
    /// For `int16`, `int32` and `int64`, in their range.
    case integer(Int64)
    /// For `decimal`.
    case decimal(Decimal)
    /// For `double`, finite.
    case double(Double)
    case bool(Bool)
    case string(String)
    case date(Date)
    case uuid(UUID)
    case uri(URL)
}
