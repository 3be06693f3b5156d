/// The strict JSON walker behind the `JSONReader` module, as plain C.
///
/// libsimdjson finds the structure of a document, window by window (the first stage of its on-demand parser: structural positions, UTF-8
/// and string checks with SIMD instructions); the walker of this target goes over that structure exactly once, checks the whole grammar,
/// and copies out the positions of those values that a compiled field plan asks for. It never calls itself, so a document cannot exhaust
/// the stack, and it never reads beyond the bytes it is given, so no padding is needed. Memory does not grow with the document.
///
/// Nothing in here is thread safe; a plan that is sealed may be used by several readers at the same time.
#ifndef CSIMDJSON_H
#define CSIMDJSON_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// MARK: Cells

/// What a cell holds.
enum {
    CSJ_MISSING = 0,
    CSJ_NULL = 1,
    CSJ_FALSE = 2,
    CSJ_TRUE = 3,
    /// An integer within int64; `payload` is its bit pattern.
    CSJ_INT64 = 4,
    /// A number with a fraction or an exponent; `payload` is the bit pattern of the nearest double.
    CSJ_DOUBLE = 5,
    /// A number neither an int64 nor a double can stand for; the token says it all.
    CSJ_BIG_NUMBER = 6,
    /// `payload` is the offset and `count` the length of the decoded text, in the scratch buffer or (without escapes) in the body.
    CSJ_STRING = 7,
    /// The JSON text `offset ..< offset + length`.
    CSJ_RAW = 8,
    /// An object or array read by a nested plan; `payload` is the index of its instance.
    CSJ_RECORD = 9,
    /// An array read by a nested plan; `payload` is the index of the first item, `count` the number of items.
    CSJ_ARRAY = 10,
};

/// The decoded text of a string cell is in the scratch buffer.
#define CSJ_IN_SCRATCH 1

typedef struct csj_cell {
    uint8_t kind;
    uint8_t flags;
    uint16_t reserved;
    uint32_t count;
    /// The JSON text of the value in the body, quotes included.
    uint32_t offset;
    uint32_t length;
    uint64_t payload;
} csj_cell;

/// Marks the end of a list of items.
#define CSJ_NO_ITEM UINT32_MAX

/// One object (or array) read by a plan.
typedef struct csj_instance {
    const struct csj_plan *plan;
    /// The cell of field f is `cells[slots[f]]`, or has to be chosen among alternatives.
    const uint32_t *slots;
    uint32_t field_count;
    uint32_t cells;
    uint32_t offset;
    uint32_t length;
    /// Keys no field asked for, as a list of string items. Only filled when the plan collects them.
    uint32_t first_unknown;
    uint32_t last_unknown;
    uint32_t unknown_count;
    uint32_t reserved;
} csj_instance;

/// Instead of a slot: the field has alternatives.
#define CSJ_SEVERAL_SLOTS UINT32_MAX

/// Where the cells of the current record (or of the envelope) are. A view is never given back to the operating system: whoever keeps one
/// too long sees another generation and not freed memory.
typedef struct csj_view {
    uint64_t generation;
    const uint8_t *body;
    const uint8_t *scratch;
    const csj_cell *cells;
    const csj_instance *instances;
    const csj_cell *items;
    const uint32_t *next_item;
    size_t body_length;
    /// Of the current record: its place in the page, and why it is refused, if it is.
    uint64_t record_index;
    uint64_t problem_offset;
    uint64_t problem_limit;
    /// The name of the member under which the current record stands, or what it stands in, in the innermost object that the path of the records
    /// goes over with a wildcard: a string, or missing if there is none.
    csj_cell member;
    int problem;
    uint32_t instance_count;
} csj_view;

// MARK: Plans

typedef struct csj_plan csj_plan;

