#ifndef CSJ_STACK_HPP
#define CSJ_STACK_HPP

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>
#include <type_traits>

namespace csj {

/// A growing array of plain values, without the initialisation and the bookkeeping that a vector does at every step.
/// Throws `std::bad_alloc` when there is no memory.
template <typename Element>
class Stack {
    static_assert(std::is_trivially_copyable<Element>::value, "a Stack moves its elements as bytes");

  public:
    Stack() = default;
    ~Stack() { free(elements); }
    Stack(const Stack &) = delete;
    Stack &operator=(const Stack &) = delete;

    size_t size() const { return count; }
    bool empty() const { return count == 0; }
    Element *data() { return elements; }
    const Element *data() const { return elements; }
    Element &operator[](size_t at) { return elements[at]; }
    const Element &operator[](size_t at) const { return elements[at]; }
    Element &back() { return elements[count - 1]; }

    void push(const Element &element) {
        if (count == capacity) {
            // The element may be one of those that move.
            Element copy = element;
            grow(count + 1);
            elements[count++] = copy;
            return;
        }
        elements[count++] = element;
    }

    void pop() { --count; }
    void drop_to(size_t size) { count = size; }
    void clear() { count = 0; }

    /// More elements, of which nothing is known yet.
    Element *extend(size_t more) {
        if (more > capacity - count) { grow(count + more); }
        Element *first = elements + count;
        count += more;
        return first;
    }

    Element *extend_with_zero(size_t more) {
        Element *first = extend(more);
        if (more) { memset(static_cast<void *>(first), 0, more * sizeof(Element)); }
        return first;
    }

    void trim() {
        free(elements);
        elements = nullptr;
        count = capacity = 0;
    }

  private:
    __attribute__((noinline)) void grow(size_t least) {
        size_t larger = capacity < 16 ? 16 : capacity + capacity / 2;
        if (larger < least) { larger = least; }
        void *moved = larger <= SIZE_MAX / sizeof(Element) ? realloc(static_cast<void *>(elements), larger * sizeof(Element)) : nullptr;
        if (!moved) { throw std::bad_alloc(); }
        elements = static_cast<Element *>(moved);
        capacity = larger;
    }

    Element *elements = nullptr;
    size_t count = 0, capacity = 0;
};

}  // namespace csj

#endif
