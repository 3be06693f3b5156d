// One thread from bytes to rows: cut, parse, guarded upsert.
#pragma once

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <vector>

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
    void create_index_of_key(const Table &table);
    /// The statement that inserts a row, or writes what differs of the one with its key.
    sqlite3_stmt *prepare_write(const Table &table, bool bulk);
    /// Binds the fields of an object that are columns, and calls `other` with the others. Returns its key, an integer in all tables.
    template <typename Other>
    std::optional<int64_t> bind_fields(sqlite3_stmt *write, const Table &table, simdjson::ondemand::object &object, Other other);
    /// The rows of the objects of a list, each written if it is not as it was when it was met last.
    void read_list(const List &list, simdjson::ondemand::value value, size_t capacity, const char *start);
    /// Writes which objects a record has, where that differs.
    void write_pairs(int64_t row, bool bulk);

    Database &database_;
    const std::vector<Table> &tables_;
    bool hashes_;
    Counts counts_;
    std::unordered_map<std::string, std::unordered_map<int64_t, int64_t>> keys_;

    int64_t last_integer_ = 0;

    struct Member {
        int64_t row;
        uint64_t hash;  // of its bytes, when it was met last
    };
    std::unordered_map<int64_t, Member> members_;
    std::vector<int64_t> listed_;
    simdjson::ondemand::parser member_parser_;
    sqlite3_stmt *write_member_ = nullptr, *find_member_ = nullptr, *find_owner_ = nullptr;
    sqlite3_stmt *read_pairs_ = nullptr, *delete_pairs_ = nullptr, *insert_pair_ = nullptr;
};
