import JSONPaths

extension HTTPConfiguration: ConfigurationTable {
    static var keys: [Key<Self>] {
        let timeout = Codec<TimeSpan>.timeSpan(.milliseconds(1) ... .hours(24))
        let size = Codec<ByteCount>.byteCount(.bytes(1) ... .gibibytes(1024))
        return [
            Key("user_agent", .automatic, \.userAgent),
            Key("headers", .headers, \.headers) { $1.headers = $1.headers.overlaid(with: $0) },
            Key("accept_encoding", .choices(ContentCoding.self, isEmptyAllowed: true), \.acceptEncoding),
            .inForce("http_version", "1.1"),
            Key("connect_timeout", timeout, \.connectTimeout),
            Key("first_byte_timeout", timeout, \.firstByteTimeout),
            Key("idle_timeout", timeout, \.idleTimeout),
            Key("total_timeout", timeout, \.totalTimeout),
            Key("min_speed", .minimumSpeed, \.minSpeed),
            Key("max_header_bytes", .byteCount(.kibibytes(1) ... .mebibytes(16)), \.maxHeaderBytes),
            Key("max_body_compressed", size, \.maxBodyCompressed),
            Key("max_body", size, \.maxBody),
            Key("max_ratio", .integer(1...100_000), \.maxRatio),
            Key("redirects", .choice(Reach.self), \.redirects),
            Key("max_redirects", .integer(0...20), \.maxRedirects),
            Key("next_links", .choice(Reach.self), \.nextLinks),
            Key("allow_private_networks", .privateNetworks, \.allowPrivateNetworks),
            .inForce("proxy", ""),
            Key("conditional", .choice(Conditional.self), \.conditional),
            Key("cookies", .choice(Cookies.self), \.cookies),
        ]
    }
}

extension TLSConfiguration: ConfigurationTable {
    static var keys: [Key<Self>] {
        [
            Key("min_version", .choice(Version.self), \.minVersion),
            Key("ca", .certificateAuthority, \.ca),
            Key("verify", .bool, \.verify),
            Key("insecure_reason", .text("why certificates are not checked", isEmptyAllowed: true, maxLength: 256), \.insecureReason),
            Key("client_cert", .pemOrNone, \.clientCertificate),
            Key("client_key", .pemOrNone, \.clientKey),
            Key("server_name", .serverName, \.serverName),
            Key("pin_sha256", .pins, \.pinSHA256),
        ]
    }
}

extension RetryConfiguration: ConfigurationTable {
    private enum RetryAfter: String, CaseIterable {
        /// Never earlier than told, even across a restart.
        case obey
    }

    static var keys: [Key<Self>] {
        let delay = Codec<TimeSpan>.timeSpan(.milliseconds(1) ... .hours(24))
        return [
            Key("attempts", .integer(1...100), \.attempts),
            Key("statuses", .statuses(isEmptyAllowed: true), \.statuses),
            Key("errors", .choices(Failure.self, isEmptyAllowed: true), \.errors),
            Key("methods", .retriedMethods, \.methods),
            Key("base", delay, \.base),
            Key("factor", .number(1...100), \.factor),
            Key("max_delay", delay, \.maxDelay),
            Key("jitter", .choice(Jitter.self), \.jitter),
            Key("retry_after", .choice(RetryAfter.self), always: .obey),
            Key("retry_after_park", .timeSpan(.zero ... .days(366)), \.retryAfterPark),
            Key("max_park", .timeSpan(.minutes(1) ... .days(366)), \.maxPark),
            Key("refresh_auth_on", .refreshedStatuses, \.refreshAuthOn),
        ]
    }
}

extension LimitsConfiguration: ConfigurationTable {
    static var keys: [Key<Self>] {
        [
            Key("max_pages", .integer(1...100_000_000), \.maxPages),
            Key("max_records", .integer(1...1_000_000_000_000), \.maxRecords),
            Key("max_records_per_page", .integer(1...100_000_000), \.maxRecordsPerPage),
            Key("max_run_time", .timeSpan(.seconds(1) ... .days(30)), \.maxRunTime),
            Key("max_depth", .integer(1...1024), \.maxDepth),
            Key("max_string", .byteCount(.bytes(1) ... .gibibytes(1)), \.maxString),
            Key("max_key", .byteCount(.bytes(1) ... .mebibytes(1)), \.maxKey),
            Key("max_number_digits", .integer(1...1_000_000), \.maxNumberDigits),
            Key("max_members", .integer(1...1_000_000), \.maxMembers),
            Key("max_objects_per_page", .integer(1...100_000_000), \.maxObjectsPerPage),
            Key("max_bad_fraction", .number(0...1), \.maxBadFraction),
            Key("max_bad_records", .integer(0...1_000_000_000), \.maxBadRecords),
        ]
    }
}

extension ParsePolicy: ConfigurationTable {
    static var keys: [Key<Self>] {
        [
            Key("duplicate_keys", .choice(DuplicateKeys.self), \.duplicateKeys),
            Key("invalid_utf8", .choice(InvalidUTF8.self), \.invalidUTF8),
            Key("lone_surrogates", .choice(LoneSurrogates.self), \.loneSurrogates),
            Key("nul_in_text", .choice(NULInText.self), \.nulInText),
            .inForce("key_compare", "bytes"),
            Key("big_integers", .choice(LargeNumbers.self), \.bigIntegers),
            Key("number_overflow", .choice(LargeNumbers.self), \.numberOverflow),
            Key("bom", .choice(ByteOrderMark.self), \.byteOrderMark),
            .inForce("trailing_data", "reject-page"),
            Key("content_types", .mediaTypes, \.contentTypes),
            Key("empty_body", .choice(EmptyBody.self), \.emptyBody),
            Key("records_absent", .choice(AbsentRecords.self), \.recordsAbsent),
        ]
    }
}

extension SchemaConfiguration: ConfigurationTable {
    static var keys: [Key<Self>] {
        [
            Key("unknown_fields", .choice(UnknownFields.self, later: ["raw"]), \.unknownFields),
            Key("missing_field", .choice(MissingField.self), \.missingField),
            Key("type_mismatch", .choice(TypeMismatch.self), \.typeMismatch),
            Key("coerce", .choice(Coercion.self), \.coercion),
            Key("raw", .choice(KeptBodies.self), \.raw),
            Key("raw_max", .byteCount(.mebibytes(1) ... .gibibytes(1024)), \.rawMax),
        ] + Key.later("drift_report")
    }
}

extension DeletionConfiguration: ConfigurationTable {
    static var keys: [Key<Self>] {
        let said: [Key<Self>] = [
            Key("detect", .choice(Detection.self), \.detect),
            Key("path", Codec<JSONPath>.jsonPath.optional(), \.path),
        ]
        let tests: [Key<Self>] = ConditionTable.tests.map { Key($0, Codec<ValueTest>.test($0).optional(), \.[test: $0]) }
        let rest: [Key<Self>] = [
            Key("statuses", Codec<[Int]>.goneStatuses.optional(), \.statuses),
            Key("action", .choice(Action.self), \.action),
            Key("confirm_runs", .integer(1...1000), \.confirmRuns),
            Key("max_fraction", .number(0...1), \.maxFraction),
            Key("max_count", .integer(0...1_000_000_000), \.maxCount),
            Key("min_expected", .integer(0...1_000_000_000), \.minExpected),
            Key("purge_after", .timeSpan(.zero ... .days(36_600)), \.purgeAfter),
            .inForce("on_source_removed", "keep"),
            .inForce("cascade", "model"),
        ]
        return said + tests + rest
    }
}
