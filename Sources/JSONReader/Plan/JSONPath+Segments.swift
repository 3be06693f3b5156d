import CSimdJSON
import JSONPaths

extension JSONPath {
    /// Calls the closure with the steps as the walker takes them.
    func withSegments<Result>(_ body: (UnsafeBufferPointer<csj_segment>) throws -> Result) rethrows -> Result {
        var bytes: [UInt8] = []
        var ranges: [Range<Int>?] = []
        for segment in segments {
            guard case .key(let key) = segment else {
                ranges.append(nil)
                continue
            }
            let start = bytes.count
            bytes.append(contentsOf: key.utf8)
            ranges.append(start..<bytes.count)
        }
        // An empty key needs an address too: NULL says that the segment is an index or a wildcard.
        bytes.append(0)
        return try bytes.withUnsafeBufferPointer { buffer in
            var steps: [csj_segment] = []
            for (segment, range) in zip(segments, ranges) {
                var step = csj_segment()
                if let range {
                    step.key = buffer.baseAddress! + range.lowerBound
                    step.key_length = range.count
                } else if case .index(let index) = segment {
                    step.index = UInt32(index)
                } else {
                    step.is_each = 1
                }
                steps.append(step)
            }
            return try steps.withUnsafeBufferPointer(body)
        }
    }

    /// Whether what this path leads to changes when the elements of a list are taken out: it is the list, around it or in one of its elements.
    ///
    /// - Parameter isPresence: it only matters whether it leads to something. A list without elements is there.
    func depends(onElementsOf list: JSONPath, isPresence: Bool = false) -> Bool {
        let common = zip(segments, list.segments).prefix { $0.key == $1.key }.count
        if common == segments.count { return !isPresence }
        guard common == list.segments.count, case .index = segments[common] else { return false }
        return true
    }
}

extension JSONPath.Segment {
    /// The key that it is in an object; nil: every one.
    fileprivate var key: String? {
        switch self {
        case .key(let key): key
        case .index(let index): String(index)
        case .each: nil
        }
    }
}
