import OpenCoreData
import SyncConfiguration

/// The pipeline's own entities: one for each of its tables.
enum StateModel {
    static let tables: [any StateTable.Type] = [
        ResourceTable.self, RequestTable.self, KeysTable.self, RunTable.self, QuarantineTable.self,
    ]

    static func entities(mirroring mirrored: [EntityConfiguration]) -> [NSEntityDescription] {
        let views = StatusViews.views(mirroring: mirrored)
        return tables.map { $0.description(views: $0 == ResourceTable.self ? views : [:]) }
    }
}
