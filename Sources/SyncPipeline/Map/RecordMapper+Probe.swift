extension RecordMapper {
    /// How a page is read, and who is told of it: for tests.
    struct Probe {
        let batchSize: Int
        let isPacking: Bool
        let packed: (Int) -> Void
        let taken: (Int) -> Void
        let reached: (ParseProbe.Stage) -> Void
    }
}
