// c-peer geo FOLDER|places BODY|issues BODY --db FILE [--cities BODY] [--hashes]
//
// The limit that Cistern is measured against: one thread, simdjson on demand, prepared statements, one durable transaction.
// An empty database is loaded in bulk under a rollback journal, its indices built at the end; a filled one is updated under WAL by
// upserts that write nothing where nothing differs. Prints one line of JSON.

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>

#include <sys/resource.h>

#include "importer.h"

struct Body {
    std::string table, path;
};

static std::string plain_or_zipped(const std::string &folder, const std::string &name) {
    const std::string plain = folder + "/" + name;
    return std::filesystem::exists(plain) ? plain : plain + ".gz";
}

static double seconds(const timeval &time) { return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6; }

/// Not getrusage's ru_maxrss: that one also remembers the process that started this one.
static double peak_memory_mib() {
    std::ifstream status("/proc/self/status");
    for (std::string line; std::getline(status, line);) {
        if (line.rfind("VmHWM:", 0) == 0) return std::stod(line.substr(6)) / 1024.0;
    }
    return 0;
}

static void run(Database &database, const std::vector<Table> &tables, const std::vector<Body> &bodies, bool hashes, bool first, Counts &counts) {
    database.execute("PRAGMA cache_size = -64000");
    database.execute("PRAGMA synchronous = FULL");
    database.execute(first ? "PRAGMA journal_mode = DELETE" : "PRAGMA journal_mode = WAL");
    // The second round is for a first load whose bulk insert met a key twice, which only the unique index can resolve.
    for (bool bulk : {first, false}) {
        Importer importer(database, tables, hashes);
        try {
            database.execute("BEGIN IMMEDIATE");
            if (first) importer.create_tables();
            if (first && !bulk) importer.create_indices();
            for (const Body &body : bodies) importer.import(body.table, body.path, bulk);
            if (bulk) importer.create_indices();
            importer.finish();
            database.execute("COMMIT");
            counts = importer.counts();
            return;
        } catch (const std::runtime_error &) {
            if (!bulk || sqlite3_errcode(database.handle()) != SQLITE_CONSTRAINT) throw;
            database.execute("ROLLBACK");
        }
    }
}

int main(int argc, char **argv) {
    std::string workload, input, database_path, cities;
    bool hashes = false;
    for (int i = 1; i < argc; ++i) {
        const std::string argument = argv[i];
        if (argument == "--db" && i + 1 < argc) database_path = argv[++i];
        else if (argument == "--cities" && i + 1 < argc) cities = argv[++i];
        else if (argument == "--hashes") hashes = true;
        else if (workload.empty()) workload = argument;
        else input = argument;
    }
    if ((workload != "geo" && workload != "places" && workload != "issues") || input.empty() || database_path.empty()) {
        std::fprintf(stderr, "usage: c-peer geo FOLDER|places BODY|issues BODY --db FILE [--cities BODY] [--hashes]\n");
        return 64;
    }
    std::vector<Body> bodies;
    if (workload == "geo") {
        bodies = {{"ZCOUNTRY", plain_or_zipped(input, "countries.json")},
                  {"ZSTATE", plain_or_zipped(input, "states.json")},
                  {"ZCITY", cities.empty() ? plain_or_zipped(input, "cities.json") : cities}};
    } else {
        bodies = {{workload == "issues" ? "ZISSUE" : "ZPLACE", input}};
    }

    try {
        const auto start = std::chrono::steady_clock::now();
        Database database(database_path);
        const bool first = database.integer("SELECT count(*) FROM sqlite_schema") == 0;
        const auto &tables = workload == "geo" ? geo_tables() : workload == "issues" ? issue_tables() : place_tables();
        Counts counts;
        run(database, tables, bodies, hashes, first, counts);
        int64_t rows = 0;
        for (const Table &table : tables) rows += database.integer(std::string("SELECT max(Z_PK) FROM ") + table.name);
        const int64_t written = sqlite3_total_changes64(database.handle()) - (first ? 2 : 1) * static_cast<int64_t>(tables.size());
        database.close();  // with the checkpoint that the last connection makes
        const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - start;
        rusage usage{};
        getrusage(RUSAGE_SELF, &usage);
        std::printf(
            "{\"workload\": \"%s\", \"first\": %s, \"hashes\": %s, \"wall_s\": %.4f, \"cpu_s\": %.4f, \"peak_rss_mib\": %.1f, "
            "\"records\": %llu, \"rejected\": %llu, \"rows\": %lld, \"rows_written\": %lld, \"skipped_by_hash\": %llu, \"body_bytes\": %llu}\n",
            workload.c_str(), first ? "true" : "false", hashes ? "true" : "false", wall.count(),
            seconds(usage.ru_utime) + seconds(usage.ru_stime), peak_memory_mib(),
            static_cast<unsigned long long>(counts.records), static_cast<unsigned long long>(counts.rejected), static_cast<long long>(rows),
            static_cast<long long>(written), static_cast<unsigned long long>(counts.skipped_by_hash),
            static_cast<unsigned long long>(counts.body_bytes));
        return 0;
    } catch (const std::exception &error) {
        std::fprintf(stderr, "c-peer: %s\n", error.what());
        return 1;
    }
}
