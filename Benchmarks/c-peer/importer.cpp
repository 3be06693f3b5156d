#include "importer.h"

#include <algorithm>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace ondemand = simdjson::ondemand;

Database::Database(const std::string &path) {
    // One thread: SQLite's own locks would only cost time.
    const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX;
    if (sqlite3_open_v2(path.c_str(), &handle_, flags, nullptr) != SQLITE_OK) throw std::runtime_error("cannot open " + path);
}

Database::~Database() { sqlite3_close_v2(handle_); }

void Database::close() {
    check(sqlite3_close(handle_));
    handle_ = nullptr;
}

void Database::check(int status, int expected) {
    if (status != expected) throw std::runtime_error(std::string("SQLite: ") + sqlite3_errmsg(handle_));
}

void Database::execute(const std::string &sql) { check(sqlite3_exec(handle_, sql.c_str(), nullptr, nullptr, nullptr)); }

sqlite3_stmt *Database::prepare(const std::string &sql) {
    sqlite3_stmt *statement = nullptr;
    check(sqlite3_prepare_v3(handle_, sql.c_str(), -1, SQLITE_PREPARE_PERSISTENT, &statement, nullptr));
    return statement;
}

int64_t Database::integer(const std::string &sql) {
    sqlite3_stmt *statement = prepare(sql);
    check(sqlite3_step(statement), SQLITE_ROW);
    const int64_t value = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    return value;
}

Importer::Importer(Database &database, const std::vector<Table> &tables, bool hashes)
    : database_(database), tables_(tables), hashes_(hashes) {}

const Table &Importer::table(const std::string &name) const {
    for (const Table &table : tables_) {
        if (name == table.name) return table;
    }
    throw std::runtime_error("no table " + name);
}

void Importer::create_tables() {
    database_.execute("CREATE TABLE Z_PRIMARYKEY (Z_ENT INTEGER PRIMARY KEY, Z_NAME VARCHAR, Z_SUPER INTEGER, Z_MAX INTEGER)");
    for (const Table &table : tables_) {
        std::string sql = std::string("CREATE TABLE ") + table.name + " (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER";
        for (const Column &column : table.columns) {
            static const char *const types[] = {"INTEGER", "VARCHAR", "FLOAT", "TIMESTAMP", "INTEGER"};
            sql += std::string(", ") + column.column + " " + types[static_cast<int>(column.kind)];
        }
        database_.execute(sql + (hashes_ ? ", Z_HASH INTEGER)" : ")"));
        database_.execute(
            "INSERT INTO Z_PRIMARYKEY VALUES (" + std::to_string(table.entity) + ", '" + table.entity_name + "', 0, 0)");
        if (const List &list = table.list; list.key != nullptr) {
            database_.execute(
                std::string("CREATE TABLE ") + list.pairs + " (" + list.owner + " INTEGER, " + list.member + " INTEGER, PRIMARY KEY (" + list.owner
                + ", " + list.member + "))");
        }
    }
    // What lists name is looked up while it grows.
    for (const Table &table : tables_) {
        if (table.list.key != nullptr) create_index_of_key(this->table(table.list.target));
    }
}

void Importer::create_index_of_key(const Table &table) {
    const std::string name = table.name;
    database_.execute("CREATE UNIQUE INDEX IF NOT EXISTS " + name + "_KEY ON " + name + " (" + table.columns[0].column + ")");
}

void Importer::create_indices() {
    for (const Table &table : tables_) {
        const std::string name = table.name;
        create_index_of_key(table);
        if (const List &list = table.list; list.key != nullptr) {
            const std::string pairs = list.pairs;
            database_.execute("CREATE INDEX " + pairs + "_MEMBER ON " + pairs + " (" + list.member + ", " + list.owner + ")");
        }
        for (const Column &column : table.columns) {
            if (column.kind == Kind::reference) {
                database_.execute("CREATE INDEX " + name + "_" + column.column + " ON " + name + " (" + column.column + ")");
            }
        }
    }
}

void Importer::finish() {
    for (const Table &table : tables_) {
        database_.execute(
            std::string("UPDATE Z_PRIMARYKEY SET Z_MAX = (SELECT coalesce(max(Z_PK), 0) FROM ") + table.name
            + ") WHERE Z_ENT = " + std::to_string(table.entity));
    }
}

