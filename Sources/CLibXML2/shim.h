#include <libxml/xmlversion.h>
// Debian's build knows ICU, whose headers are others than those of Swift's Foundation. What depends on it is not used here.
#undef LIBXML_ICU_ENABLED
#include <libxml/parser.h>
#include <libxml/SAX2.h>
