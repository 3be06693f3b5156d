import Foundation
public import SyncConfiguration

/// Tries resources on their services with the standard tests (``ResourceCheck``), and keeps nothing: no daemon, no mirror.
public enum ServiceCheck {
    /// The most requests that are made for a resource; further attempts, and those that redirects lead to, count.
    public static let mostRequests = 4

    /// Checks resources, one after the other.
    ///
    /// - Parameters:
    ///   - tokens: those that are fetched on the way.
    ///   - each: gets each resource's tests as soon as they are done.
    /// - Throws: what the model says of itself, and what `each` throws.
    public static func run(
        _ resources: [ResourceConfiguration], configuration: CisternConfiguration, transports: TransportPool, clock: any SyncClock,
        secrets: SecretResolver, tokens: TokenPool = TokenPool(), version: String, each: (ResourceCheck) throws -> Void
    ) async throws {
        let bench = try TrialBench(configuration, transports: transports, clock: clock, secrets: secrets, tokens: tokens, version: version)
        var checker = ResourceChecker(bench)
        for resource in resources { try each(await checker.check(resource)) }
    }
}

/// Checks resources, and knows what it has asked for already: a first page that lists parents is not fetched twice.
struct ResourceChecker {
    let bench: TrialBench
    private let patience = Patience()
    private var firsts: [String: FirstPage] = [:]
    private var counts: [String: RequestCount] = [:]

    init(_ bench: TrialBench) { self.bench = bench }

    /// The first page of a resource.
    private struct FirstPage: Sendable {
        /// What became of the search for a part.
        let parents: ResourceCheck.Test
        /// Nil: there was nothing to ask for.
        var asked: Asked?
        /// Why there was nothing, or what was asked cannot be read.
        var obstacle = ""
        /// Nothing was asked because the configuration says nothing that could be.
        var isMisconfigured = false
    }

    private struct Asked: Sendable {
        let part: Partition
        let recipe: PageRecipe
        let pagination: Pagination
        let answer: Answer
        /// Of an answer that is a page.
        var page: Result<CheckedPage, any Error>?
    }

    /// What came of a request.
    enum Answer: Sendable {
        case page(FetchedPage)
        case unmodified(UnmodifiedPage)
        case failed(FetchError)
        /// The server asked to be left alone.
        case putOff(String)
        /// There were as many requests as there may be.
        case spent

        /// Why a test was not tried; nil: it was.
        var reason: String? {
            switch self {
            case .page, .unmodified, .failed: nil
            case .putOff(let reason): reason
            case .spent: "\(ServiceCheck.mostRequests) requests were made for this resource already"
            }
        }
    }

    // MARK: The recipe

    /// Does all tests of a resource.
    mutating func check(_ resource: ResourceConfiguration) async -> ResourceCheck {
        var report = ResourceCheck(scope: resource.scope), tests: [ResourceCheck.Test] = []
        let first = await first(of: resource)
        let others = await perform(resource, first, into: &tests)
        if resource.partitions != nil { report.part = first.asked.map { RemoteText.line($0.part.name, limit: 100) } }
        report.requests = count(of: resource).value
        report.isPutOff = patience.hasRefused(resource.scope)
        report.take(tests, others: others)
        return report
    }

    /// - Returns: why the tests that are not among them were not tried.
    private mutating func perform(
        _ resource: ResourceConfiguration, _ first: FirstPage, into tests: inout [ResourceCheck.Test]
    ) async -> String {
        tests.append(first.parents)
        guard let asked = first.asked else {
            if first.isMisconfigured {
                tests.append(.failed(.answers, first.obstacle, .configuration, ResourceCheck.Change("path", "an address that can be asked")))
            }
            return first.isMisconfigured ? "there is nothing that could be asked for" : first.obstacle
        }
        let redactor = asked.recipe.settings.redactor
        tests.append(AnswerTest.test(asked.answer, of: resource))
        if let parents = AnswerTest.parents(asked.answer, of: resource, part: asked.part.name) { tests[0] = parents }
        guard case .page = asked.answer else { return asked.answer.reason ?? "the first page did not come" }
        let page: CheckedPage
        do {
            guard let read = try asked.page?.get() else { return "the first page did not come" }
            page = read
        } catch {
            tests.append(RecordTests.unreadable(error, of: resource, redactor))
            return "the first page cannot be read"
        }
        tests += RecordTests(page: page, resource: resource, redactor: redactor).all
        var pagination = asked.pagination
        if let facts = page.facts {
            let listing = ListingTests(resource: resource, redactor: redactor, first: page, facts: facts, step: pagination.advance(facts))
            let second = await self.second(listing, asked.recipe, pagination)
            tests += [listing.totalAgrees(second), listing.secondPageDiffers(second), listing.deletionSafe()]
        }
        tests.append(await etagHonoured(page, asked, resource))
        tests.append(await sinceFilters(page, asked, resource))
        return "the first page cannot be mapped"
    }

