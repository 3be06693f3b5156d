import Foundation
import Testing

@testable import OpenCoreData

/// What a fetch is in the SQL of another database than SQLite. What it finds is tested where there are stores.
@Suite struct SQLDialectTests {
    private let model: NSManagedObjectModel
    private let schema: SQLSchema

    init() throws {
        let attribute = StoreModels.attribute
        let owner = StoreModels.entity(
            "Owner",
            [
                attribute("name", .string), attribute("age", .integer32), attribute("score", .double), attribute("flag", .boolean),
                attribute("money", .decimal), attribute("born", .date), attribute("token", .uuid),
            ])
        owner.uniquenessConstraints = [["name"]]
        let pet = StoreModels.entity("Pet", [attribute("name", .string), attribute("weight", .double), attribute("price", .decimal)])
        let tag = StoreModels.entity("Tag", [attribute("word", .string)])
        StoreModels.relate(owner, "boss", toMany: false, owner, "reports", inverseToMany: true)
        StoreModels.relate(owner, "pets", toMany: true, pet, "owner", inverseToMany: false)
        StoreModels.relate(pet, "tags", toMany: true, tag, "pets", inverseToMany: true)
        model = NSManagedObjectModel(entities: [owner, pet, tag])
        model.freeze()
        schema = try SchemaBuilder.schema(for: model.entities, in: PostgreSQLDialect(), known: nil) { _ in false }
    }

