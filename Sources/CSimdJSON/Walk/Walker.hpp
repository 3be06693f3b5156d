#ifndef CSJ_WALKER_HPP
#define CSJ_WALKER_HPP

#include <cstdint>

#include "../Plan/FieldPlan.hpp"
#include "../Scan/StructuralIndex.hpp"
#include "Arena.hpp"
#include "CSimdJSON.h"
#include "KeyLog.hpp"
#include "MemberNames.hpp"

namespace csj {

/// A value of interest: the node of a plan which the value stands for, for one instance of that plan.
struct Hit {
    Arena *arena;
    const Node *node;
    uint32_t instance;
    /// Where the instance's cells start.
    uint32_t cells;
};

/// A hit whose value is a container that is open now.
struct Active {
    Hit hit;
    /// Which of the node's keys have been there; beyond the 64th on the stack of marks, from `marks` on.
    uint64_t seen;
    uint32_t marks;
};

/// An array of which every element goes to a nested plan; or, as a target, the one element that comes next.
struct Collector {
    Arena *arena;
    const csj_plan *plan;
    /// The cell of the array; of a target: the item.
    uint32_t at;
};

/// A container that a wildcard of the locator goes over and that is open now.
struct Walked {
    /// What each of its children is.
    Hit child;
    /// Where the child that is met stands, and in an object its name with the quotes.
    uint32_t offset, name, name_length;
    bool is_object, is_name_escaped;
    /// The path goes on in the child, and what it leads to has not been met yet.
    bool owes;
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
    uint32_t actives, collectors, opens, keys, marks;
    bool is_object;
    /// The elements of this array are the records; of a container that the last wildcard goes over, the children that are no arrays.
    bool is_record_list;
    /// A wildcard goes over this container.
    bool is_walked;
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
    bool lacks = false, has_walked = false;
    size_t lack_offset = 0;

  private:
    /// What comes next. One step leads to the next by way of this and never by a call: nesting costs no stack.
    enum class State { value, members, element, after, done };

    int walk();
    uint64_t problem_limit() const;

    // Tokens: `token` counts within the window of the structural index.

    bool has_token() { return token < token_count || next_window(); }
    /// The place of the current token in the body. There must be one.
    uint32_t token_offset() const { return base + positions[token]; }
    /// The end of the scalar token at the current place: there is nothing but white space between it and the token that follows.
    uint32_t token_end(uint32_t offset) const;
    bool next_window();
    uint32_t next_backslash(uint32_t from) { return backslash >= from ? backslash : find_backslash(from); }
    uint32_t find_backslash(uint32_t from);

    // The grammar; false: failed (Walker.cpp)
    bool fail(int code, size_t offset);
    /// There is no token where the grammar wants one.
    bool ended();
    bool read_value();
    bool read_members();
    bool read_key();
    bool check_key(uint32_t offset, uint32_t end, const uint8_t *&text, size_t &length, bool &is_escaped);
    bool find_hits(const Key &key, uint32_t offset, uint32_t end, bool is_escaped);
    bool next_element();
    bool open_container(uint32_t offset, bool is_object);
    bool close_container(uint32_t offset);
    bool read_scalar(uint32_t offset, uint32_t end, bool wanted, csj_cell &value, bool &is_escaped);
    bool check_literal(const char *word, uint32_t length, const csj_cell &value);
    bool read_string(uint32_t offset, uint32_t end, csj_cell &value, bool &is_escaped);
    bool read_number_token(uint32_t offset, uint32_t end, bool wanted, csj_cell &value);

    // The same (Walker+Escapes.cpp)
    bool check_escapes(uint32_t offset, uint32_t end, csj_cell &value);
    bool decode_key(const uint8_t *&key, size_t &length);

    // Captures (Walker+Captures.cpp)
    bool is_wanted() const { return !(hits.empty() && targets.empty()); }
    void capture_scalar(const csj_cell &value, bool is_escaped);
    bool start_record(uint32_t offset);
    bool found_records(uint32_t offset, int what, Frame *frame);
    bool capture_container(Frame &frame);
    bool match_again(const Hit &active, const Node *child, uint32_t offset);
    bool mark(Active &active, uint32_t number);
    bool add_elements(const Frame &frame, uint32_t element);
    bool add_item(Arena &arena, csj_cell item, uint32_t &index);
    bool add_to_array(Arena &arena, uint32_t cell, csj_cell item, uint32_t &index);
    bool add_unknown_key(const Hit &active, uint32_t offset, uint32_t end, bool is_escaped);
    csj_cell in_scratch(Arena &arena, csj_cell value);
    /// An instance for the value being opened, whose root becomes a hit; or `no_instance`: over the limit.
    uint32_t make_instance(Arena &arena, const csj_plan *plan, uint32_t offset);
    /// The same for a nested plan: one instance per value and plan, whoever wants it.
    uint32_t nested_instance(Arena &arena, const csj_plan *plan, uint32_t offset);

    // What wildcards lead to (Walker+Wildcards.cpp)
    void walk_over(Frame &frame, const Hit &hit);
    void leave_walked();
    bool begin_member(const Key &key, uint32_t offset, uint32_t end, bool is_escaped, bool &is_met);
    bool begin_child(uint32_t offset);
    void find(int what, size_t offset);
    void note_lack();
    void name_record();

    // Refusals (Walker+Captures.cpp)
    /// False: the record (or, for the envelope, the page) is refused.
    bool has_room(Arena &arena, uint64_t more, size_t offset);
    /// A record-level refusal.
    void note(int code, size_t offset);
    /// A limit: refuses the record, or outside of records the page.
    bool exceed(int problem_code, int failure_code, size_t offset);
    /// The same of a value: what the envelope asks for is not left out because the record that it lies in is refused.
    bool exceed(const csj_cell &value, int problem_code, int failure_code, size_t offset);
    bool is_of_envelope(const csj_cell &value);

    static constexpr uint32_t no_instance = UINT32_MAX;

    csj_request request{};
    StructuralIndex index;
    const uint8_t *body = nullptr;
    const uint32_t *positions = nullptr;
    uint32_t token = 0, token_count = 0, base = 0;
    /// The first backslash at or after some place before the current token.
    uint32_t backslash = 0;
    State state = State::done;
    bool in_record = false;
    bool logs_keys = false;

    Stack<Frame> frames;
    Stack<Active> actives;
    Stack<uint8_t> marks;
    Stack<Collector> collectors;
    Stack<Open> opens;
    KeyLog key_log;
    Stack<uint8_t> key_text;
    Stack<Walked> walked;
    MemberNames member_names;
    /// The name of the current record's member.
    csj_cell member{};

    // What the value that comes next is wanted for.
    Stack<Hit> hits;
    Stack<Collector> targets;
};

}  // namespace csj

#endif
