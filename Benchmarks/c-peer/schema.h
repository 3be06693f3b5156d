// What is mapped: the tables of the workloads, in Core Data's file layout.
#pragma once

#include <string>
#include <string_view>
#include <vector>

enum class Kind { integer, text, real, date, reference };

struct Column {
    std::string_view key;  // in the record
    const char *column;    // in the table
    Kind kind;
    const char *target = nullptr;  // the table a reference points to, by its key
};

/// A list of objects inside a record: each is a row of another table, and which of them a record has is in a table of pairs.
struct List {
    const char *key = nullptr;     // in the record; none: there is no list
    const char *target = nullptr;  // the table of the objects
    const char *pairs = nullptr;   // the table of the pairs, with these columns
    const char *owner = nullptr;
    const char *member = nullptr;
};

struct Table {
    const char *name;
    int entity;
    const char *entity_name;
    std::vector<Column> columns;  // the first is the key
    List list = {};
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

inline const std::vector<Table> &issue_tables() {
    static const std::vector<Table> tables = {
        {"ZISSUE", 1, "Issue",
         {{"id", "ZID", Kind::integer},
          {"number", "ZNUMBER", Kind::integer},
          {"title", "ZTITLE", Kind::text},
          {"state", "ZSTATE", Kind::text},
          {"comments", "ZCOMMENTS", Kind::integer},
          {"created_at", "ZCREATEDAT", Kind::date}},
         {"labels", "ZLABEL", "Z_1LABELS", "Z_1ISSUES", "Z_2LABELS"}},
        {"ZLABEL", 2, "Label",
         {{"id", "ZID", Kind::integer},
          {"name", "ZNAME", Kind::text},
          {"color", "ZCOLOR", Kind::text}}},
    };
    return tables;
}