    // MARK: The first page

    private mutating func first(of resource: ResourceConfiguration) async -> FirstPage {
        if let known = firsts[resource.scope] { return known }
        let first = await askFirst(resource)
        firsts[resource.scope] = first
        return first
    }

    private mutating func askFirst(_ resource: ResourceConfiguration) async -> FirstPage {
        let (part, parents) = await self.part(of: resource)
        guard let part else {
            return FirstPage(parents: parents, obstacle: "there is no part to ask for: \(parents.detail)")
        }
        let now = bench.clock.wallTime, recipe: PageRecipe
        do {
            let increment = resource.incremental.map { Increment($0, before: nil, isFull: true, now: now) }
            recipe = try bench.recipe(of: resource, for: part, increment, now: now)
        } catch {
            let words = error.inWords
            guard resource.partitions != nil else { return FirstPage(parents: parents, obstacle: words, isMisconfigured: true) }
            let change = ResourceCheck.Change("for_each.where", "a predicate that leaves out objects without the values that the templates need")
            return FirstPage(parents: .failed(.parentsKnown, words, .configuration, change), obstacle: "there is no part to ask for: \(words)")
        }
        let pagination = Pagination(recipe.resource, first: recipe.settings.first)
        let answer = await ask(pagination.request, recipe, of: resource)
        var asked = Asked(part: part, recipe: recipe, pagination: pagination, answer: answer)
        if case .page(let fetched) = answer { asked.page = Result { try CheckedPage(fetched, by: recipe, in: bench.document, now: now) } }
        return FirstPage(parents: parents, asked: asked)
    }

    /// A part of a resource to try, and how that was found.
    private mutating func part(of resource: ResourceConfiguration) async -> (Partition?, ResourceCheck.Test) {
        guard let partitions = resource.partitions else { return (Partition.none, .notTried(.parentsKnown, "the resource is one list")) }
        if case .values(let values) = partitions.kind {
            guard let first = values.first else { return (nil, .notTried(.parentsKnown, "for_each.values is empty")) }
            return (Partition(value: first, as: partitions.alias), .notTried(.parentsKnown, "its parts are values, and no objects"))
        }
        guard let list = ParentList(of: resource), let parents = bench.configuration.resource(scope: list.parents.resource) else {
            let change = ResourceCheck.Change("for_each.resource", "a resource of this configuration")
            return (nil, .failed(.parentsKnown, "what lists the parents is not there", .configuration, change))
        }
        let first = await first(of: parents)
        if patience.hasRefused(parents.scope) { patience.refuse(resource.scope) }
        guard let asked = first.asked else { return (nil, .notTried(.parentsKnown, "\(parents.scope): \(first.obstacle)")) }
        if let reason = asked.answer.reason { return (nil, .notTried(.parentsKnown, "\(parents.scope): \(reason)")) }
        guard case .page = asked.answer, let reading = try? asked.page?.get().reading.get() else {
            let why = AnswerTest.test(asked.answer, of: parents)
            let change = ResourceCheck.Change("for_each.resource", "a resource that answers; see the tests of \(parents.scope)")
            let detail = "\(parents.scope): " + (why.outcome == .failed ? why.detail : "its first page cannot be read")
            return (nil, .failed(.parentsKnown, detail, why.fault ?? .answer, change))
        }
        do {
            if let part = try await bench.parts(list, among: reading.members).first {
                return (part, .passed(.parentsKnown, "tried with \(RemoteText.line(part.name, limit: 60)) of \(parents.scope)"))
            }
        } catch {
            let change = ResourceCheck.Change("for_each.where", "a predicate over \(list.parents.entity)")
            return (nil, .failed(.parentsKnown, error.inWords, .configuration, change))
        }
        let condition = list.parents.filter.map { _ in " that is what for_each.where says" } ?? ""
        let change = list.parents.filter.map { _ in ResourceCheck.Change("for_each.where", "a predicate that some of them fulfil") }
        return (nil, .warned(.parentsKnown, "the first page of \(parents.scope) has no object\(condition)", change))
    }

