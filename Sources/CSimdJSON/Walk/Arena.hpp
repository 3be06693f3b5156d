#ifndef CSJ_ARENA_HPP
#define CSJ_ARENA_HPP

#include <cstdint>
#include "../Plan/Stack.hpp"
#include "CSimdJSON.h"

namespace csj {

/// A view block that stays readable for ever; from a pool which grows to the largest number of readers that ever were at the same time.
csj_view *obtain_view();
void return_view(csj_view *view);

/// The cells of one record, or of the envelope. Emptied and filled again for every record, so that nothing is allocated per record.
struct Arena {
    Stack<csj_cell> cells;
    Stack<csj_instance> instances;
    Stack<csj_cell> items;
    Stack<uint32_t> next_item;
    Stack<uint8_t> scratch;
    csj_view *view = obtain_view();

    Arena() = default;
    ~Arena() { return_view(view); }
    Arena(const Arena &) = delete;
    Arena &operator=(const Arena &) = delete;

    void clear() {
        cells.clear();
        instances.clear();
        items.clear();
        next_item.clear();
        scratch.clear();
    }

    void trim() {
        cells.trim();
        instances.trim();
        items.trim();
        next_item.trim();
        scratch.trim();
    }

    /// What counts against the limit on cells.
    uint64_t size() const { return cells.size() + items.size() + 2 * instances.size(); }

    /// From here on nothing that was handed out counts.
    void expire() {
        csj_view empty{};
        empty.generation = view->generation + 1;
        *view = empty;
    }

    void publish(const uint8_t *body, size_t length) {
        view->generation += 1;
        view->body = body;
        view->body_length = length;
        view->scratch = scratch.data();
        view->cells = cells.data();
        view->instances = instances.data();
        view->items = items.data();
        view->next_item = next_item.data();
        view->instance_count = uint32_t(instances.size());
    }
};

}  // namespace csj

#endif
