import Foundation
import OpenCoreData
import OpenCoreDataTestSupport

/// A change to the graph of persons, departments and skills. Objects go by number.
enum Edit: Hashable {
    case insert(String, Int)
    case rename(Int, String)
    case setAge(Int, Int)
    case move(Int, to: Int?)
    case learn(Int, skill: Int)
    case unlearn(Int, skill: Int)
    case delete(Int)

    /// Whom it changes, if it changes a person that is there already.
    var person: Int? {
        switch self {
        case .insert, .delete: nil
        case .rename(let person, _), .setAge(let person, _), .move(let person, _), .learn(let person, _), .unlearn(let person, _): person
        }
    }
}

/// What a graph looks like: the model that a chain of contexts is compared with.
struct World: Equatable {
    struct Human: Equatable {
        var name = "nobody"
        var age = 18
        var department: Int?
        var skills: Set<Int> = []
    }

    var people: [Int: Human] = [:]
    var departments: Set<Int> = []
    var skills: Set<Int> = []

    mutating func apply(_ edit: Edit) {
        switch edit {
        case .insert("Person", let number): people[number] = Human()
        case .insert("Department", let number): departments.insert(number)
        case .insert(_, let number): skills.insert(number)
        case .rename(let number, let name): people[number]?.name = name
        case .setAge(let number, let age): people[number]?.age = age
        case .move(let number, let department): people[number]?.department = department
        case .learn(let number, let skill): people[number]?.skills.insert(skill)
        case .unlearn(let number, let skill): people[number]?.skills.remove(skill)
        case .delete(let number):
            people[number] = nil
            departments.remove(number)
            skills.remove(number)
            for person in people.keys {
                if people[person]?.department == number { people[person]?.department = nil }
                people[person]?.skills.remove(number)
            }
        }
    }

    /// An edit that makes sense here.
    func randomEdit(using random: inout SeededRandom, next: Int, deletes: Bool) -> Edit {
        let persons = people.keys.sorted()
        guard let person = random.element(persons) else { return .insert("Person", next) }
        switch random.next(upTo: deletes ? 9 : 7) {
        case 0: return .insert(["Person", "Department", "Skill"][random.next(upTo: 3)], next)
        case 1: return .rename(person, "name \(next)")
        case 2: return .setAge(person, random.next(upTo: 90))
        case 3: return .move(person, to: random.element(departments.sorted()))
        case 4: return .move(person, to: nil)
        case 5: return random.element(skills.sorted()).map { .learn(person, skill: $0) } ?? .insert("Skill", next)
        case 6: return people[person]?.skills.min().map { .unlearn(person, skill: $0) } ?? .insert("Department", next)
        case 7: return .delete(person)
        default: return random.element(departments.sorted() + skills.sorted()).map { .delete($0) } ?? .delete(person)
        }
    }
}

/// The IDs of a chain's objects by number.
final class Numbers {
    private(set) var ids: [Int: NSManagedObjectID] = [:]

    /// Makes an edit in a context.
    func make(_ edit: Edit, in context: NSManagedObjectContext) {
        func object(_ number: Int) -> NSManagedObject? { ids[number].map { context.object(with: $0) } }
        func person(_ number: Int) -> Person? { object(number) as? Person }
        switch edit {
        case .insert(let entity, let number): ids[number] = context.make(entity).objectID
        case .rename(let number, let name): person(number)?.name = name
        case .setAge(let number, let age): person(number)?.age = Int32(age)
        case .move(let number, let department): person(number)?.department = department.flatMap { object($0) as? Department }
        case .learn(let number, let skill): object(skill).map { _ = person(number)?.skills.insert($0) }
        case .unlearn(let number, let skill): object(skill).map { _ = person(number)?.skills.remove($0) }
        case .delete(let number): object(number).map { context.delete($0) }
        }
        context.processPendingChanges()
    }

    /// What the graph looks like in a context which has read nothing yet.
    func world(in context: NSManagedObjectContext) throws -> World {
        let numbers = Dictionary(ids.map { ($1, $0) }, uniquingKeysWith: { first, _ in first })
        var world = World()
        var members: [Int: Set<NSManagedObjectID>] = [:]
        for object in try context.all("Department") {
            let number = numbers[object.objectID] ?? -1
            world.departments.insert(number)
            members[number] = Set(object.objectIDs(forRelationshipNamed: "employees"))
        }
        for object in try context.all("Skill") { world.skills.insert(numbers[object.objectID] ?? -1) }
        for case let person as Person in try context.all("Person") {
            var human = World.Human(name: person.name, age: Int(person.age))
            human.department = person.objectIDs(forRelationshipNamed: "department").first.flatMap { numbers[$0] }
            if let department = human.department, !world.departments.contains(department) { human.department = nil }
            human.skills = Set(person.objectIDs(forRelationshipNamed: "skills").compactMap { numbers[$0] })
            // Both sides say the same.
            for (department, employees) in members where employees.contains(person.objectID) != (department == human.department) {
                human.department = -1
            }
            world.people[numbers[person.objectID] ?? -1] = human
        }
        return world
    }
}

/// The same numbers for the same seed.
struct SeededRandom: RandomNumberGenerator {
    private var state: UInt64

    init(seed: Int) { state = UInt64(truncatingIfNeeded: seed) &* 0x9E37_79B9_7F4A_7C15 | 1 }

    mutating func next() -> UInt64 {
        state ^= state << 13
        state ^= state >> 7
        state ^= state << 17
        return state
    }

    mutating func next(upTo bound: Int) -> Int { Int(next() % UInt64(bound)) }
    mutating func element<T>(_ values: [T]) -> T? { values.isEmpty ? nil : values[next(upTo: values.count)] }
}
