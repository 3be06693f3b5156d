// One thread from bytes to rows: cut, parse, guarded upsert.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <unordered_map>

#include <sqlite3.h>
#include <simdjson.h>

#include "record_cutter.h"
#include "schema.h"

struct Counts {
    uint64_t records = 0, rejected = 0, skipped_by_hash = 0, body_bytes = 0;
};

/// A connection whose every failure is an exception that says what SQLite said.
class Database {
public:
    explicit Database(const std::string &path);
    ~Database();
    Database(const Database &) = delete;
    Database &operator=(const Database &) = delete;

    void execute(const std::string &sql);
    int64_t integer(const std::string &sql);
    sqlite3_stmt *prepare(const std::string &sql);
    void check(int status, int expected = SQLITE_OK);
    void close();
    sqlite3 *handle() const { return handle_; }

private:
    sqlite3 *handle_ = nullptr;
};

class Importer {
public:
    /// With `hashes`, each row keeps a hash of its record's bytes, and a record whose hash is known is not parsed to its end.
    Importer(Database &database, const std::vector<Table> &tables, bool hashes);

    /// Tables without their indices, as a bulk load wants them.
    void create_tables();
    void create_indices();
    /// Loads or updates one table from a body. Plain inserts when `bulk`, else upserts that write only what differs.
    void import(const std::string &table, const std::string &body, bool bulk);
    /// Writes the highest primary keys, as Core Data keeps them.
    void finish();

    const Counts &counts() const { return counts_; }

private:
    const Table &table(const std::string &name) const;
    void bind(sqlite3_stmt *statement, int index, const Column &column, simdjson::ondemand::value value);
    const std::unordered_map<int64_t, int64_t> &keys(const std::string &table);

    Database &database_;
    const std::vector<Table> &tables_;
    bool hashes_;
    Counts counts_;
    std::unordered_map<std::string, std::unordered_map<int64_t, int64_t>> keys_;
};
