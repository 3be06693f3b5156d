#ifndef CSJ_BLOCK_HPP
#define CSJ_BLOCK_HPP

#include <cstdint>

#include "ContainerEnd.hpp"

namespace csj {

/// Which of 64 bytes are what, the first one in the lowest bit.
struct Block {
    uint64_t backslashes, quotes, opens, closes;
};

/// A `Nesting` as blocks want it. Only arithmetic, so that it becomes part of functions for any instruction set.
class BlockNesting {
  public:
    static constexpr int size = 64;

    explicit BlockNesting(const Nesting &nesting)
        : depth(nesting.depth), string(nesting.in_string ? ~uint64_t(0) : 0), escaped(nesting.is_escaped) {}

    Nesting nesting() const { return {depth, string != 0, escaped != 0}; }

    /// The quotes at which a string begins or ends.
    __attribute__((always_inline)) uint64_t true_quotes(const Block &block) {
        if (!block.backslashes) {
            const uint64_t quotes = block.quotes & ~escaped;
            escaped = 0;
            return quotes;
        }
        // Runs of backslashes: by a subtraction a borrow goes along each of them, so that from it on every other one is told apart, whichever
        // parity it starts at.
        const uint64_t odd = 0xAAAAAAAAAAAAAAAA;
        const uint64_t candidates = block.backslashes & ~escaped;
        const uint64_t codes = (((candidates << 1) | odd) - candidates) ^ odd;
        const uint64_t escaped_here = codes ^ (block.backslashes | escaped);
        escaped = (codes & block.backslashes) >> 63;
        return block.quotes & ~escaped_here;
    }

    /// `parity`: for each byte, whether up to and with it there is an odd number of true quotes in the block. The place behind the closing bracket,
    /// from 1; or 0.
    __attribute__((always_inline)) int find_end(const Block &block, uint64_t parity) {
        const uint64_t inside = parity ^ string;
        string = uint64_t(int64_t(inside) >> 63);
        uint64_t opens = block.opens & ~inside;
        uint64_t closes = block.closes & ~inside;
        const uint64_t count = uint64_t(__builtin_popcountll(closes));
        if (depth > count) {
            depth += uint64_t(__builtin_popcountll(opens)) - count;
            return 0;
        }
        for (; closes; closes &= closes - 1) {
            const uint64_t before = (closes & (0 - closes)) - 1;
            depth += uint64_t(__builtin_popcountll(opens & before)) - 1;
            if (depth == 0) { return __builtin_ctzll(closes) + 1; }
            opens &= ~before;
        }
        depth += uint64_t(__builtin_popcountll(opens));
        return 0;
    }

  private:
    uint64_t depth;
    /// All bits, if a string goes on into the next block.
    uint64_t string;
    uint64_t escaped;
};

}  // namespace csj

#endif
