// rows insert COUNT STORE | rows first|all|read|objects STORE
//
// A million stops by hand: a loop over one prepared statement, and the SELECT that a fetch is. The table is the one that `stack-benchmark batch`
// makes. Prints the wall time as one line of JSON, with everything durable.

#include <sqlite3.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static sqlite3 *database;

static void check(int code, int expected) {
    if (code == expected) return;
    fprintf(stderr, "rows: SQLite: %s\n", sqlite3_errmsg(database));
    exit(1);
}

static void execute(const char *sql) { check(sqlite3_exec(database, sql, NULL, NULL, NULL), SQLITE_OK); }

static sqlite3_stmt *prepare(const char *sql) {
    sqlite3_stmt *statement;
    check(sqlite3_prepare_v3(database, sql, -1, SQLITE_PREPARE_PERSISTENT, &statement, NULL), SQLITE_OK);
    return statement;
}

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static void insert(int64_t count) {
    execute("BEGIN IMMEDIATE");
    sqlite3_stmt *statement = prepare("INSERT INTO ZSTOP (Z_PK, Z_ENT, Z_OPT, ZIDENTIFIER, ZISACCESSIBLE, ZZONE, ZCHANGED, ZLATITUDE, ZLONGITUDE, "
                                      "ZNAME, ZPLATFORM) VALUES (?, 1, 1, ?, ?, ?, ?, ?, ?, ?, ?)");
    char name[64], platform[32];
    for (int64_t number = 0; number < count; number++) {
        sqlite3_bind_int64(statement, 1, number + 1);
        sqlite3_bind_int64(statement, 2, number);
        sqlite3_bind_int64(statement, 3, number % 5 != 0);
        sqlite3_bind_int64(statement, 4, number % 3);
        sqlite3_bind_double(statement, 5, (double)number);
        sqlite3_bind_double(statement, 6, 52.3 + (double)(number % 1000) / 2000);
        sqlite3_bind_double(statement, 7, 13.1 + (double)(number % 777) / 1000);
        sqlite3_bind_text(statement, 8, name, snprintf(name, sizeof name, "Stop at the corner number %lld", (long long)number), SQLITE_STATIC);
        if (number % 2 == 0) {
            sqlite3_bind_text(statement, 9, platform, snprintf(platform, sizeof platform, "platform %lld", (long long)(number % 12)), SQLITE_STATIC);
        } else {
            sqlite3_bind_null(statement, 9);
        }
        check(sqlite3_step(statement), SQLITE_DONE);
        sqlite3_reset(statement);
    }
    sqlite3_finalize(statement);
    execute("COMMIT");
}

/// Reads every column, as whoever fetches objects means to.
static size_t find(const char *limit) {
    char sql[512];
    snprintf(sql, sizeof sql, "SELECT Z_PK, Z_ENT, Z_OPT, ZIDENTIFIER, ZISACCESSIBLE, ZZONE, ZCHANGED, ZLATITUDE, ZLONGITUDE, ZNAME, ZPLATFORM FROM ZSTOP "
             "WHERE ZZONE = ?1 AND ZIDENTIFIER >= ?2 AND ZIDENTIFIER < ?3 ORDER BY ZLATITUDE, ZNAME %s", limit);
    sqlite3_stmt *statement = prepare(sql);
    sqlite3_bind_int64(statement, 1, 1);
    sqlite3_bind_int64(statement, 2, 400000);
    sqlite3_bind_int64(statement, 3, 430000);
    size_t length = 0;
    int code;
    while ((code = sqlite3_step(statement)) == SQLITE_ROW) {
        for (int column = 0; column < 9; column++) length += (size_t)(sqlite3_column_double(statement, column) != 0);
        for (int column = 9; column < 11; column++) {
            const char *text = (const char *)sqlite3_column_text(statement, column);
            if (text) length += strlen(text);
        }
    }
    check(code, SQLITE_DONE);
    sqlite3_finalize(statement);
    return length;
}

// The least that an object of an object graph takes: what it is called, itself, its values, and a place where it is found by key.
struct object {
    void *id, *self, *values;
};

// Reads every column of every row. With `makes`, also makes for each what an object takes, in the sizes that Cistern's have, and frees all of it.
static size_t read_all(int makes) {
    sqlite3_stmt *statement = prepare("SELECT Z_PK, Z_ENT, Z_OPT, ZIDENTIFIER, ZISACCESSIBLE, ZZONE, ZCHANGED, ZLATITUDE, ZLONGITUDE, ZNAME, ZPLATFORM "
                                      "FROM ZSTOP");
    size_t length = 0, count = 0, capacity = 1024;
    struct object *table = malloc(capacity * sizeof *table);
    int code;
    while ((code = sqlite3_step(statement)) == SQLITE_ROW) {
        double numbers[9];
        for (int column = 0; column < 9; column++) numbers[column] = sqlite3_column_double(statement, column);
        size_t sizes[2];
        const char *texts[2];
        for (int column = 0; column < 2; column++) {
            texts[column] = (const char *)sqlite3_column_text(statement, 9 + column);
            sizes[column] = texts[column] ? (size_t)sqlite3_column_bytes(statement, 9 + column) : 0;
            length += sizes[column];
        }
        if (!makes) continue;
        if (count == capacity) table = realloc(table, (capacity *= 2) * sizeof *table);
        char *values = malloc(32 + sizeof numbers + sizes[0] + sizes[1]);
        memcpy(values + 32, numbers, sizeof numbers);
        for (int column = 0; column < 2; column++) {
            if (texts[column]) memcpy(values + 32 + sizeof numbers + (column ? sizes[0] : 0), texts[column], sizes[column]);
        }
        table[count++] = (struct object){memset(malloc(48), 1, 48), memset(malloc(96), 1, 96), values};
    }
    check(code, SQLITE_DONE);
    sqlite3_finalize(statement);
    for (size_t index = 0; index < count; index++) {
        free(table[index].id);
        free(table[index].self);
        free(table[index].values);
    }
    free(table);
    return length;
}

static size_t query(const char *verb) {
    if (strcmp(verb, "read") == 0) return read_all(0);
    if (strcmp(verb, "objects") == 0) return read_all(1);
    return find(strcmp(verb, "first") == 0 ? "LIMIT 1" : "");
}

int main(int argc, char **argv) {
    const int inserts = argc == 4 && strcmp(argv[1], "insert") == 0, finds = argc == 3;
    if (!inserts && !finds) {
        fprintf(stderr, "usage: rows insert COUNT STORE | rows first|all|read|objects STORE\n");
        return 1;
    }
    check(sqlite3_open_v2(argv[argc - 1], &database, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, NULL), SQLITE_OK);
    execute("PRAGMA cache_size = -64000; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL");
    if (inserts) {
        execute("CREATE TABLE ZSTOP (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZIDENTIFIER INTEGER, ZISACCESSIBLE INTEGER, ZZONE INTEGER, "
                "ZCHANGED TIMESTAMP, ZLATITUDE FLOAT, ZLONGITUDE FLOAT, ZNAME VARCHAR, ZPLATFORM VARCHAR)");
    }
    const double start = now();
    size_t length = 1;
    if (inserts) insert(atoll(argv[2])); else length = query(argv[1]);
    const double wall = now() - start;
    if (length == 0) {
        fprintf(stderr, "rows: %s holds no stops; insert some first\n", argv[2]);
        return 1;
    }
    printf("{\"wall_s\": %.6f}\n", wall);
    check(sqlite3_close(database), SQLITE_OK);
    return 0;
}
