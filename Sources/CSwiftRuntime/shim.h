#pragma once

#include <stddef.h>
#include <stdint.h>

// Of Swift's runtime (swift/Runtime/HeapObject.h): adds a strong reference and returns the object, or NULL if its end has begun.
void *_Nullable swift_tryRetain(void *_Nonnull object);

// Of Swift's runtime (swift/Demangling/Demangle.h): the name in Swift's words, in memory from malloc, or NULL if it is none of Swift's.
char *_Nullable swift_demangle(
    const char *_Nonnull name, size_t length, char *_Nullable buffer, size_t *_Nullable size, uint32_t flags);

// Of the C library (dlfcn.h), which shows them to those only who ask for GNU's extensions: the file that an address was loaded from.
struct loaded_image {
    const char *_Nullable path;
    void *_Nullable base;
    const char *_Nullable symbol;
    void *_Nullable symbol_address;
};
int dladdr(const void *_Nonnull address, struct loaded_image *_Nonnull image);
