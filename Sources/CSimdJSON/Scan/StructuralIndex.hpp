#ifndef CSJ_STRUCTURAL_INDEX_HPP
#define CSJ_STRUCTURAL_INDEX_HPP

#include <cstddef>
#include <cstdint>
#include <memory>

namespace csj {

/// The positions of all brackets, braces, colons, commas, opening quotes and first bytes of other scalars of a document, found by
/// libsimdjson.
///
/// This is the stage its on-demand parser stands on too. Finding it also proves that the document is UTF-8, that every string is closed and
/// that no string contains a bare control character.
///
/// The document is taken in windows which end between two tokens: the positions stay in the processor's cache, and need no more memory for
/// a large document than for a small one. A window only grows beyond its usual size for a token which is larger.
class StructuralIndex {
  public:
    StructuralIndex();
    ~StructuralIndex();

    /// `window` is the usual size of a window.
    void begin(const uint8_t *body, size_t length, size_t window);

    /// With its positions it fits into the second-level cache.
    static constexpr size_t usual_window = 128 << 10;

    /// Goes on to the next window with tokens in it. False: there is none, or there is an error.
    bool next();
    void trim();

    /// Relative to `base`; `positions[count]` is the length of the window.
    const uint32_t *positions = nullptr;
    uint32_t count = 0;
    size_t base = 0;

    int error = 0;
    size_t error_offset = 0;

  private:
    struct Engine;

    int scan(size_t window);
    size_t choose_end(size_t window, bool &is_quote) const;

    std::unique_ptr<Engine> engine;
    const uint8_t *body = nullptr;
    size_t length = 0;
    size_t end = 0;
    size_t window_size = usual_window;
};

}  // namespace csj

#endif
