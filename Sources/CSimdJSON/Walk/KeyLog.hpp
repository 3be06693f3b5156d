#ifndef CSJ_KEY_LOG_HPP
#define CSJ_KEY_LOG_HPP

#include <cstddef>
#include <cstdint>
#include <vector>

namespace csj {

/// The keys of the objects which are open at the moment, to tell whether one of them stands twice in its object.
///
/// Works in time proportional to the keys whatever they are, and knows the usual case: an object with exactly the keys of the one before.
class KeyLog {
  public:
    struct Key {
        /// The text between the quotes.
        uint32_t offset, length;
        bool escaped;
    };

    void clear();
    void trim();
    size_t size() const { return hashes.size(); }

    void add(uint64_t hash, Key key) {
        hashes.push_back(hash);
        keys.push_back(key);
    }

    /// Takes away the keys from `start` on, which are those of one object. Returns the offset of the first one that repeats another
    /// (of its quote), or `none`.
    uint32_t close(const uint8_t *body, size_t start, size_t depth);

    static constexpr uint32_t none = UINT32_MAX;

  private:
    uint32_t find(const uint8_t *body, size_t start);
    uint32_t find_among_many(const uint8_t *body, size_t start);
    bool same(const uint8_t *body, const Key &a, const Key &b);

    std::vector<uint64_t> hashes;
    std::vector<Key> keys;
    /// Key sequences found to be free of repetition, by nesting depth.
    std::vector<uint64_t> proven[8];
    std::vector<uint32_t> table;
    std::vector<uint8_t> texts[2];
};

}  // namespace csj

#endif
