#ifndef CSJ_STRUCTURAL_INDEX_HPP
#define CSJ_STRUCTURAL_INDEX_HPP

#include <cstddef>
#include <cstdint>
#include <memory>

namespace csj {

/// The positions of all brackets, braces, colons, commas, opening quotes and first bytes of other scalars of a document, found by libsimdjson.
///
/// This is the stage its on-demand parser stands on too. Finding it also proves that the document is UTF-8, that every string is closed and
/// that no string contains a bare control character.
class StructuralIndex {
  public:
    StructuralIndex();
    ~StructuralIndex();

    /// CSJ_FAILURE_NONE, or why there is no index; then `offset` says where.
    int build(const uint8_t *body, size_t length, size_t &offset);
    void trim();

    /// `positions[count]` is the length of the document.
    const uint32_t *positions = nullptr;
    uint32_t count = 0;

  private:
    struct Engine;
    std::unique_ptr<Engine> engine;
};

/// The first byte which is not part of well-formed UTF-8 (no overlong forms, no surrogates, nothing above U+10FFFF); `length` if there is none.
size_t find_invalid_utf8(const uint8_t *body, size_t length);

}  // namespace csj

#endif
