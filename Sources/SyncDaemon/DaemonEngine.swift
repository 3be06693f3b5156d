/// What is put together when the configuration is known: the open document and the pipeline above it.
public struct DaemonEngine: Sendable {
    public var document: any OpenDocument
    public var pipeline: any SyncPipelining

    public init(document: any OpenDocument, pipeline: any SyncPipelining) {
        self.document = document
        self.pipeline = pipeline
    }
}
