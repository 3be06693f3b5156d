#ifndef CSJ_MEMBER_NAMES_HPP
#define CSJ_MEMBER_NAMES_HPP

#include <cstddef>
#include <cstdint>
#include <deque>

#include "../Plan/Stack.hpp"
#include "KeyLog.hpp"

namespace csj {

/// The names of the members of those open objects that a wildcard goes over, to tell at once whether one has been there before. There are as many
/// such objects inside each other as the path has wildcards.
class MemberNames {
  public:
    void clear() { depth = 0; }
    void trim();

    /// An object opens inside of those that are open.
    void open();
    void close() { --depth; }

    /// Adds a name to those of the innermost object.
    ///
    /// `offset` is that of the opening quote; `keys` compares texts. True: the object has that name already.
    bool add(uint64_t hash, uint32_t offset, const uint8_t *body, KeyLog &keys);

  private:
    struct Entry {
        uint64_t hash;
        uint32_t offset;
    };

    /// A table with a power of two of entries, at most half of them taken.
    struct Names {
        Stack<Entry> entries;
        size_t count = 0;
    };

    static constexpr size_t smallest = 16;

    static void make_empty(Stack<Entry> &entries, size_t size);
    static Entry &place(Stack<Entry> &entries, uint64_t hash);
    void grow(Names &names);

    /// In a deque: its elements stay where they are, and keep their memory for the next object.
    std::deque<Names> levels;
    size_t depth = 0;
    Stack<Entry> moved;
};

}  // namespace csj

#endif
