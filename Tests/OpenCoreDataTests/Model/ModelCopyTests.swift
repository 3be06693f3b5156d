import Foundation
import OpenCoreData
import OpenCoreDataTestSupport
import Testing

/// Models that are copied and merged.
@Suite struct ModelCopyTests {
    private func copy(_ model: NSManagedObjectModel) throws -> NSManagedObjectModel { try #require(model.copy() as? NSManagedObjectModel) }

    /// The company, with everything else that a model can say.
    private func fullModel() throws -> NSManagedObjectModel {
        let model = Company.model(), person = try #require(model.entitiesByName["Person"]), item = try #require(model.entitiesByName["Item"])
        let age = try #require(person.attributesByName["age"])
        age.minimumValue = 16
        age.maximumDecimal = 150
        age.renamingIdentifier = "years"
        age.userInfo = ["unit": "year"]
        person.attributesByName["name"]?.regularExpression = ".*"
        person.indexes = [NSFetchIndexDescription(name: "byAge", elements: [NSFetchIndexElementDescription(property: age)])]
        person.indexes[0].elements[0].isAscending = false
        person.versionHashModifier = "2"
        person.relationshipsByName["skills"]?.maxCount = 9
        let request = NSFetchRequest<any NSFetchRequestResult>(entityName: "Item")
        request.predicate = NSPredicate(format: "key != $FETCH_SOURCE.key")
        item.properties += [NSFetchedPropertyDescription(name: "others", fetchRequest: request)]
        item.isAbstract = false
        item.userInfo = ["plural": "items"]
        model.setEntities([person], forConfigurationName: "people")
        model.versionIdentifiers = ["one"]
        model.setFetchRequestTemplate(request, forName: "others")
        return model
    }

    // A1
    @Test func aCopySaysTheSame() throws {
        let model = try fullModel(), copy = try copy(model)
        #expect(copy.entityVersionHashesByName == model.entityVersionHashesByName)
        #expect(copy.entities.map(\.name) == model.entities.map(\.name) && copy.versionIdentifiers == ["one"])
        #expect(copy.configurations == ["people"] && copy.entities(forConfigurationName: "people")?.map(\.name) == ["Person"])
        #expect(Array(copy.fetchRequestTemplatesByName.keys) == ["others"])
        let person = try #require(copy.entitiesByName["Person"]), age = try #require(person.attributesByName["age"])
        #expect(age.minimumValue == 16 && age.maximumDecimal == 150 && age.defaultValue as? Int == 18)
        #expect(age.renamingIdentifier == "years" && age.userInfo?["unit"] as? String == "year")
        #expect(person.indexes.map(\.name) == ["byAge"] && person.indexes[0].elements.map(\.isAscending) == [false])
        #expect(copy.entitiesByName["Item"]?.userInfo?["plural"] as? String == "items")
        #expect(copy.entitiesByName["Item"]?.propertiesByName["others"] is NSFetchedPropertyDescription)
    }

    // A1
    @Test func nothingInACopyLeadsBackToTheOriginal() throws {
        let model = try fullModel(), copy = try copy(model)
        for entity in copy.entities {
            #expect(entity.managedObjectModel === copy && !model.entities.contains(entity))
            #expect(entity.superentity.map { copy.entities.contains($0) } != false)
            for (_, relationship) in entity.relationshipsByName {
                let destination = try #require(relationship.destinationEntity), inverse = try #require(relationship.inverseRelationship)
                let owner = try #require(inverse.entity)
                #expect(copy.entities.contains(destination))
                #expect(inverse.inverseRelationship === relationship && copy.entities.contains(owner))
            }
            for element in entity.indexes.flatMap(\.elements) {
                let property = try #require(element.property)
                #expect(entity.propertiesByName.values.contains(property))
            }
        }
    }

    // A2
    @Test func aCopyOfAModelInUseCanBeChanged() throws {
        let model = try fullModel(), stack = TestStack(model)
        let copy = try copy(model), person = try #require(copy.entitiesByName["Person"])
        person.properties.append(Company.attribute("email", .string))
        person.attributesByName["name"]?.isOptional = true
        #expect(copy.entityVersionHashesByName["Person"] != model.entityVersionHashesByName["Person"])
        #expect(copy.entityVersionHashesByName["Item"] == model.entityVersionHashesByName["Item"])
        let changed = TestStack(copy)
        try changed.root.performAndWait { () throws in
            let ada = Person(entity: person, insertInto: changed.root)
            ada.setValue("ada@example.org", forKey: "email")
            try changed.root.save()
        }
        try stack.root.performAndWait { () throws in
            let ada = Person(context: stack.root)
            #expect(ada.entity.propertiesByName["email"] == nil)
            try stack.root.save()
        }
    }

    // A10
    @Test func aStoreOfTheOriginalIsOpenedWithACopy() throws {
        let fixture = try StoreFixture(Company.model())
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: try copy(Company.model()))
        try coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: fixture.file)
    }

    // A11
    @Test func modelsAreMergedIntoOne() throws {
        func tag() -> NSEntityDescription {
            let tag = Company.entity("Tag")
            tag.properties = [Company.attribute("word", .string)]
            return tag
        }
        let person = Company.entity("Person"), place = Company.entity("Place"), spot = Company.entity("Spot"), known = tag()
        Company.relate(place, "spots", many: true, spot, "place", many: false)
        place.properties += [NSRelationshipDescription(name: "tag", destination: known, toMany: false)]
        let people = NSManagedObjectModel(entities: [person, tag()]), places = NSManagedObjectModel(entities: [place, spot, known])
        people.setEntities([person], forConfigurationName: "all")
        places.setEntities([place], forConfigurationName: "all")
        people.versionIdentifiers = ["p"]
        places.versionIdentifiers = ["q"]
        let merged = try #require(NSManagedObjectModel(byMerging: [people, places]))
        #expect(merged.entities.map(\.name) == ["Person", "Tag", "Place", "Spot"] && merged.versionIdentifiers == ["p", "q"])
        #expect(merged.entities(forConfigurationName: "all")?.map(\.name) == ["Person", "Place"])
        // The one that was taken, though it is of the other model.
        #expect(merged.entitiesByName["Place"]?.relationshipsByName["tag"]?.destinationEntity === merged.entitiesByName["Tag"])
        let stack = TestStack(merged)
        try stack.root.performAndWait { () throws in
            let place = stack.root.make("Place"), spot = stack.root.make("Spot"), tag = stack.root.make("Tag")
            spot.setValue(place, forKey: "place")
            place.setValue(tag, forKey: "tag")
            try stack.root.save()
            #expect((place.value(forKey: "spots") as? Set<NSManagedObject>) == [spot])
        }
        #expect(people.entities.map(\.name) == ["Person", "Tag"])
        #expect(person.managedObjectModel === people)
        #expect(known.managedObjectModel === places)
    }

    // A11
    @Test func noModelsMakeNone() {
        #expect(NSManagedObjectModel(byMerging: nil) == nil && NSManagedObjectModel(byMerging: []) == nil)
    }

    // A11
    @Test func twoEntitiesOfOneNameThatDifferAreNotMerged() async {
        await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let other = Company.entity("Item")
            _ = NSManagedObjectModel(byMerging: [Company.model(), NSManagedObjectModel(entities: [other])])
        }.trap(says: "two different entities named Item")
    }

    // A1, A2
    @Test func descriptionsInUseAreCopiedAndTheCopiesChange() throws {
        let model = try fullModel()
        _ = NSPersistentStoreCoordinator(managedObjectModel: model)
        let person = try #require(model.entitiesByName["Person"]), index = person.indexes[0]
        let copies: [any NSCopying] = [model, person, index, index.elements[0], try #require(person.attributesByName["age"])]
        for original in copies { #expect(type(of: original.copy(with: nil)) == type(of: original)) }
        let entity = try #require(person.copy() as? NSEntityDescription)
        #expect(entity.managedObjectModel == nil && entity.superentity == nil && entity !== person)
        #expect(entity.attributesByName.keys.sorted() == person.declaredProperties.compactMap { $0 as? NSAttributeDescription }.map(\.name).sorted())
        entity.name = "Somebody"
        entity.attributesByName["age"]?.isOptional.toggle()
        #expect(entity.indexes.map(\.name) == ["byAge"] && entity.indexes[0].entity === entity)
        #expect(entity.indexes[0].elements[0].property === entity.attributesByName["age"])
        entity.indexes[0].name = "byYears"
        let made = try #require(index.copy() as? NSFetchIndexDescription)
        made.name = "other"
        made.elements[0].isAscending = true
        #expect(made.entity == nil && made.elements[0].indexDescription === made && !index.elements[0].isAscending)
        #expect(person.name == "Person" && index.name == "byAge")
    }

    // A2
    @Test func anIndexInUseCannotBeChanged() async {
        await #expect(processExitsWith: .failure) {
            let age = NSAttributeDescription(name: "age", type: .integer16), person = NSEntityDescription()
            person.name = "Person"
            person.properties = [age]
            person.indexes = [NSFetchIndexDescription(name: "byAge", elements: [NSFetchIndexElementDescription(property: age)])]
            _ = NSPersistentStoreCoordinator(managedObjectModel: NSManagedObjectModel(entities: [person]))
            person.indexes[0].elements[0].isAscending = false
        }
    }

    // A4, A11
    @Test func aCopyHasThePartsOfIndexesAndTheWords() throws {
        let model = try fullModel(), index = try #require(model.entitiesByName["Person"]?.indexes[0])
        index.partialIndexPredicate = NSPredicate(format: "age > 3")
        index.elements[0].collationType = .rTree
        model.localizationDictionary = ["Entity/Person": "Mensch"]
        let copy = try copy(model), copied = try #require(copy.entitiesByName["Person"]?.indexes[0])
        #expect(copied.partialIndexPredicate == index.partialIndexPredicate && copied.elements[0].collationType == .rTree)
        #expect(copy.localizationDictionary == ["Entity/Person": "Mensch"])
    }
}