const std::unordered_map<int64_t, int64_t> &Importer::keys(const std::string &name) {
    auto [found, is_new] = keys_.try_emplace(name);
    if (is_new) {
        sqlite3_stmt *statement = database_.prepare("SELECT ZID, Z_PK FROM " + name);
        while (sqlite3_step(statement) == SQLITE_ROW) {
            found->second[sqlite3_column_int64(statement, 0)] = sqlite3_column_int64(statement, 1);
        }
        sqlite3_finalize(statement);
    }
    return found->second;
}

/// `2019-10-06T09:28:06` as seconds since 2001, which is how Core Data keeps a date; false if it is none.
static bool parse_date(std::string_view text, double &seconds) {
    if (text.size() < 19) return false;
    const auto number = [&](size_t at, size_t length) {
        int value = 0;
        for (size_t i = at; i < at + length; ++i) value = value * 10 + (text[i] - '0');
        return value;
    };
    int64_t year = number(0, 4);
    const int64_t month = number(5, 2), day = number(8, 2);
    year -= month <= 2;
    const int64_t era = year / 400, year_of_era = year - era * 400;
    const int64_t day_of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
    const int64_t days = era * 146097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719468;
    seconds = static_cast<double>(days * 86400 + number(11, 2) * 3600 + number(14, 2) * 60 + number(17, 2) - 978307200);
    return true;
}

void Importer::bind(sqlite3_stmt *statement, int index, const Column &column, ondemand::value value) {
    if (value.is_null()) {
        sqlite3_bind_null(statement, index);
        return;
    }
    const bool is_string = value.type() == ondemand::json_type::string;
    switch (column.kind) {
    case Kind::integer: {
        int64_t number;
        if ((is_string ? value.get_int64_in_string() : value.get_int64()).get(number) == simdjson::SUCCESS) {
            sqlite3_bind_int64(statement, index, number);
            last_integer_ = number;
        } else {
            sqlite3_bind_null(statement, index);
        }
        return;
    }
    case Kind::real: {
        double number;
        if ((is_string ? value.get_double_in_string() : value.get_double()).get(number) == simdjson::SUCCESS) {
            sqlite3_bind_double(statement, index, number);
        } else {
            sqlite3_bind_null(statement, index);
        }
        return;
    }
    case Kind::text: {
        std::string_view text;
        if (value.get_string().get(text) == simdjson::SUCCESS) {
            sqlite3_bind_text(statement, index, text.data(), static_cast<int>(text.size()), SQLITE_STATIC);
        } else {
            sqlite3_bind_null(statement, index);
        }
        return;
    }
    case Kind::date: {
        std::string_view text;
        double seconds;
        if (value.get_string().get(text) == simdjson::SUCCESS && parse_date(text, seconds)) {
            sqlite3_bind_double(statement, index, seconds);
        } else {
            sqlite3_bind_null(statement, index);
        }
        return;
    }
    case Kind::reference: {
        int64_t key;
        const auto &known = keys(column.target);
        const auto found = value.get_int64().get(key) == simdjson::SUCCESS ? known.find(key) : known.end();
        if (found == known.end()) {
            sqlite3_bind_null(statement, index);
        } else {
            sqlite3_bind_int64(statement, index, found->second);
        }
        return;
    }
    }
}

sqlite3_stmt *Importer::prepare_write(const Table &table, bool bulk) {
    const auto &columns = table.columns;
    const int count = static_cast<int>(columns.size());
    std::string names, marks, sets, differs;
    for (int i = 0; i < count; ++i) {
        const std::string column = columns[i].column;
        names += ", " + column;
        marks += ", ?" + std::to_string(i + 1);
        if (i == 0) continue;
        sets += ", " + column + " = excluded." + column;
        differs += (differs.empty() ? "" : " OR ") + column + " IS NOT excluded." + column;
    }
    if (hashes_) {
        names += ", Z_HASH";
        marks += ", ?" + std::to_string(count + 1);
        sets += ", Z_HASH = excluded.Z_HASH";
        differs += " OR Z_HASH IS NOT excluded.Z_HASH";
    }
    std::string sql = std::string("INSERT INTO ") + table.name + " (Z_ENT, Z_OPT" + names + ") VALUES (" + std::to_string(table.entity) + ", 1"
        + marks + ")";
    if (!bulk) {
        sql += std::string(" ON CONFLICT (") + columns[0].column + ") DO UPDATE SET Z_OPT = Z_OPT + 1" + sets + " WHERE " + differs;
    }
    return database_.prepare(sql);
}

