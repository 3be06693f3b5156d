// Cuts the records of a top-level JSON array out of a stream, in a buffer that is as large as a chunk and the longest record.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include <zlib.h>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

/// Reads a file, plain or gzip (zlib tells them apart), and hands out one `{…}` of the outermost array after the other.
/// A record stays valid until the next call; at least `padding` bytes behind it may be read.
class RecordCutter {
public:
    static constexpr size_t padding = 64;

    explicit RecordCutter(const std::string &path) : file_(gzopen(path.c_str(), "rb")), buffer_(chunk + padding) {
        if (file_ != nullptr) gzbuffer(file_, 1 << 18);
    }
    ~RecordCutter() {
        if (file_ != nullptr) gzclose(file_);
    }
    RecordCutter(const RecordCutter &) = delete;
    RecordCutter &operator=(const RecordCutter &) = delete;

    bool is_open() const { return file_ != nullptr; }
    uint64_t bytes() const { return bytes_; }
    /// How many bytes may be read from `record.data()` on.
    size_t capacity(std::string_view record) const { return buffer_.size() - (record.data() - buffer_.data()); }
    /// Whether the array was closed; meaningful once `next` has returned false.
    bool is_complete() const { return depth_ == 0 && seen_array_; }

    bool next(std::string_view &record) {
        for (;;) {
            if (scan(record)) return true;
            if (!refill()) return false;
        }
    }

private:
    static constexpr size_t chunk = 1 << 20;

    bool scan(std::string_view &record) {
        while (position_ < end_) {
            // Sixty-four bytes at a time where nothing is escaped, byte by byte where something is and at the end of the chunk.
            const size_t stop = position_ + 64 <= end_ ? position_ + 64 : end_;
            Masks masks;
            if (stop - position_ == 64 && !escaped_ && look(position_, masks)) {
                // A bit of `inside` is set from an opening quote up to, not including, its closing one.
                const uint64_t inside = prefix_xor(masks.quotes) ^ (in_string_ ? ~uint64_t(0) : 0);
                for (uint64_t left = masks.brackets & ~inside; left != 0; left &= left - 1) {
                    const size_t at = position_ + static_cast<size_t>(__builtin_ctzll(left));
                    if (take(at, record)) {
                        in_string_ = false;
                        position_ = at + 1;
                        return true;
                    }
                }
                in_string_ = (inside >> 63) != 0;
                position_ = stop;
                continue;
            }
            for (; position_ < stop; ++position_) {
                const char byte = buffer_[position_];
                if (escaped_) {
                    escaped_ = false;
                } else if (byte == '"') {
                    in_string_ = !in_string_;
                } else if (in_string_) {
                    escaped_ = byte == '\\';
                } else if ((byte == '{' || byte == '[' || byte == '}' || byte == ']') && take(position_, record)) {
                    position_ += 1;
                    return true;
                }
            }
        }
        return false;
    }

    /// Counts the bracket at `at`; true if it closes a record.
    bool take(size_t at, std::string_view &record) {
        const char byte = buffer_[at];
        if (byte == '{' || byte == '[') {
            if (depth_ == 0) seen_array_ = byte == '[';
            if (depth_ == 1) start_ = at;
            depth_ += 1;
            return false;
        }
        depth_ -= 1;
        if (depth_ != 1) return false;
        record = std::string_view(buffer_.data() + start_, at + 1 - start_);
        start_ = none;
        return true;
    }

    struct Masks {
        uint64_t quotes = 0, brackets = 0;
    };

    static uint64_t prefix_xor(uint64_t bits) {
        for (int shift = 1; shift < 64; shift *= 2) bits ^= bits << shift;
        return bits;
    }

    /// Where quotes and brackets are in the 64 bytes; false if there is a backslash, or no such instruction on this machine.
    bool look(size_t from, Masks &masks) const {
#if defined(__SSE2__)
        const __m128i quote = _mm_set1_epi8('"'), backslash = _mm_set1_epi8('\\');
        const __m128i open = _mm_set1_epi8('{'), close = _mm_set1_epi8('}'), bit = _mm_set1_epi8(0x20);
        __m128i escapes = _mm_setzero_si128();
        for (int part = 0; part < 4; ++part) {
            const __m128i block = _mm_loadu_si128(reinterpret_cast<const __m128i *>(buffer_.data() + from + 16 * part));
            const __m128i folded = _mm_or_si128(block, bit);  // [ and { differ by this bit, and so do ] and }
            const __m128i bracket = _mm_or_si128(_mm_cmpeq_epi8(folded, open), _mm_cmpeq_epi8(folded, close));
            escapes = _mm_or_si128(escapes, _mm_cmpeq_epi8(block, backslash));
            masks.quotes |= static_cast<uint64_t>(static_cast<uint32_t>(_mm_movemask_epi8(_mm_cmpeq_epi8(block, quote)))) << (16 * part);
            masks.brackets |= static_cast<uint64_t>(static_cast<uint32_t>(_mm_movemask_epi8(bracket))) << (16 * part);
        }
        return _mm_movemask_epi8(escapes) == 0;
#else
        (void)from;
        (void)masks;
        return false;
#endif
    }

    bool refill() {
        // What of an open record has been read moves to the front; everything else is done with.
        const size_t keep_from = start_ == none ? end_ : start_;
        const size_t kept = end_ - keep_from;
        std::memmove(buffer_.data(), buffer_.data() + keep_from, kept);
        position_ -= keep_from;
        if (start_ != none) start_ = 0;
        if (buffer_.size() < kept + chunk + padding) buffer_.resize(2 * kept + chunk + padding);
        const int count = gzread(file_, buffer_.data() + kept, chunk);
        if (count <= 0) {
            end_ = kept;
            return false;
        }
        bytes_ += count;
        end_ = kept + count;
        std::memset(buffer_.data() + end_, 0, padding);
        return true;
    }

    static constexpr size_t none = SIZE_MAX;
    gzFile file_;
    std::vector<char> buffer_;
    size_t position_ = 0, end_ = 0, start_ = none;
    int64_t depth_ = 0;
    uint64_t bytes_ = 0;
    bool in_string_ = false, escaped_ = false, seen_array_ = false;
};