    // MARK: Further requests

    private mutating func second(_ listing: ListingTests, _ recipe: PageRecipe, _ pagination: Pagination) async -> ListingTests.Second {
        guard case .next(let request) = listing.step else { return .none }
        let answer = await ask(request, recipe, of: listing.resource)
        guard case .page(let fetched) = answer else { return .noPage(answer, request) }
        do {
            let page = try CheckedPage(fetched, by: recipe, in: bench.document, now: bench.clock.wallTime)
            var after = pagination
            return .page(page, page.facts.map { after.advance($0) }, request)
        } catch {
            return .unreadable(RecordTests.words(error, listing.redactor), request)
        }
    }

    private mutating func etagHonoured(_ page: CheckedPage, _ asked: Asked, _ resource: ResourceConfiguration) async -> ResourceCheck.Test {
        if let reason = ValidatorTest.obstacle(page.fetched, of: resource) { return .notTried(.etagHonoured, reason) }
        let answer = await ask(asked.pagination.request, asked.recipe, of: resource, validators: page.fetched.validators)
        return ValidatorTest.test(answer, validators: page.fetched.validators, asked.recipe.settings.redactor)
    }

    private mutating func sinceFilters(_ page: CheckedPage, _ asked: Asked, _ resource: ResourceConfiguration) async -> ResourceCheck.Test {
        let test: SinceTest
        switch SinceTest.prepared(page, resource: resource, now: bench.clock.wallTime) {
        case .test(let prepared): test = prepared
        case .obstacle(let reason): return .notTried(.sinceFilters, reason)
        }
        do {
            let recipe = try bench.recipe(of: resource, for: asked.part, test.increment, now: test.increment.now)
            let answer = await ask(Pagination(recipe.resource, first: recipe.settings.first).request, recipe, of: resource)
            guard case .page(let fetched) = answer else { return test.judge(answer) }
            let newer = try CheckedPage(fetched, by: recipe, in: bench.document, now: bench.clock.wallTime)
            return test.judge(newer)
        } catch {
            let words = RecordTests.words(error, asked.recipe.settings.redactor)
            return .failed(.sinceFilters, "what was asked for since \(test.words) cannot be read: \(words)", .answer, test.change)
        }
    }

    private mutating func count(of resource: ResourceConfiguration) -> RequestCount {
        if let known = counts[resource.scope] { return known }
        let count = RequestCount()
        counts[resource.scope] = count
        return count
    }

    /// Asks for a page as a run would; a server that asks for a wait is not waited for.
    private mutating func ask(
        _ request: PageRequest, _ recipe: PageRecipe, of resource: ResourceConfiguration, validators: ConditionalGET? = nil
    ) async -> Answer {
        let count = count(of: resource), left = ServiceCheck.mostRequests - count.value, clock = bench.clock
        guard left > 0 else { return .spent }
        var settings = recipe.settings
        settings.retry.attempts = min(settings.retry.attempts, left)
        settings.retry.retryAfterPark = .zero
        let transport: CountedTransport
        do {
            transport = CountedTransport(try await bench.transport(recipe), count)
        } catch {
            return .failed(error as? FetchError ?? FetchError(.tls, detail: error.inWords, attempts: 0))
        }
        let origin = settings.first.origin, patience = patience
        let environment = FetchEnvironment(
            settings: settings, transport: transport, clock: clock,
            notBefore: { patience.until(origin, now: clock.wallTime) }, willWait: { patience.note(origin, until: $0) })
        let outcome = await PageFetch(
            request, validators: validators, recognisesUnmodified: validators != nil, environment: environment
        ).run()
        if transport.hasDenied {
            guard left == ServiceCheck.mostRequests else { return .spent }
            return .failed(
                FetchError(
                    .malformed, detail: "\(left) requests, and no page: the server leads elsewhere or refuses a token each time", attempts: left))
        }
        switch outcome {
        case .page(let page): return .page(page)
        case .notModified(let page): return .unmodified(page)
        case .parked(let until, _), .leftAlone(let until):
            patience.refuse(resource.scope)
            return .putOff("the server asked to be left alone until \(HTTPDate.format(until))")
        case .authenticationRejected(let error), .refused(let error), .failed(let error): return .failed(error)
        case .cancelled: return .failed(FetchError(.cancelled, attempts: 0))
        }
    }
}