template <typename Other>
std::optional<int64_t> Importer::bind_fields(sqlite3_stmt *write, const Table &table, ondemand::object &object, Other other) {
    const auto &columns = table.columns;
    const int count = static_cast<int>(columns.size());
    uint64_t bound = 0;
    std::optional<int64_t> first;
    // Fields mostly come in the order of the columns: the one after the last hit is tried first.
    int expected = 0;
    for (auto &&item : object) {
        ondemand::field field;
        if (std::move(item).get(field) != simdjson::SUCCESS) {
            throw std::runtime_error("record " + std::to_string(counts_.records) + " is broken");
        }
        const ondemand::raw_json_string key = field.key();
        bool is_column = false;
        for (int step = 0; step < count && !is_column; ++step) {
            const int i = expected + step < count ? expected + step : expected + step - count;
            if (key.unsafe_is_equal(columns[i].key)) {
                bind(write, i + 1, columns[i], field.value());
                bound |= uint64_t(1) << i;
                if (i == 0) first = last_integer_;
                expected = i + 1 < count ? i + 1 : 0;
                is_column = true;
            }
        }
        if (!is_column) other(key, field);
    }
    for (int i = 1; i < count; ++i) {
        if ((bound >> i & 1) == 0) sqlite3_bind_null(write, i + 1);
    }
    return first;
}

void Importer::read_list(const List &list, ondemand::value value, size_t capacity, const char *start) {
    const Table &target = table(list.target);
    listed_.clear();
    ondemand::array array;
    if (value.get_array().get(array) != simdjson::SUCCESS) return;
    for (auto item : array) {
        ondemand::object object;
        int64_t key;
        std::string_view raw;
        if (item.get_object().get(object) != simdjson::SUCCESS
            || object.find_field_unordered(target.columns[0].key).get_int64().get(key) != simdjson::SUCCESS
            || object.raw_json().get(raw) != simdjson::SUCCESS) {
            throw std::runtime_error("record " + std::to_string(counts_.records) + " lists what is no object with a key");
        }
        const uint64_t hash = XXH3_64bits(raw.data(), raw.size());
        const auto known = members_.find(key);
        if (known != members_.end() && known->second.hash == hash) {
            listed_.push_back(known->second.row);
            continue;
        }
        ondemand::document document;
        if (member_parser_.iterate(raw.data(), raw.size(), capacity - static_cast<size_t>(raw.data() - start)).get(document) != simdjson::SUCCESS
            || document.get_object().get(object) != simdjson::SUCCESS) {
            throw std::runtime_error("record " + std::to_string(counts_.records) + " lists what is no object");
        }
        bind_fields(write_member_, target, object, [](ondemand::raw_json_string, ondemand::field &) {});
        if (hashes_) sqlite3_bind_int64(write_member_, static_cast<int>(target.columns.size()) + 1, static_cast<int64_t>(hash));
        // In a bulk load, too, one object is met often.
        database_.check(sqlite3_step(write_member_), SQLITE_DONE);
        sqlite3_reset(write_member_);
        sqlite3_bind_int64(find_member_, 1, key);
        database_.check(sqlite3_step(find_member_), SQLITE_ROW);
        const int64_t row = sqlite3_column_int64(find_member_, 0);
        sqlite3_reset(find_member_);
        members_[key] = {row, hash};
        listed_.push_back(row);
    }
}

void Importer::write_pairs(int64_t row, bool bulk) {
    std::sort(listed_.begin(), listed_.end());
    listed_.erase(std::unique(listed_.begin(), listed_.end()), listed_.end());
    if (!bulk) {
        std::vector<int64_t> before;
        sqlite3_bind_int64(read_pairs_, 1, row);
        while (sqlite3_step(read_pairs_) == SQLITE_ROW) before.push_back(sqlite3_column_int64(read_pairs_, 0));
        sqlite3_reset(read_pairs_);
        if (before == listed_) return;
        if (!before.empty()) {
            sqlite3_bind_int64(delete_pairs_, 1, row);
            database_.check(sqlite3_step(delete_pairs_), SQLITE_DONE);
            sqlite3_reset(delete_pairs_);
        }
    }
    for (const int64_t member : listed_) {
        sqlite3_bind_int64(insert_pair_, 1, row);
        sqlite3_bind_int64(insert_pair_, 2, member);
        database_.check(sqlite3_step(insert_pair_), SQLITE_DONE);
        sqlite3_reset(insert_pair_);
    }
}

