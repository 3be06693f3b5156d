/// What a stream has, as whoever keeps a copy of it should have it.
public struct StreamTruth: Sendable {
    /// A record that the stream's filter lets through.
    public struct Record: Sendable {
        /// On the wire.
        public let raw: DataValue
        /// After the transformations.
        public let final: DataValue
    }

    public let name: String
    public let records: [Record]
    /// Fields that say when they were read, or what was asked for: nobody knows them beforehand.
    public let unknownFields: Set<String>
    /// How many records have been changed since the beginning.
    public let changedCount: Int
}
