#ifndef CSJ_WALKER_HPP
#define CSJ_WALKER_HPP

#include <cstdint>
#include <vector>

#include "Arena.hpp"
#include "CSimdJSON.h"
#include "../Plan/FieldPlan.hpp"
#include "KeyLog.hpp"
#include "../Scan/StructuralIndex.hpp"

namespace csj {

/// A value of interest: the node of a plan which the value stands for, for one instance of that plan.
struct Hit {
    Arena *arena;
    const csj_plan *plan;
    const Node *node;
    uint32_t instance;
};

/// An array of which every element goes to a nested plan; or, as a target, the one element that comes next.
struct Collector {
    Arena *arena;
    const csj_plan *plan;
    /// The cell of the array; of a target: the item.
    uint32_t at;
};

/// Something whose end is known when its container closes.
struct Open {
    enum Kind : uint8_t { cell, item, instance } kind;
    Arena *arena;
    uint32_t at;
};

struct Frame {
    uint32_t offset;
    uint32_t element;
    /// Where the entries of this container start on the stacks of the walker.
    uint32_t actives, collectors, opens, keys;
    bool is_object;
    /// The elements of this array are the records.
    bool is_record_list;
    /// This container is the current record.
    bool is_record;
};

/// Goes over a document once, token by token, with its own stack.
class Walker {
  public:
    bool begin(const csj_request &what);
    int step();
    void end();
    void trim();

    Arena record, envelope;
    int failure = CSJ_FAILURE_NONE;
    size_t failure_offset = 0;
    int problem = CSJ_PROBLEM_NONE;
    size_t problem_offset = 0;
    int found = CSJ_FOUND_NOTHING;
    size_t found_offset = 0;
    uint64_t record_count = 0;

  private:
    enum class State { value, after, done };

    int walk();
    uint64_t problem_limit() const;

    // Grammar (Walker.cpp)
    bool fail(int code, size_t offset);
    bool read_value();
    bool read_key();
    bool next_element();
    bool open_container(uint32_t offset, bool is_object);
    bool close_container(uint32_t offset, bool &ends_record);
    uint32_t token_end(uint32_t offset) const;
    uint32_t next_backslash(uint32_t from);

    // Scalars (Walker+Scalars.cpp)
    bool read_scalar(uint32_t offset);
    bool read_string(uint32_t offset, uint32_t end);
    bool read_number_token(uint32_t offset, uint32_t end);
    void capture_scalar(const csj_cell &value, bool is_escaped);
    csj_cell in_scratch(Arena &arena, csj_cell value);

    // Captures (Walker+Captures.cpp)
    bool start_record(uint32_t offset);
    bool found_records(uint32_t offset, int what, Frame *frame);
    bool capture_container(Frame &frame);
    bool match(const Hit &active, uint64_t hash, const uint8_t *key, size_t length, uint32_t offset, bool is_escaped);
    bool add_item(Arena &arena, csj_cell item, uint32_t &index);
    bool add_to_array(Arena &arena, uint32_t cell, csj_cell item, uint32_t &index);
    bool add_unknown_key(const Hit &active, uint32_t offset, bool is_escaped);
    /// An instance for the value being opened, whose root becomes a hit; or `no_instance`: over the limit.
    uint32_t make_instance(Arena &arena, const csj_plan *plan, uint32_t offset);
    /// The same for a nested plan: one instance per value and plan, whoever wants it.
    uint32_t nested_instance(Arena &arena, const csj_plan *plan, uint32_t offset);
    /// False: the record (or, for the envelope, the page) is refused.
    bool has_room(Arena &arena, uint64_t more, size_t offset);
    /// A record-level refusal.
    void note(int code, size_t offset);
    /// A limit: refuses the record, or outside of records the page.
    bool exceed(int problem_code, int failure_code, size_t offset);

    static constexpr uint32_t no_instance = UINT32_MAX;

    csj_request request{};
    StructuralIndex index;
    const uint8_t *body = nullptr;
    const uint32_t *positions = nullptr;
    uint32_t token = 0, token_count = 0;
    uint32_t backslash = 0;
    State state = State::done;
    bool in_record = false;
    bool logs_keys = false;

    std::vector<Frame> frames;
    std::vector<Hit> actives;
    std::vector<Collector> collectors;
    std::vector<Open> opens;
    KeyLog key_log;
    std::vector<uint8_t> key_text;

    // What the value that comes next is wanted for.
    std::vector<Hit> hits;
    std::vector<Collector> targets;
};

}  // namespace csj

#endif
