import Foundation
import OpenCoreData
import Testing

/// What can be inferred of two versions of a model, and what can't.
@Suite struct MappingModelTests {
    private static func entity(_ name: String, was: String? = nil, _ properties: NSPropertyDescription...) -> NSEntityDescription {
        let made = StoreModels.entity(name, properties)
        made.renamingIdentifier = was
        return made
    }

    private static func attribute(
        _ name: String, _ type: NSAttributeDescription.AttributeType = .string, was: String? = nil, isOptional: Bool = true, initial: Any? = nil
    ) -> NSAttributeDescription {
        let made = NSAttributeDescription(name: name, type: type, isOptional: isOptional, defaultValue: initial)
        made.renamingIdentifier = was
        return made
    }

    private static func infer(_ old: [NSEntityDescription], _ new: [NSEntityDescription]) throws -> [NSEntityMapping] {
        try NSMappingModel.inferredMappingModel(
            forSourceModel: NSManagedObjectModel(entities: old), destinationModel: NSManagedObjectModel(entities: new)
        ).entityMappings
    }

    private static func refusal(_ old: [NSEntityDescription], _ new: [NSEntityDescription]) throws -> String {
        let error = #expect(throws: NSError.self) { _ = try infer(old, new) }
        #expect(error?.code == NSInferredMappingModelError)
        return try #require(error?.userInfo["reason"] as? String)
    }

    // G2, G3
    @Test func entitiesAreRecognisedByNameOrIdentifier() throws {
        let old = [Self.entity("City", Self.attribute("name")), Self.entity("River"), Self.entity("Same", Self.attribute("x"))]
        let new = [
            Self.entity("Town", was: "City", Self.attribute("title", was: "name"), Self.attribute("mayor")), Self.entity("Lake"),
            Self.entity("Same", Self.attribute("x")),
        ]
        let mappings = try Self.infer(old, new)
        #expect(mappings.map(\.name) == ["IEM_Add_Lake", "IEM_Copy_Same", "IEM_Remove_River", "IEM_Transform_Town"])
        #expect(
            mappings.map(\.mappingType) == [.addEntityMappingType, .copyEntityMappingType, .removeEntityMappingType, .transformEntityMappingType])
        let town = try #require(mappings.last)
        #expect(town.sourceEntityName == "City" && town.destinationEntityName == "Town")
        #expect(town.sourceEntityVersionHash == old[0].versionHash && town.destinationEntityVersionHash == new[0].versionHash)
        #expect(town.attributeMappings?.map(\.name) == ["title"])
        #expect(town.attributeMappings?.first?.valueExpression?.keyPath == "name")
        #expect(mappings[0].attributeMappings == nil && mappings[0].sourceEntityName == nil)
    }

    // G3
    @Test func everythingThatStandsInTheWayIsSaidAtOnce() throws {
        let country = Self.entity("Country"), nation = Self.entity("Country"),
            old = Self.entity("City", Self.attribute("a", .string), Self.attribute("b", .double))
        old.properties += [NSRelationshipDescription(name: "countries", destination: country, toMany: true)]
        let new = Self.entity("City", Self.attribute("a", .date), Self.attribute("b", .float), Self.attribute("c", isOptional: false))
        new.properties += [NSRelationshipDescription(name: "countries", destination: nation, toMany: false)]
        let reason = try Self.refusal([old, country], [new, nation])
        #expect(
            reason == "City.a was String, which not always is Date; City.b was Double, which not always is Float; "
                + "City.c is required and has no default value for objects that have none; "
                + "City.countries was a to-many and is a to-one, which has no place for the others")
    }

    // G2
    @Test func whatIsInheritedIsSaidOfTheEntityThatDeclaresIt() throws {
        let old = Self.entity("Animal", Self.attribute("name")), dog = Self.entity("Dog")
        old.subentities = [dog]
        let new = Self.entity("Animal", Self.attribute("name", .integer16)), newDog = Self.entity("Dog")
        new.subentities = [newDog]
        #expect(try Self.refusal([old, dog], [new, newDog]) == "Animal.name was String, which not always is Integer 16")
    }

    // G2
    @Test(arguments: [
        (NSAttributeDescription.AttributeType.integer16, [NSAttributeDescription.AttributeType.integer32, .integer64, .double, .decimal, .string]),
        (.integer64, [.double, .decimal, .string]), (.boolean, [.integer16, .integer32, .integer64, .double, .decimal]), (.float, [.double]),
        (.uuid, [.string]), (.uri, [.string]),
    ]) func aTypeThatHoldsEveryValueIsInferred(_ type: NSAttributeDescription.AttributeType, _ wider: [NSAttributeDescription.AttributeType]) throws {
        let all: [NSAttributeDescription.AttributeType] = [
            .integer16, .integer32, .integer64, .decimal, .double, .float, .string, .boolean, .date, .binaryData, .uuid, .uri, .transformable,
        ]
        for other in all {
            let old = [Self.entity("A", Self.attribute("x", type))], new = [Self.entity("A", Self.attribute("x", other))]
            if other == type || wider.contains(other) { _ = try Self.infer(old, new) } else { _ = try Self.refusal(old, new) }
        }
    }

    // G2
    @Test func namesThatAreExchangedKeepTheirValues() throws {
        let old = [Self.entity("A", Self.attribute("x"), Self.attribute("y"))]
        let new = [Self.entity("A", Self.attribute("x", was: "y"), Self.attribute("y", was: "x"))]
        let mapping = try #require(try Self.infer(old, new).first)
        let pairs = (mapping.attributeMappings ?? []).map { ($0.name ?? "") + " from " + ($0.valueExpression?.keyPath ?? "") }
        #expect(pairs == ["x from y", "y from x"])
    }

    // G2
    @Test func anInverseOfWhatIsKnownNeedsNoIdentifierOfItsOwn() throws {
        func model(_ name: String, was: String?, _ inverse: String) -> [NSEntityDescription] {
            let city = Self.entity("City"), country = Self.entity("Country")
            StoreModels.relate(city, name, toMany: false, country, inverse, inverseToMany: true)
            city.propertiesByName[name]?.renamingIdentifier = was
            return [city, country]
        }
        let mappings = try Self.infer(model("country", was: nil, "cities"), model("nation", was: "country", "towns"))
        #expect(mappings.map { $0.relationshipMappings?.map(\.name) } == [["nation"], ["towns"]])
    }

    // G2
    @Test func aMemberThatMayHaveHadSeveralOwnersIsNotGivenToOne() throws {
        let city = Self.entity("City"), country = Self.entity("Country"), newCity = Self.entity("City"), newCountry = Self.entity("Country")
        country.properties = [NSRelationshipDescription(name: "cities", destination: city, toMany: true)]
        StoreModels.relate(newCountry, "cities", toMany: true, newCity, "country", inverseToMany: false)
        #expect(
            try Self.refusal([city, country], [newCity, newCountry])
                == "Country.cities has an inverse, country, that is a to-one: a member may have had several owners")
    }
}