    /// The SELECT of the primary keys that a fetch finds.
    private func query(
        _ entity: String, _ format: String = "TRUEPREDICATE", _ arguments: [Any?] = [], _ change: (inout FetchPlan) -> Void = { _ in }
    ) throws -> SQLTranslator.Query {
        var plan = FetchPlan(entity: try #require(model.entitiesByName[entity]))
        plan.predicate = try NSPredicate.parse(format, arguments: arguments).node
        change(&plan)
        let translator = SQLTranslator(schema: schema, identity: StoreIdentity(uuid: "2B1C0B5E-6E0F-4F0C-9A57-3B7B6C1F9D11"))
        return try translator.query(plan) { "\($0).Z_PK" }
    }

    /// The condition of that SELECT, and its parameters.
    private func condition(
        _ format: String, _ arguments: [Any?] = [], of entity: String = "Owner"
    ) throws -> (sql: String, parameters: [SQLParameter]) {
        let query = try query(entity, format, arguments)
        let head = #"SELECT t1.Z_PK FROM "Z\#(entity.uppercased())" AS t1 WHERE ("#, tail = ") ORDER BY t1.Z_PK"
        try #require(query.sql.hasPrefix(head) && query.sql.hasSuffix(tail), "\(query.sql)")
        return (String(query.sql.dropFirst(head.count).dropLast(tail.count)), query.parameters)
    }

    private func table(_ name: String) throws -> TableMap { try #require(schema.tables.first { $0.name == name }) }

    // MARK: Comparisons

    @Test(arguments: [
        ("name == nil", #"t1."ZNAME" IS NOT DISTINCT FROM NULL"#), ("name != nil", #"NOT (t1."ZNAME" IS NOT DISTINCT FROM NULL)"#),
        ("boss == nil", #"t1."ZBOSS" IS NOT DISTINCT FROM NULL"#),
    ])
    func nilIsComparedAsAValue(format: String, sql: String) throws {
        let condition = try condition(format)
        #expect(condition.sql == sql)
        #expect(condition.parameters == [])
    }

    @Test func constantsAreParametersWithTheirNumber() throws {
        let condition = try condition("name == 'Ada' AND age != 3")
        #expect(condition.sql == #"(t1."ZNAME" IS NOT DISTINCT FROM $1) AND (NOT (t1."ZAGE" IS NOT DISTINCT FROM $2))"#)
        #expect(condition.parameters == [.text("Ada"), .integer(3)])
    }

    @Test(arguments: [("TRUEPREDICATE", "TRUE"), ("FALSEPREDICATE", "FALSE"), ("1 == 2", "FALSE"), ("name < 3", "FALSE")])
    func whatIsKnownBeforehandIsATruthValue(format: String, sql: String) throws {
        #expect(try condition(format).sql == sql)
    }

    @Test func aPrefixIsARange() throws {
        let condition = try condition("name BEGINSWITH 'ab'")
        #expect(condition.sql == #"(t1."ZNAME" >= $1 AND t1."ZNAME" < $2)"#)
        #expect(condition.parameters == [.text("ab"), .text("ac")])
    }

    @Test(arguments: ["name CONTAINS 'b'", "'b' IN name"])
    func aPartOfATextIsLookedForInIt(format: String) throws {
        let condition = try condition(format)
        #expect(condition.sql == #"strpos(t1."ZNAME", $1) > 0"#)
        #expect(condition.parameters == [.text("b")])
    }

    // MARK: Lists

    @Test func aShortListIsComparedOneByOne() throws {
        let condition = try condition("age IN {1, 2}")
        #expect(condition.sql == #"(t1."ZAGE" IS NOT DISTINCT FROM $1) OR (t1."ZAGE" IS NOT DISTINCT FROM $2)"#)
        #expect(condition.parameters == [.integer(1), .integer(2)])
    }

    @Test func aLongListIsOneParameter() throws {
        let numbers = try condition("age IN %@", [Array(1...9)])
        #expect(numbers.sql == #"t1."ZAGE" IN (SELECT unnest($1::bigint[]))"#)
        #expect(numbers.parameters == [.text("{1,2,3,4,5,6,7,8,9}")])
        let mixed = try condition("score IN {1, 2, 3, 4, 5, 6, 7, 8, 0.5}")
        #expect(mixed.sql == #"t1."ZSCORE" IN (SELECT unnest($1::numeric[]))"#)
        #expect(mixed.parameters == [.text("{1,2,3,4,5,6,7,8,0.5}")])
        let tokens = try condition("token IN %@", [(1...9).map { StorePredicateTests.uuid($0 % 2) }])
        #expect(tokens.sql == #"t1."ZTOKEN" IN (SELECT unnest($1::bytea[]))"#)
        let bytes = [1, 0].map { first in "\"\\\\x\(first == 1 ? "32" : "00")0102030405060708090a0b0c0d0e0\(first)\"" }
        #expect(tokens.parameters == [.text("{" + (0..<9).map { bytes[$0 % 2] }.joined(separator: ",") + "}")])
    }

    @Test func textsOfAListAreQuotedAndANilStandsBesideThem() throws {
        let names: [Any] = ["a", "b", "c", "d", "e", "f", "quo\"te", "back\\slash", "accent\"\u{301}", NSNull()]
        let condition = try condition("name IN %@", [names])
        #expect(condition.sql == #"(t1."ZNAME" IS NULL OR t1."ZNAME" IN (SELECT unnest($1::text[])))"#)
        #expect(condition.parameters == [.text("{\"a\",\"b\",\"c\",\"d\",\"e\",\"f\",\"quo\\\"te\",\"back\\\\slash\",\"accent\\\"\u{301}\"}")])
    }

    @Test func aTextThatTheDatabaseCannotHoldIsRefusedInAList() throws {
        let error = #expect(throws: NSError.self) { try condition("name IN %@", [(0..<9).map { "\($0)\u{0}" }]) }
        #expect(error?.localizedDescription.contains("PostgreSQL store can't translate a long list") == true)
    }

    // MARK: Windows and order

    @Test(arguments: [(5, 0, " LIMIT $2"), (5, 10, " LIMIT $2 OFFSET $3"), (0, 10, " OFFSET $2"), (0, 0, "")])
    func aWindowHasWhatWasAskedForAlone(limit: Int, offset: Int, end: String) throws {
        let query = try query("Owner", "age > 3") { ($0.limit, $0.offset) = (limit, offset) }
        #expect(query.sql == #"SELECT t1.Z_PK FROM "ZOWNER" AS t1 WHERE (t1."ZAGE" > $1) ORDER BY t1.Z_PK"# + end)
        let counts = [limit, offset].filter { $0 > 0 }.map { SQLParameter.integer(Int64($0)) }
        #expect(query.parameters == [.integer(3)] + counts)
    }

    @Test func anOrderReachesOverToOnesAndEndsWithThePrimaryKey() throws {
        let query = try query("Owner", "boss.age > 3") {
            $0.sort = [SortKey(path: ["name"], isAscending: true), SortKey(path: ["boss", "age"], isAscending: false)]
        }
        #expect(
            query.sql == #"SELECT t1.Z_PK FROM "ZOWNER" AS t1 LEFT JOIN "ZOWNER" AS t2 ON t2.Z_PK = t1."ZBOSS" WHERE (t2."ZAGE" > $1) "#
                + #"ORDER BY t1."ZNAME" ASC NULLS FIRST, t2."ZAGE" DESC NULLS LAST, t1.Z_PK"#)
    }

    // MARK: To-manys

    @Test(arguments: [
        ("ANY pets.name == 'Rex'", #"EXISTS (SELECT 1 FROM "ZPET" AS t2 WHERE (t2."ZOWNER" = t1.Z_PK) AND (t2."ZNAME" IS NOT DISTINCT FROM $1))"#),
        (
            "ALL pets.weight > 3",
            #"NOT EXISTS (SELECT 1 FROM "ZPET" AS t2 WHERE (t2."ZOWNER" = t1.Z_PK) AND (NOT (COALESCE(t2."ZWEIGHT" > $1, FALSE))))"#
        ),
        (
            "NONE pets.weight > 3",
            #"NOT (EXISTS (SELECT 1 FROM "ZPET" AS t2 WHERE (t2."ZOWNER" = t1.Z_PK) AND (COALESCE(t2."ZWEIGHT" > $1, FALSE))))"#
        ),
        (
            "ANY pets.tags.word == 'old'",
            #"EXISTS (SELECT 1 FROM "ZPET" AS t2 LEFT JOIN ("Z_2TAGS" AS t4 JOIN "ZTAG" AS t3 ON t3.Z_PK = t4."Z_3TAGS") ON t4."Z_2PETS" = t2.Z_PK "#
                + #"WHERE (t2."ZOWNER" = t1.Z_PK) AND (t3.Z_PK IS NOT NULL OR t2.Z_PK IS NULL) AND (t3."ZWORD" IS NOT DISTINCT FROM $1))"#
        ),
    ])
    func aToManyIsASelectOfItsOwn(format: String, sql: String) throws {
        #expect(try condition(format).sql == sql)
    }

    @Test func pairsAreJoinedWithTheirMembers() throws {
        #expect(
            try condition("ANY tags.word == 'old'", of: "Pet").sql
                == #"EXISTS (SELECT 1 FROM "Z_2TAGS" AS t3 JOIN "ZTAG" AS t2 ON t2.Z_PK = t3."Z_3TAGS" "#
                + #"WHERE (t3."Z_2PETS" = t1.Z_PK) AND (t2."ZWORD" IS NOT DISTINCT FROM $1))"#)
    }

    @Test(arguments: [
        ("pets.@count > 2", #"(SELECT COUNT(*) FROM "ZPET" AS t2 WHERE (t2."ZOWNER" = t1.Z_PK)) > $1"#, SQLParameter.integer(2)),
        (
            "pets.@sum.weight >= 10", #"(SELECT COALESCE(SUM(t2."ZWEIGHT"), 0) FROM "ZPET" AS t2 WHERE (t2."ZOWNER" = t1.Z_PK)) >= $1"#,
            .integer(10)
        ),
        ("pets.@avg.weight < 2.5", #"(SELECT AVG(t2."ZWEIGHT") FROM "ZPET" AS t2 WHERE (t2."ZOWNER" = t1.Z_PK)) < $1"#, .double(2.5)),
        ("pets.@max.name == 'z'", #"(SELECT MAX(t2."ZNAME") FROM "ZPET" AS t2 WHERE (t2."ZOWNER" = t1.Z_PK)) IS NOT DISTINCT FROM $1"#, .text("z")),
    ])
    func aCollectionOperatorIsAnAggregate(format: String, sql: String, parameter: SQLParameter) throws {
        let condition = try condition(format)
        #expect(condition.sql == sql)
        #expect(condition.parameters == [parameter])
    }

    // MARK: Negation

    @Test(arguments: [
        ("NOT age > 3", #"NOT (COALESCE(t1."ZAGE" > $1, FALSE))"#),
        ("NOT name CONTAINS 'b'", #"NOT (COALESCE(strpos(t1."ZNAME", $1) > 0, FALSE))"#),
        ("NOT name BEGINSWITH 'b'", #"NOT (COALESCE((t1."ZNAME" >= $1 AND t1."ZNAME" < $2), FALSE))"#),
        ("NOT (age > 3 OR flag == YES)", #"NOT ((COALESCE(t1."ZAGE" > $1, FALSE)) OR (t1."ZFLAG" IS NOT DISTINCT FROM $2))"#),
    ])
    func whatIsTurnedRoundIsNeverUnknown(format: String, sql: String) throws {
        #expect(try condition(format).sql == sql)
    }

    // MARK: What the database has no function for

    @Test func decimalsAreOnlyComparedForEquality() throws {
        let amount = Decimal(string: "12.50") ?? 0
        let equal = try condition("money == %@", [amount])
        #expect(equal.sql == #"t1."ZMONEY" IS NOT DISTINCT FROM $1"#)
        #expect(equal.parameters == [.text("12.5")])
        #expect(try condition("money == 12").parameters == [.integer(12)])
        refuses("decimal") { try condition("money > %@", [amount]) }
        refuses("decimal") { try query("Owner") { $0.sort = [SortKey(path: ["money"], isAscending: true)] } }
    }

    @Test(arguments: [
        ("money > 1", SQLFunction.order), ("money == 1.5", .same), ("pets.@sum.price > 1", .aggregate), ("name ==[c] 'ada'", .fold),
        ("name LIKE 'a*'", .match), ("name BEGINSWITH[c] 'a'", .match),
    ])
    func whatNeedsAFunctionIsRefusedByItsName(format: String, function: SQLFunction) {
        refuses(function.rawValue) { try condition(format) }
    }

    @Test func theOrderOfALanguageIsRefused() {
        refuses("sort_key") {
            try query("Owner") { $0.sort = [SortKey(path: ["name"], isAscending: true, selector: .localizedCompare)] }
        }
    }

    private func refuses<T>(_ function: String, sourceLocation: SourceLocation = #_sourceLocation, _ body: () throws -> T) {
        let error = #expect(throws: NSError.self, sourceLocation: sourceLocation) { _ = try body() }
        let sentence = error?.localizedDescription ?? ""
        #expect(
            sentence.hasPrefix("A PostgreSQL store can't translate what it has no function for (\(function))."), "\(sentence)",
            sourceLocation: sourceLocation)
    }

    // MARK: Tables

    @Test func columnsHaveTheDatabasesTypes() throws {
        #expect(
            try table("ZOWNER").columns.map { "\($0.name) \($0.declaration)" } == [
                "ZAGE BIGINT", "ZBOSS BIGINT", "ZFLAG SMALLINT", "ZBORN DOUBLE PRECISION", "ZSCORE DOUBLE PRECISION", "ZMONEY NUMERIC",
                #"ZNAME TEXT COLLATE "C""#, "ZTOKEN BYTEA",
            ])
        #expect(schema.tables.allSatisfy { $0.sum == nil })
    }

    @Test func indexesNameColumnsAsTheyAreDeclared() throws {
        #expect(
            try table("ZOWNER").indexes.map(\.sql) == [
                #"CREATE INDEX "ZOWNER_ZBOSS_INDEX" ON "ZOWNER" ("ZBOSS")"#,
                #"CREATE UNIQUE INDEX "Z_Owner_UNIQUE_name" ON "ZOWNER" ("ZNAME")"#,
            ])
    }

    @Test func viewsShowValuesInTheDatabasesWords() throws {
        let views = Dictionary(uniqueKeysWithValues: schema.views().map { ($0.name, $0.sql) })
        #expect(
            views["Pet"] == #"CREATE VIEW "Pet" AS SELECT t."ZNAME" AS "name", t."ZWEIGHT" AS "weight", t."ZPRICE" AS "price", "#
                + #"(SELECT k."ZNAME" FROM "ZOWNER" AS k WHERE k.Z_PK = t."ZOWNER") AS "owner", t.Z_PK AS "_pk" FROM "ZPET" AS t"#)
        let owner = try #require(views["Owner"])
        #expect(owner.contains(#"encode(t."ZTOKEN", 'hex')::uuid::text AS "token""#))
        #expect(owner.contains(#"to_char(to_timestamp(t."ZBORN" + 978307200) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS')"#))
    }
}