void Importer::import(const std::string &name, const std::string &body, bool bulk) {
    const Table &table = this->table(name);
    const auto &columns = table.columns;
    const int count = static_cast<int>(columns.size());

    sqlite3_stmt *write = prepare_write(table, bulk);
    const List &list = table.list;
    if (list.key != nullptr) {
        const std::string pairs = list.pairs, owner = list.owner, member = list.member, target = list.target;
        write_member_ = prepare_write(this->table(target), false);
        find_member_ = database_.prepare("SELECT Z_PK FROM " + target + " WHERE " + this->table(target).columns[0].column + " = ?1");
        find_owner_ = database_.prepare("SELECT Z_PK FROM " + name + " WHERE " + columns[0].column + " = ?1");
        read_pairs_ = database_.prepare("SELECT " + member + " FROM " + pairs + " WHERE " + owner + " = ?1 ORDER BY " + member);
        delete_pairs_ = database_.prepare("DELETE FROM " + pairs + " WHERE " + owner + " = ?1");
        insert_pair_ = database_.prepare("INSERT INTO " + pairs + " (" + owner + ", " + member + ") VALUES (?1, ?2)");
    }
    sqlite3_stmt *look = hashes_ && !bulk
        ? database_.prepare("SELECT Z_HASH FROM " + name + " WHERE " + columns[0].column + " = ?1") : nullptr;

    RecordCutter cutter(body);
    if (!cutter.is_open()) throw std::runtime_error("cannot open " + body);
    ondemand::parser parser;
    std::string_view record;
    while (cutter.next(record)) {
        counts_.records += 1;
        ondemand::document document;
        ondemand::object object;
        if (parser.iterate(record.data(), record.size(), cutter.capacity(record)).get(document) != simdjson::SUCCESS
            || document.get_object().get(object) != simdjson::SUCCESS) {
            throw std::runtime_error("record " + std::to_string(counts_.records) + " is no JSON object");
        }
        int64_t hash = 0;
        if (hashes_) hash = static_cast<int64_t>(XXH3_64bits(record.data(), record.size()));
        if (look != nullptr) {
            int64_t key;
            if (object.find_field_unordered(columns[0].key).get_int64().get(key) == simdjson::SUCCESS) {
                sqlite3_bind_int64(look, 1, key);
                const bool same = sqlite3_step(look) == SQLITE_ROW && sqlite3_column_int64(look, 0) == hash;
                sqlite3_reset(look);
                if (same) {
                    counts_.skipped_by_hash += 1;
                    continue;
                }
            }
            if (object.reset().error() != simdjson::SUCCESS) throw std::runtime_error("cannot read a record again");
        }

        listed_.clear();
        const std::optional<int64_t> key = bind_fields(write, table, object, [&](ondemand::raw_json_string name, ondemand::field &field) {
            if (list.key != nullptr && name.unsafe_is_equal(list.key)) {
                read_list(list, field.value(), cutter.capacity(record), record.data());
            }
        });
        if (!key) {
            counts_.rejected += 1;  // no key: nothing to find it by
            continue;
        }
        if (hashes_) sqlite3_bind_int64(write, count + 1, hash);
        database_.check(sqlite3_step(write), SQLITE_DONE);
        if (list.key != nullptr) {
            int64_t row = sqlite3_last_insert_rowid(database_.handle());
            if (!bulk) {
                sqlite3_bind_int64(find_owner_, 1, *key);
                database_.check(sqlite3_step(find_owner_), SQLITE_ROW);
                row = sqlite3_column_int64(find_owner_, 0);
                sqlite3_reset(find_owner_);
            }
            write_pairs(row, bulk);
        }
        sqlite3_reset(write);
    }
    for (sqlite3_stmt *statement : {write, look, write_member_, find_member_, find_owner_, read_pairs_, delete_pairs_, insert_pair_}) {
        sqlite3_finalize(statement);
    }
    if (!cutter.is_complete()) throw std::runtime_error(body + " ends inside its array");
    counts_.body_bytes += cutter.bytes();
    keys_.erase(name);
}
