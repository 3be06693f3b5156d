#pragma once

// Of Swift's runtime (swift/Runtime/HeapObject.h): adds a strong reference and returns the object, or NULL if its end has begun.
void *_Nullable swift_tryRetain(void *_Nonnull object);
