/// Cuts the records out of a JSON document while its bytes arrive, in chunks of any size.
///
/// The cutter finds the list of records, at the root or under a path of keys, and hands out each element's bytes with their hash. What stands
/// around the elements is kept: the **envelope**, the document with `[]` in place of the list, for the strict reader.
///
/// What it vouches for, and what not:
/// - Between two elements there is exactly one comma and otherwise white space, there is none before the first or after the last element, and the
///   list is closed. Anything else is a failure.
/// - An element starts as a JSON value does and ends with its own end: the bracket that closes it, the quote that closes it, or the end of a word.
///   Inside, only brackets outside of strings are counted; neither the grammar nor UTF-8 is checked. Whoever takes a record has it read strictly (as
///   an element of a list, where it is read as in its own document), or knows from its hash that the same bytes have been accepted.
/// - Of the envelope nothing is checked: the reader has to accept it, and finds in it a list without records.
/// - **The document is accepted exactly when cutter, envelope and all records are,** and its records are those that were cut, in this order; but a
///   document of 4 GiB and more, which the reader refuses, is cut.
///
/// Where the cutter cannot be sure of that, it is *undecided*: it cuts nothing, and the envelope is the whole document, byte for byte, from which the
/// reader takes the records, if there are any. It decides before it hands out the first record and stays with it. It is undecided if there is no
/// list at the path (nothing, `null`, an object, a scalar, or an array on the way to it), if the path has a wildcard and there may be several, or if
/// something before the list is no JSON. Of keys that
/// stand twice in one object the first leads to the list; what the reader says to the second, it says of the envelope.
///
/// Memory: the envelope, and the record that lies across the end of a chunk. No recursion. A cutter belongs to one thread at a time.
#ifndef CSJ_RECORD_CUTTER_H
#define CSJ_RECORD_CUTTER_H

#include "CSimdJSON.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct csj_cutter csj_cutter;

/// What brackets and strings are found with. Makes no difference to what is cut.
enum {
    /// The best that this processor has.
    CSJ_CUT_BEST = 0,
    CSJ_CUT_PLAIN = 1,
    CSJ_CUT_SSE2 = 2,
    CSJ_CUT_AVX2 = 3,
};

typedef struct csj_cutting {
    /// Where the list is. Only needed by `csj_cutter_create`.
    const csj_segment *path;
    size_t path_length;
    /// A record more is a failure.
    uint64_t max_records;
    int instructions;
} csj_cutting;

/// A record; `bytes` stay until the next call.
typedef struct csj_cut {
    const uint8_t *bytes;
    size_t length;
    /// The lower half of XXH3-128 (with more than 240 bytes that is XXH3-64).
    uint64_t hash;
    /// Where it starts in the document.
    uint64_t offset;
} csj_cut;

enum { CSJ_CUT_FAILED = 0, CSJ_CUT_RECORD = 1, CSJ_CUT_MORE = 2 };

enum {
    /// The list has not begun yet.
    CSJ_CUTTER_LOOKING = 0,
    CSJ_CUTTER_IN_LIST = 1,
    /// The list is closed.
    CSJ_CUTTER_CUT = 2,
    CSJ_CUTTER_UNDECIDED = 3,
};

/// Whether this processor has these instructions.
int csj_cutter_supports(int instructions);
/// NULL when there is no memory, or the processor does not have these instructions.
csj_cutter *csj_cutter_create(const csj_cutting *cutting);
void csj_cutter_destroy(csj_cutter *cutter);
/// Cuts nothing: the envelope is to be the whole document. Only before the first chunk.
void csj_cutter_pass(csj_cutter *cutter);
/// The next bytes of the document. Only at the start and after CSJ_CUT_MORE; they must stay until CSJ_CUT_MORE comes again.
void csj_cutter_feed(csj_cutter *cutter, const uint8_t *bytes, size_t length);
/// The next record; CSJ_CUT_MORE: the chunk is used up.
int csj_cutter_next(csj_cutter *cutter, csj_cut *cut);
/// There are no more bytes. False: the list has not ended; see `csj_cutter_failure`.
int csj_cutter_finish(csj_cutter *cutter);
/// One of the CSJ_FAILURE_… of the reader, and where in the document.
int csj_cutter_failure(const csj_cutter *cutter, uint64_t *offset);
/// Says nothing after a failure.
int csj_cutter_status(const csj_cutter *cutter);
/// Stays until the next chunk.
const uint8_t *csj_cutter_envelope(const csj_cutter *cutter, size_t *length);
/// What was left out of the envelope, all in one place: bytes `start ..< end` of the document.
void csj_cutter_left_out(const csj_cutter *cutter, uint64_t *start, uint64_t *end);

#ifdef __cplusplus
}
#endif

#endif
