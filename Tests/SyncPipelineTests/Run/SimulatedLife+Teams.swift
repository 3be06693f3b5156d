import OpenCoreDataTestSupport

@testable import OpenCoreData
@testable import SyncPipeline

/// People and their teams.
extension SimulatedLife {
    /// What is wrong with who belongs to whom: both sides tell the same; in the end it is what the server says, where it lists that team.
    func teams(_ process: Process, isSettled: Bool) async throws -> String? {
        let (told, listed) = simulation.ask { server, _ in (server.teams, Set(server.names[SimulatedServer.lists[2].scope]?.keys ?? [:].keys)) }
        return try await process.document.withWorker { worker in
            func key(_ object: NSManagedObject) -> Int { object.value(forKey: "id") as? Int ?? 0 }
            for person in try worker.fetch(NSFetchRequest<NSManagedObject>(entityName: "Person")) {
                let team = person.value(forKey: "team") as? NSManagedObject
                if let team, (team.value(forKey: "people") as? Set<NSManagedObject>)?.contains(person) != true {
                    return "team \(key(team)) does not know of person \(key(person)), whose it is"
                }
                guard isSettled, person.value(forKey: ModelBuilder.Bookkeeping.deletedAt.rawValue) == nil else { continue }
                let wanted = told[key(person)] ?? 0, found = team.map(key) ?? 0
                // A team that is not listed may have gone, and may be named all the same.
                if found != wanted, found != 0 || wanted == 0 || listed.contains(wanted) {
                    return "person \(key(person)) is in team \(found) and should be in \(wanted)"
                }
            }
            for team in try worker.fetch(NSFetchRequest<NSManagedObject>(entityName: "Team")) {
                for person in team.value(forKey: "people") as? Set<NSManagedObject> ?? []
                where person.value(forKey: "team") as? NSManagedObject != team {
                    return "person \(key(person)) does not know of team \(key(team)), which has it"
                }
            }
            return nil
        }
    }
}