typedef struct csj_segment {
    /// The key, or NULL for an array index.
    const uint8_t *key;
    size_t key_length;
    /// An index also matches the object key written with the same digits.
    uint32_t index;
    /// Not 0: instead of a key or an index, every element of an array and every member of an object. Only in the locator plan.
    uint8_t is_each;
} csj_segment;

enum {
    CSJ_CAPTURE_VALUE = 0,
    CSJ_CAPTURE_RAW = 1,
    CSJ_CAPTURE_RECORD = 2,
    /// The record list: the only capture of the locator plan. With `is_each` on the way to it there may be several lists, and records between them.
    CSJ_CAPTURE_LOCATE = 3,
};

csj_plan *csj_plan_create(void);
void csj_plan_destroy(csj_plan *plan);
/// Opens a new field; following paths are its alternatives, in order of precedence.
void csj_plan_add_field(csj_plan *plan);
/// Adds a path to the field opened last. `nested` is for CSJ_CAPTURE_RECORD and may be sealed later.
void csj_plan_add_path(csj_plan *plan, const csj_segment *segments, size_t segment_count, int capture, const csj_plan *nested);
/// Collect the keys of the object itself which no field asks for.
void csj_plan_collect_unknown_keys(csj_plan *plan);
/// After this the plan does not change any more.
void csj_plan_seal(csj_plan *plan);
/// The cell of a field with alternatives: that of the first one which was there.
csj_cell csj_view_first_cell(const csj_view *view, uint32_t instance, uint32_t field);

static inline uint32_t csj_view_field_count(const csj_view *view, uint32_t instance) { return view->instances[instance].field_count; }

/// The cell of a field. The field must exist.
static inline csj_cell csj_view_cell(const csj_view *view, uint32_t instance, uint32_t field) {
    const csj_instance *record = &view->instances[instance];
    uint32_t slot = record->slots[field];
    return slot == CSJ_SEVERAL_SLOTS ? csj_view_first_cell(view, instance, field) : view->cells[record->cells + slot];
}

// MARK: Reading

enum { CSJ_DUPLICATES_REJECT = 0, CSJ_DUPLICATES_LAST = 1, CSJ_DUPLICATES_FIRST = 2 };
enum { CSJ_SURROGATES_REPLACE = 0, CSJ_SURROGATES_REJECT = 1 };
enum { CSJ_NUL_KEEP = 0, CSJ_NUL_STRIP = 1, CSJ_NUL_REJECT = 2 };
enum { CSJ_NUMBERS_KEEP = 0, CSJ_NUMBERS_REJECT = 1 };

/// Why a record is refused while its page goes on.
enum {
    CSJ_PROBLEM_NONE = 0,
    CSJ_PROBLEM_DUPLICATE_KEY,
    CSJ_PROBLEM_LONE_SURROGATE,
    CSJ_PROBLEM_NUL,
    CSJ_PROBLEM_NUMBER_OVERFLOW,
    CSJ_PROBLEM_BIG_INTEGER,
    CSJ_PROBLEM_NUMBER_DIGITS,
    CSJ_PROBLEM_STRING_LENGTH,
    CSJ_PROBLEM_KEY_LENGTH,
    CSJ_PROBLEM_CELLS,
    CSJ_PROBLEM_NOT_AN_OBJECT,
};

