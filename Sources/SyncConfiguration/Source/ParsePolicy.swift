/// `parse`: what is done with JSON that is odd. All of it is in force and none of it is to be set in this version.
public struct ParsePolicy: Sendable, Hashable {
    public enum DuplicateKeys: String, Sendable, Hashable { case rejectRecord = "reject-record" }
    public enum InvalidUTF8: String, Sendable, Hashable { case rejectPage = "reject-page" }
    public enum LoneSurrogates: String, Sendable, Hashable { case replace }
    public enum NULInText: String, Sendable, Hashable { case keep }
    public enum KeyCompare: String, Sendable, Hashable { case bytes }
    public enum BigIntegers: String, Sendable, Hashable { case decimal }
    public enum NumberOverflow: String, Sendable, Hashable { case rejectRecord = "reject-record" }
    public enum ByteOrderMark: String, Sendable, Hashable { case skip }
    public enum TrailingData: String, Sendable, Hashable { case rejectPage = "reject-page" }
    public enum EmptyBody: String, Sendable, Hashable { case error }

    public private(set) var duplicateKeys = DuplicateKeys.rejectRecord
    public private(set) var invalidUTF8 = InvalidUTF8.rejectPage
    /// Replaced by U+FFFD.
    public private(set) var loneSurrogates = LoneSurrogates.replace
    public private(set) var nulInText = NULInText.keep
    public private(set) var keyCompare = KeyCompare.bytes
    /// Integers beyond 64 bits.
    public private(set) var bigIntegers = BigIntegers.decimal
    /// Such as `1e400`.
    public private(set) var numberOverflow = NumberOverflow.rejectRecord
    public private(set) var byteOrderMark = ByteOrderMark.skip
    public private(set) var trailingData = TrailingData.rejectPage
    /// Media types that are taken; `*` stands for a part of a name.
    public private(set) var contentTypes = ["application/json", "application/*+json", "text/json"]
    public private(set) var emptyBody = EmptyBody.error

    /// The built-in values.
    public init() {}
}
