#ifndef CSJ_KEY_LOG_HPP
#define CSJ_KEY_LOG_HPP

#include <cstddef>
#include <cstdint>

#include "../Plan/Key.hpp"
#include "../Plan/Stack.hpp"

namespace csj {

/// The keys of the objects which are open at the moment, to tell whether one of them stands twice in its object.
///
/// Works in time proportional to the keys whatever they are, and knows the usual case: an object with exactly the keys of the one before.
class KeyLog {
  public:
    void clear();
    void trim();
    size_t size() const { return hashes.size(); }

    /// `offset` is that of the opening quote.
    void add(uint64_t hash, uint32_t offset) {
        hashes.push(hash);
        offsets.push(offset);
    }

    /// Takes away the keys from `start` on, which are those of one object. Returns the offset of the first one that repeats another,
    /// or `none`.
    uint32_t close(const uint8_t *body, size_t start, size_t depth);

    /// Whether two keys, of which these are the opening quotes, are the same once their escapes are decoded.
    bool same(const uint8_t *body, uint32_t a, uint32_t b);

    static constexpr uint32_t none = UINT32_MAX;

  private:
    static constexpr size_t depths = 8;

    uint32_t find(const uint8_t *body, size_t start);
    uint32_t find_among_many(const uint8_t *body, size_t start);

    Stack<uint64_t> hashes;
    Stack<uint32_t> offsets;
    /// Key sequences found to be free of repetition, by nesting depth.
    Stack<uint64_t> proven[depths];
    Stack<uint32_t> table;
    Stack<uint8_t> texts[2];
};

}  // namespace csj

#endif
