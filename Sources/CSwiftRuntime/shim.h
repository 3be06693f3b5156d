#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Of Swift's runtime (swift/Runtime/HeapObject.h): adds a strong reference and returns the object, or NULL if its end has begun.
void *_Nullable swift_tryRetain(void *_Nonnull object);

// Of Swift's runtime (swift/Runtime/Metadata.h): the method of a class, given what describes it and the class that declares it.
void *_Nonnull swift_lookUpClassMethod(const void *_Nonnull type, const void *_Nonnull method, const void *_Nonnull declaring_class);

// What describes NSManagedObject and the methods of it by which a class validates.
extern const char described_managed_object[] __asm__("$s12OpenCoreData15NSManagedObjectCMn");
extern const char described_validate_for_insert[] __asm__("$s12OpenCoreData15NSManagedObjectC17validateForInsertyyKFTq");
extern const char described_validate_for_update[] __asm__("$s12OpenCoreData15NSManagedObjectC17validateForUpdateyyKFTq");
extern const char described_validate_for_delete[] __asm__("$s12OpenCoreData15NSManagedObjectC17validateForDeleteyyKFTq");
extern const char described_validate_value[]
    __asm__("$s12OpenCoreData15NSManagedObjectC13validateValue_6forKeyyAA33AutoreleasingUnsafeMutablePointerVyyXlSgG_SStKFTq");

// Whether a class has a method of its own where it could inherit one by which NSManagedObject validates.
static inline bool overrides_validation(const void *_Nonnull type, const void *_Nonnull managed_object) {
    const char *const methods[] = {
        described_validate_for_insert, described_validate_for_update, described_validate_for_delete, described_validate_value};
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
        if (swift_lookUpClassMethod(type, methods[i], described_managed_object)
            != swift_lookUpClassMethod(managed_object, methods[i], described_managed_object)) return true;
    }
    return false;
}

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

// Of the C library (stdio.h), likewise: gives two files or folders each the other's name, in one step. -1 with errno where the file system can't.
enum { EXCHANGES_NAMES = 2 };
int renameat2(int folder, const char *_Nonnull name, int other_folder, const char *_Nonnull other_name, unsigned int flags);

// Of ICU (unicode/ucol.h), which Foundation brings along under these names: collators, and the bytes by which they order strings.
enum { ICU_NORMALIZATION_MODE = 4, ICU_STRENGTH = 5, ICU_NUMERIC_COLLATION = 7 };
enum { ICU_SECONDARY = 1, ICU_TERTIARY = 2, ICU_ON = 17 };
void *_Nullable swift_ucol_open(const char *_Nonnull locale, int32_t *_Nonnull status);
void swift_ucol_close(void *_Nullable collator);
void swift_ucol_setAttribute(void *_Nonnull collator, int32_t attribute, int32_t value, int32_t *_Nonnull status);
int32_t swift_ucol_getSortKey(
    const void *_Nonnull collator, const uint16_t *_Nonnull text, int32_t length, uint8_t *_Nullable key, int32_t capacity);

// Of ICU (unicode/uregex.h): regular expressions. A status above 0 is a failure; limits count the engine's steps and bytes, not time.
enum { ICU_REGEX_CASE_INSENSITIVE = 2 };
void *_Nullable swift_uregex_open(
    const uint16_t *_Nonnull pattern, int32_t length, uint32_t flags, void *_Nullable place, int32_t *_Nonnull status);
void *_Nullable swift_uregex_clone(const void *_Nonnull expression, int32_t *_Nonnull status);
void swift_uregex_close(void *_Nullable expression);
int32_t swift_uregex_groupCount(void *_Nonnull expression, int32_t *_Nonnull status);
void swift_uregex_setTimeLimit(void *_Nonnull expression, int32_t ticks, int32_t *_Nonnull status);
void swift_uregex_setStackLimit(void *_Nonnull expression, int32_t bytes, int32_t *_Nonnull status);
void swift_uregex_setText(void *_Nonnull expression, const uint16_t *_Nonnull text, int32_t length, int32_t *_Nonnull status);
int8_t swift_uregex_matches(void *_Nonnull expression, int32_t start, int32_t *_Nonnull status);

// Of Swift's runtime (swift/ABI/MetadataSections.h): what an image holds for the runtime. Only the beginning, up to what is read here.
struct image_metadata {
    uintptr_t version;
    const void *_Nullable base;
    uintptr_t unused[2];
    uintptr_t protocols[2];
    uintptr_t conformances[2];
    // Relative references to the descriptors of all types: where they begin, and how many bytes they take.
    const void *_Nullable types;
    size_t types_length;
};
// Calls back for every image of the process, until the answer is false.
void swift_enumerateAllMetadataSections(
    bool (*_Nonnull body)(const struct image_metadata *_Nonnull image, void *_Nonnull context), void *_Nonnull context);
