import JSONReader
import Testing

/// The hash of what a JSON text says.
@Suite struct ContentHashTests {
    private func hash(_ json: String) throws -> JSONHash {
        let plan = JSONFieldPlan([JSONField("value", path: JSONPath(keys: ["value"]), capture: .raw)])
        var found: JSONHash?
        _ = try JSONRecordReader().read(body: Array("[{\"value\": \(json)}]".utf8), plan: plan) { record in
            found = record.rawValue(of: 0)?.contentHash
        }
        return try #require(found)
    }

    @Test(arguments: [
        (#"{"a": 1, "b": 2}"#, #"{ "b":2,"a" : 1 }"#), (#"{"a": {"x": [], "y": {}}}"#, "{\"a\":\n\t{\"y\":{ },\"x\":[ ]}}"),
        (#"[1, "a,b", {"k": "}"}]"#, #"[ 1 ,"a,b",{"k":"}"} ]"#), (#"{"a\"b": "\\", "c": ":{"}"#, #"{"c": ":{", "a\"b": "\\"}"#),
        ("{}", "{  }"), ("[]", "[ ]"), ("-1.5e3", "-1.5e3"), ("[[[]],[]]", "[ [ [ ] ] , [ ] ]"),
    ])
    func theOrderOfMembersAndWhiteSpaceSayNothing(one: String, other: String) throws {
        #expect(try hash(one) == hash(other))
    }

    @Test func whateverElseDiffersIsAnotherHash() throws {
        let texts = [
            "{}", "[]", "\"\"", "\"{}\"", "null", "true", "false", "0", "1", "1.0", "\"1\"", "[1]", "[[1]]", "[1,1]", "[1,2]", "[2,1]", "[12]",
            #"{"a":1}"#, #"{"a":2}"#, #"{"b":1}"#, #"{"a":"b"}"#, #"{"b":"a"}"#, #"{"a":1,"b":2}"#, #"{"a":2,"b":1}"#, #"{"a":[1],"b":[]}"#,
            #"{"a":[],"b":[1]}"#, #"{"a":{"b":1}}"#, #"["a",1]"#, #"[{"a":1}]"#, #"[{"a":1},{}]"#, "[null]", "[[],[]]", "[[[]]]", #""\"""#, #""\\""#,
        ]
        #expect(Set(try texts.map { try hash($0) }).count == texts.count)
    }
}