/// Why a whole page is refused.
enum {
    CSJ_FAILURE_NONE = 0,
    CSJ_FAILURE_EMPTY,
    CSJ_FAILURE_UTF8,
    CSJ_FAILURE_CONTROL_CHARACTER,
    CSJ_FAILURE_UNCLOSED_STRING,
    CSJ_FAILURE_UNEXPECTED_END,
    CSJ_FAILURE_EXPECTED_VALUE,
    CSJ_FAILURE_EXPECTED_KEY,
    CSJ_FAILURE_EXPECTED_COLON,
    CSJ_FAILURE_EXPECTED_COMMA_OR_BRACE,
    CSJ_FAILURE_EXPECTED_COMMA_OR_BRACKET,
    CSJ_FAILURE_BAD_LITERAL,
    CSJ_FAILURE_BAD_NUMBER,
    CSJ_FAILURE_BAD_ESCAPE,
    CSJ_FAILURE_TRAILING_DATA,
    CSJ_FAILURE_MAX_DEPTH,
    CSJ_FAILURE_MAX_STRING,
    CSJ_FAILURE_MAX_KEY,
    CSJ_FAILURE_MAX_NUMBER_DIGITS,
    CSJ_FAILURE_MAX_RECORDS,
    CSJ_FAILURE_MAX_CELLS,
    CSJ_FAILURE_TOO_LARGE,
    CSJ_FAILURE_OUT_OF_MEMORY,
    CSJ_FAILURE_AMBIGUOUS_ENVELOPE,
};

/// What was found at the path of the record list. Where a wildcard leads to several values, lists and objects are an array; but one value that is
/// neither is said.
enum {
    CSJ_FOUND_NOTHING = 0,
    CSJ_FOUND_ARRAY,
    CSJ_FOUND_OBJECT,
    CSJ_FOUND_NULL,
    CSJ_FOUND_SCALAR,
};

typedef struct csj_request {
    const uint8_t *body;
    size_t length;
    /// The record list: a plan of one field with one path, whose value is located and not captured. NULL: the document is one record.
    const csj_plan *locator;
    /// What to read of each record.
    const csj_plan *plan;
    /// What to read of the rest of the document, or NULL.
    const csj_plan *envelope;
    uint64_t max_depth;
    uint64_t max_string;
    uint64_t max_key;
    uint64_t max_number_digits;
    uint64_t max_records;
    uint64_t max_cells;
    /// Bytes whose structure is found at a time; 0: what is good for the processor. Makes no difference to what is read.
    size_t window;
    uint8_t duplicate_keys;
    uint8_t lone_surrogates;
    uint8_t nul_in_text;
    uint8_t number_overflow;
    uint8_t big_integers;
} csj_request;

typedef struct csj_reader csj_reader;

enum { CSJ_STEP_FAILED = 0, CSJ_STEP_RECORD = 1, CSJ_STEP_END = 2 };

/// NULL when there is no memory.
csj_reader *csj_reader_create(void);
void csj_reader_destroy(csj_reader *reader);
/// Whether the bytes are well-formed UTF-8.
int csj_is_utf8(const uint8_t *bytes, size_t length);
/// Gets ready for a body. The body and the plans must stay until the last step. False: see `csj_reader_failure`.
int csj_reader_begin(csj_reader *reader, const csj_request *request);
/// Walks to the end of the next record. The views change with each step.
int csj_reader_step(csj_reader *reader);
/// Forgets the body; all views go out of date.
void csj_reader_end(csj_reader *reader);
/// Gives the buffers back to the operating system.
void csj_reader_trim(csj_reader *reader);

/// The current record is instance 0 of its view.
const csj_view *csj_reader_record_view(const csj_reader *reader);
/// To be looked at after the last step.
const csj_view *csj_reader_envelope_view(const csj_reader *reader);
int csj_reader_failure(const csj_reader *reader, size_t *offset);
int csj_reader_found(const csj_reader *reader, size_t *offset);
/// Whether something that a wildcard goes over does not have what the path goes on to, and where the first of them stands.
int csj_reader_lacks(const csj_reader *reader, size_t *offset);
/// Whether there was an element or a member that a wildcard went over.
int csj_reader_walked(const csj_reader *reader);
uint64_t csj_reader_record_count(const csj_reader *reader);

// MARK: Bytes

typedef struct csj_hash128 {
    uint64_t high;
    uint64_t low;
} csj_hash128;

/// XXH3, 128 bits, seed 0.
csj_hash128 csj_hash(const void *bytes, size_t length);

#ifdef __cplusplus
}
#endif

#include "CSJRecordCutter.h"

#endif
