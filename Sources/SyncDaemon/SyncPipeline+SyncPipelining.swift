import SyncPipeline

extension SyncPipeline: SyncPipelining {
    public func resources() async -> [ResourceStatus] { await status().resources }
}
