// generate [--records N] [--seed S] [--changed N] [--issues] > BODY
//
// With --issues, N issues as GitHub's API lists them, in its order of fields: 0 to 4 of 300 labels inside each, as objects. Without:
//
// A JSON array of N places (default 1,000,000; about 736 bytes each), the same bytes for the same numbers. Eight fields are meant to be
// mapped (id, name, code, kind, latitude, longitude, population, updated_at); the others are what real APIs send besides. With
// --changed C, one record in C (chosen by its number) has another population and date: 100 gives one percent.

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t mix(uint64_t x) {
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

static const char *const beginnings[] = {"Nor", "Sel", "Bran", "Ash", "Kir", "Mol", "Tav", "Wes", "Ost", "Hal", "Lund", "Pre", "Gar", "Vil", "Dun", "Rae"};
static const char *const middles[] = {"the", "ka", "mi", "ren", "do", "sta", "vi", "lo", "bu", "ne", "tor", "ga", "shi", "wen", "ra", "li"};
static const char *const endings[] = {"field", "burg", "ham", "stad", "mouth", "grad", "ville", "by", "ton", "dorf", "wick", "pur", "cester", "nes", "ford", "holm"};
static const char *const kinds[] = {"city", "town", "village", "capital", "district", "municipality"};
static const char *const zones[] = {"Europe/Andorra", "Asia/Tokyo", "America/Sao_Paulo", "Africa/Nairobi", "Australia/Perth", "Europe/Lisbon"};
static const char *const languages[] = {"br", "ko", "pt-BR", "pt", "nl", "hr", "fa", "de", "es", "fr", "ja"};
static const char *const words[] = {
    "\xed\x94\x84\xeb\x9e\x91\xec\x8a\xa4", "\xe3\x83\x95\xe3\x83\xa9\xe3\x83\xb3\xe3\x82\xb9", "Fran\xc3\xa7" "a", "\xd1\x81\xd1\x82\xd0\xb0\xd0\xbd",
    "S\xc3\xa3o \\\"Velho\\\"", "M\xc3\xbcnster", "\xe5\x8c\x97\xe4\xba\xac", "Ny k\xc3\xb8" "bing", "\xd9\x85\xd8\xaf\xd9\x8a\xd9\x86\xd8\xa9", "al-Qasr",
    "Vecchio \\u00e8", "Grandchamp", "Saint-Jean", "Bad Neustadt", "Las Palmas", "Oud-Beijerland"};

static void date(char *out, uint64_t r) {
    sprintf(out, "%04d-%02d-%02dT%02d:%02d:%02d", 2015 + (int)(r % 10), 1 + (int)(r / 16 % 12), 1 + (int)(r / 256 % 28), (int)(r / 8192 % 24),
        (int)(r / 262144 % 60), (int)(r / 16777216 % 60));
}

static uint64_t number(int argc, char **argv, const char *name, uint64_t otherwise) {
    for (int i = 1; i + 1 < argc; ++i) {
        if (strcmp(argv[i], name) == 0) return strtoull(argv[i + 1], NULL, 10);
    }
    return otherwise;
}

static void issue(uint64_t i, uint64_t seed, uint64_t changed) {
    uint64_t state = mix(seed * 0x100000001b3u + i);
    const uint64_t a = state, b = state = mix(state), c = state = mix(state), d = state = mix(state);
    const int is_changed = changed != 0 && mix(i + 77) % changed == 0;
    char updated[32], created[32];
    date(created, c);
    date(updated, is_changed ? d + 1 : d);
    printf("%s\n{\"url\": \"https://api.example.com/repos/o/r/issues/%" PRIu64 "\", \"id\": %" PRIu64 ", \"node_id\": \"MDU6SXNzdWU%" PRIu64
           "\", \"number\": %" PRIu64 ", \"title\": \"%s%s%s of the %s\", \"user\": {\"login\": \"u%" PRIu64 "\", \"id\": %" PRIu64
           ", \"type\": \"User\", \"site_admin\": false}, \"labels\": [",
        i == 0 ? "" : ",", i + 1, 1000000000 + i * 7, 5000000000 + i, i + 1, beginnings[a % 16], middles[a / 16 % 16], endings[a / 256 % 16],
        kinds[b % 6], b % 100000, b % 100000);
    uint64_t pick = mix(d + (is_changed ? 1 : 0));
    const int count = (int)(pick % 5);
    for (int l = 0; l < count; ++l) {
        // Each once.
        const uint64_t label = (pick / 8 + (uint64_t)l * 61) % 300;
        printf("%s{\"id\": %" PRIu64 ", \"node_id\": \"MDU6TGFiZWw%" PRIu64 "\", \"url\": \"https://api.example.com/repos/o/r/labels/%s%s\", "
               "\"name\": \"%s%s\", \"color\": \"%06" PRIx64 "\", \"default\": false, \"description\": null}",
            l == 0 ? "" : ", ", 208045946 + label, label, beginnings[label % 16], middles[label / 16 % 16], beginnings[label % 16],
            middles[label / 16 % 16], mix(label) % 0x1000000);
    }
    printf("], \"state\": \"%s\", \"locked\": false, \"comments\": %" PRIu64 ", \"created_at\": \"%sZ\", \"updated_at\": \"%sZ\", "
           "\"closed_at\": null, \"author_association\": \"NONE\", \"body\": \"",
        d % 3 == 0 ? "open" : "closed", d / 4 % 90 + (is_changed ? 1 : 0), created, updated);
    for (uint64_t w = 0; w < 10 + c % 30; ++w) printf("%s%s ", beginnings[(c >> (w % 60)) % 16], endings[(b >> (w % 60)) % 16]);
    printf("\"}");
}

int main(int argc, char **argv) {
    const uint64_t records = number(argc, argv, "--records", 1000000), seed = number(argc, argv, "--seed", 1),
                   changed = number(argc, argv, "--changed", 0);
    static char buffer[1 << 20];
    setvbuf(stdout, buffer, _IOFBF, sizeof buffer);
    putchar('[');
    int is_issues = 0;
    for (int i = 1; i < argc; ++i) is_issues |= strcmp(argv[i], "--issues") == 0;
    for (uint64_t i = 0; i < records; ++i) {
        if (is_issues) {
            issue(i, seed, changed);
            continue;
        }
        uint64_t state = mix(seed * 0x100000001b3u + i);
        const uint64_t a = state, b = state = mix(state), c = state = mix(state), d = state = mix(state), e = mix(state);
        const int is_changed = changed != 0 && mix(i + 77) % changed == 0;
        char name[64], updated[32], created[32];
        snprintf(name, sizeof name, "%s%s%s", beginnings[a % 16], middles[a / 16 % 16], endings[a / 256 % 16]);
        date(updated, is_changed ? d + 1 : d);
        date(created, e);
        printf("%s\n{\"id\": %" PRIu64 ", \"name\": \"%s %s\", \"code\": \"%c%c-%06" PRIu64 "\", \"kind\": \"%s\", \"latitude\": %.6f, "
               "\"longitude\": %.6f, \"population\": %" PRIu64 ", \"updated_at\": \"%s\", \"level\": null, \"native\": \"%s %s\", "
               "\"timezone\": \"%s\", \"translations\": {",
            i == 0 ? "" : ",", i + 1, name, words[a / 4096 % 16], 'A' + (int)(b % 26), 'A' + (int)(b / 26 % 26), i % 1000000, kinds[b / 1024 % 6],
            (double)(b / 8192 % 180000000) / 1e6 - 90, (double)(c % 360000000) / 1e6 - 180, c / 512 % 5000000 + (is_changed ? 1 : 0), updated, name,
            words[c / 4096 % 16], zones[c / 65536 % 6]);
        uint64_t pick = e;
        for (int l = 0; l < 11; ++l, pick = mix(pick)) {
            printf("%s\"%s\": \"%s %s\"", l == 0 ? "" : ", ", languages[l], name, words[pick % 16]);
        }
        printf("}, \"tags\": [%d, %d, \"%s\"], \"created_at\": \"%s\", \"flag\": 1, \"wikiDataId\": \"Q%" PRIu64 "\"}", (int)(d % 1000),
            (int)(e % 1000), kinds[e / 1024 % 6], created, e % 100000000);
    }
    puts("\n]");
    return ferror(stdout) ? 1 : 0;
}
