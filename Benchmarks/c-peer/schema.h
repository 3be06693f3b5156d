// What is mapped: the tables of the two workloads, in Core Data's file layout.
#pragma once

#include <string>
#include <vector>

enum class Kind { integer, text, real, date, reference };

struct Column {
    const char *key;      // in the record
    const char *column;   // in the table
    Kind kind;
    const char *target = nullptr;  // the table a reference points to, by its key
};

struct Table {
    const char *name;
    int entity;
    const char *entity_name;
    std::vector<Column> columns;  // the first is the key
};

inline const std::vector<Table> &geo_tables() {
    static const std::vector<Table> tables = {
        {"ZCITY", 1, "City",
         {{"id", "ZID", Kind::integer},
          {"name", "ZNAME", Kind::text},
          {"state_id", "ZSTATE", Kind::reference, "ZSTATE"},
          {"country_id", "ZCOUNTRY", Kind::reference, "ZCOUNTRY"},
          {"latitude", "ZLATITUDE", Kind::real},
          {"longitude", "ZLONGITUDE", Kind::real},
          {"population", "ZPOPULATION", Kind::integer},
          {"timezone", "ZTIMEZONE", Kind::text},
          {"updated_at", "ZUPDATEDAT", Kind::date},
          {"wikiDataId", "ZWIKIDATAID", Kind::text}}},
        {"ZCOUNTRY", 2, "Country",
         {{"id", "ZID", Kind::integer},
          {"name", "ZNAME", Kind::text},
          {"iso3", "ZISO3", Kind::text},
          {"iso2", "ZISO2", Kind::text},
          {"capital", "ZCAPITAL", Kind::text},
          {"currency", "ZCURRENCY", Kind::text},
          {"population", "ZPOPULATION", Kind::integer},
          {"region", "ZREGION", Kind::text},
          {"latitude", "ZLATITUDE", Kind::real},
          {"longitude", "ZLONGITUDE", Kind::real}}},
        {"ZSTATE", 3, "State",
         {{"id", "ZID", Kind::integer},
          {"name", "ZNAME", Kind::text},
          {"country_id", "ZCOUNTRY", Kind::reference, "ZCOUNTRY"},
          {"iso2", "ZISO2", Kind::text},
          {"type", "ZKIND", Kind::text},
          {"latitude", "ZLATITUDE", Kind::real},
          {"longitude", "ZLONGITUDE", Kind::real},
          {"timezone", "ZTIMEZONE", Kind::text},
          {"updated_at", "ZUPDATEDAT", Kind::date},
          {"wikiDataId", "ZWIKIDATAID", Kind::text}}},
    };
    return tables;
}

inline const std::vector<Table> &place_tables() {
    static const std::vector<Table> tables = {
        {"ZPLACE", 1, "Place",
         {{"id", "ZID", Kind::integer},
          {"name", "ZNAME", Kind::text},
          {"code", "ZCODE", Kind::text},
          {"kind", "ZKIND", Kind::text},
          {"latitude", "ZLATITUDE", Kind::real},
          {"longitude", "ZLONGITUDE", Kind::real},
          {"population", "ZPOPULATION", Kind::integer},
          {"updated_at", "ZUPDATEDAT", Kind::date}}},
    };
    return tables;
}
