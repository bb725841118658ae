"""Runs texts of SQL and Cypher on the data of a graph, for the test in this folder.

The standard input is a JSON object: "types" describes the tables, "rows" has their rows, and "texts" has for each text its
name, its language ("sql" or "cypher"), the text and the parameters. The answer is a JSON object: by name of a text and by
name of a database, {"rows": [[…]]} or {"error": "…"}. Each value is written as a text that the test compares with its own.
The only row of a change that fails because a key exists is REFUSED.
SQL runs on SQLite, and on DuckDB with the rules of PostgreSQL; Cypher runs on LadybugDB.
"""

import csv
import datetime
import decimal
import json
import math
import pathlib
import re
import sqlite3
import sys
import tempfile

import duckdb
import ladybug

DUCKDB = {"String": "VARCHAR", "I": "BIGINT", "F": "DOUBLE", "Bool": "BOOLEAN", "Date": "DATE", "DateTime": "TIMESTAMP"}
SQLITE = {"String": "TEXT", "I": "INTEGER", "F": "REAL", "Bool": "INTEGER", "Date": "TEXT", "DateTime": "TEXT"}
LADYBUG = {"String": "STRING", "I": "INT64", "F": "DOUBLE", "Bool": "BOOL", "Date": "DATE", "DateTime": "TIMESTAMP"}
REFUSED = ["the key exists"]
KEY_EXISTS = re.compile(r"UNIQUE constraint failed|Duplicate key|duplicate key|duplicated primary key")


def snake(name):
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()


def plain(name):
    return name.replace("_", "").lower()


def canonical(v):
    """The text of a value, as the test writes it too."""
    if v is None:
        return "null"
    if isinstance(v, bool):
        return "1" if v else "0"
    if isinstance(v, (int, float, decimal.Decimal)):
        f = float(v)
        if math.isnan(f) or math.isinf(f):
            return "null"
        return f"{f:.9g}" if f else "0"
    if isinstance(v, datetime.datetime):
        return canonical(v.replace(tzinfo=None).isoformat(timespec="seconds"))
    if isinstance(v, datetime.date):
        return v.isoformat()
    if isinstance(v, datetime.timedelta):
        return canonical(v.total_seconds())
    if isinstance(v, str):
        if re.fullmatch(r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d", v):
            v = v.replace(" ", "T").removesuffix("T00:00:00")
        return "'" + v + "'" if not re.fullmatch(r"\d{4}-\d\d-\d\d(T.*)?", v) else v
    if isinstance(v, (list, tuple)):
        return "[" + ", ".join(sorted(canonical(e) for e in v)) + "]"
    if isinstance(v, dict):
        fields = {k: canonical(e) for k, e in v.items() if k not in ("_ID", "_LABEL", "_id", "_label", "pk__") and e is not None}
        return "{" + ", ".join(f"{k}: {e}" for k, e in sorted(fields.items())) + "}"
    return repr(v)


def columns_of(t, types):
    """The columns of a table, with the other names that texts give to the ends of an edge."""
    out = [(p["name"], p["kind"], p["list"], p["name"]) for p in t["properties"]]
    have = {plain(p["name"]) for p in t["properties"]}

    def add(name, source):
        if name.lower() not in {c[0].lower() for c in out}:
            out.append((name, "I" if source_kind[source] == "I" else "String", False, source))

    source_kind = {"id__": "String", "from__": "String", "to__": "String"}
    if t["edge"]:
        for end, names in (("from__", ["src", "from", "from_id", "source", "source_id", "src_id"]), ("to__", ["dst", "to", "to_id", "target", "target_id", "dst_id"])):
            node = types[t["from" if end == "from__" else "to"]]
            if len(node["key"]) == 1:
                source_kind[end] = next(p["kind"] for p in node["properties"] if p["name"] == node["key"][0])
            if t["from"] != t["to"]:
                base = snake(node["name"])
                names = names + [base + "_id", base, *(base + "_" + k for k in node["key"])]
            for n in names:
                add(n, end)
        add("id", "id__")
    elif "id" not in have:
        if len(t["key"]) == 1:
            source_kind["id__"] = next(p["kind"] for p in t["properties"] if p["name"] == t["key"][0])
        add("id", "id__")
    return out


def value_of(row, source, kind, sqlite):
    v = row.get(source)
    if v is None:
        return None
    if source in ("id__", "from__", "to__") and kind == "I":
        return int(v)
    if sqlite and isinstance(v, list):
        return json.dumps(v)
    if sqlite and isinstance(v, bool):
        return int(v)
    if kind == "DateTime":
        return v.replace("T", " ").removesuffix("Z")
    return v


def fill_sql(execute, types, rows, kinds, sqlite):
    taken = set()
    for t in types.values():
        columns = columns_of(t, types)
        names = ", ".join(f'"{c[0]}" {kinds[c[1]]}{"[]" if c[2] and not sqlite else ""}' for c in columns)
        if not t["edge"] and len(t["key"]) == 1:
            names += f', UNIQUE ("{t["key"][0]}")'
        execute(f'CREATE TABLE "{t["name"]}" ({names})', None)
        taken.add(t["name"].lower())
        values = [[value_of(r, c[3], c[1], sqlite) for c in columns] for r in rows.get(t["name"], [])]
        if values:
            execute(f'INSERT INTO "{t["name"]}" VALUES ' + ", ".join("(" + ", ".join("?" * len(columns)) + ")" for _ in values), [x for v in values for x in v])
    for t in types.values():
        base = snake(t["name"])
        for name in (base, base + "s", re.sub("y$", "ies", base), t["name"].lower(), t["name"].lower() + "s"):
            if name not in taken:
                taken.add(name)
                execute(f'CREATE VIEW "{name}" AS SELECT * FROM "{t["name"]}"', None)


def open_sqlite(types, rows):
    c = sqlite3.connect(":memory:")
    c.execute("PRAGMA case_sensitive_like = ON")
    c.execute("PRAGMA trusted_schema = ON")
    limit = c.setlimit(sqlite3.SQLITE_LIMIT_VARIABLE_NUMBER, 250000)
    fill_sql(lambda s, v: c.execute(s, v or []), types, rows, SQLITE, True)

    def run(text, params):
        return c.execute(text, {k: v for k, v in params.items()}).fetchall()

    c.commit()
    c.isolation_level = None
    return run


def open_duckdb(types, rows):
    c = duckdb.connect(":memory:")
    c.execute("SET threads = 1; SET TimeZone = 'UTC'; SET default_null_order = 'nulls_last_on_asc_first_on_desc'; SET integer_division = true")
    fill_sql(lambda s, v: c.execute(s, v) if v else c.execute(s), types, rows, DUCKDB, False)

    def run(text, params):
        params = {k: v for k, v in params.items() if "$" + k in text}
        return c.execute(text, params).fetchall() if params else c.execute(text).fetchall()

    return run


def open_ladybug(types, rows):
    c = ladybug.Connection(ladybug.Database(":memory:"), num_threads=1)
    with tempfile.TemporaryDirectory() as folder:
        for t in sorted(types.values(), key=lambda t: t["edge"]):
            members = ", ".join(f"`{p['name']}` {LADYBUG[p['kind']]}{'[]' if p['list'] else ''}" for p in t["properties"])
            if t["edge"]:
                c.execute(f"CREATE REL TABLE `{t['name']}`(FROM `{t['from']}` TO `{t['to']}`{', ' if members else ''}{members})")
            else:
                keyed = len(t["key"]) == 1
                c.execute(f"CREATE NODE TABLE `{t['name']}`({'' if keyed else 'pk__ STRING, '}{members}, PRIMARY KEY (`{t['key'][0] if keyed else 'pk__'}`))")
            file = pathlib.Path(folder) / (t["name"] + ".csv")
            ids = ["from__", "to__"] if t["edge"] else [] if keyed else ["id__"]
            with file.open("w", newline="") as f:
                w = csv.writer(f, quoting=csv.QUOTE_MINIMAL)
                for r in rows.get(t["name"], []):
                    w.writerow([r[i] for i in ids] + [cell(r.get(p["name"]), p) for p in t["properties"]])
            if rows.get(t["name"], []):
                c.execute(f"COPY `{t['name']}` FROM '{file}' (HEADER=false, PARALLEL=false)")
    names = {plain(t["name"]): t["name"] for t in types.values()}
    members = {p["name"] for t in types.values() for p in t["properties"]}

    def run(text, params):
        text = dialect(text, names, members)
        params = {k: v for k, v in params.items() if re.search(r"\$" + k + r"\b", text)}
        result = c.execute(text, params) if params else c.execute(text)
        if isinstance(result, list):
            return []
        out = []
        while result.has_next():
            out.append(result.get_next())
        return out

    return run


def cell(v, p):
    if v is None:
        return ""
    if isinstance(v, bool):
        return "true" if v else "false"
    if isinstance(v, list):
        return "[" + ",".join(str(e) for e in v) + "]"
    if p["kind"] == "DateTime":
        return v.replace("T", " ").removesuffix("Z")
    return v


def dialect(text, names, members):
    """The text in the dialect of LadybugDB: quoted labels and properties, its names of functions, and trails as paths."""
    parts = re.split(r"('(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|`[^`]*`|//[^\n]*)", text)
    for i in range(0, len(parts), 2):
        s = parts[i]
        s = re.sub(r"([:|])\s*(\w+)", lambda m: m[1] + ("`" + names[plain(m[2])] + "`" if plain(m[2]) in names and not re.match(r"\s*:", m[0][len(m[1]) + 99:]) else m[2]), s)
        s = re.sub(r"\.(\w+)\b(?!\()", lambda m: ".`" + m[1] + "`" if m[1] in members else m[0], s)
        s = re.sub(r"\bdatetime\(\s*\)", "current_timestamp()", s, flags=re.I)
        s = re.sub(r"\bdatetime\(", "timestamp(", s, flags=re.I)
        s = re.sub(r"\bdate\(\s*\)", "current_date()", s, flags=re.I)
        s = re.sub(r"\bduration\(\s*\{\s*(\w+)\s*:\s*(\d+)\s*\}\s*\)", r"interval('\2 \1')", s, flags=re.I)
        s = re.sub(r"\b(EXISTS|COUNT)\s*\{\s*(?=\()", r"\1 { MATCH ", s, flags=re.I)
        s = re.sub(r"\b(\w+\.`\w+`)\.`?(year|month|day)\b`?", r"date_part('\2', \1)", s)
        s = re.sub(r"(\[[^\[\]]*)\*(?=\s*(\d|\.\.|\]))", r"\1* TRAIL ", s) if "shortestpath" not in text.lower() else s
        s = re.sub(r"(\* TRAIL\s+)(\d+)\s*\.\.\s*(?=\])", r"\g<1>\2..7", s)
        s = re.sub(r"(\* TRAIL\s+)\.\.", r"\g<1>1..", s)
        s = re.sub(r"\bduration\.inDays\(([^,()]+(?:\(\))?),\s*([^,()]+(?:\(\))?)\)\.days", r"(\2 - \1)", s)
        s = s.replace("toFloat(", "to_float(").replace("->()", "->()")
        parts[i] = s
    text = "".join(parts)
    text = re.sub(r"\bduration\(\s*'P(\d+)D'\s*\)", r"interval('\1 days')", text, flags=re.I)
    text = re.sub(r"\bto_float\(", "to_double(", text)
    if "shortestpath" in text.lower():
        text = re.sub(r"shortestPath\(\((.*?)\)-\[:(\S+?)\*(\d*)\.\.(\d+)\]-(>?)\((.*?)\)\)", lambda m: f"({m[1]})-[:{m[2]}* SHORTEST {m[3] or 1}..{m[4]}]-{m[5]}({m[6]})", text, flags=re.I)
    return zero_sums(text.strip().rstrip(";"))


def zero_sums(text):
    """The text with the sums of openCypher: LadybugDB says null for a sum of nothing, which is 0."""
    out, at = "", 0
    for m in re.finditer(r"\bsum\(", text, flags=re.I):
        depth, end = 1, m.end()
        while depth and end < len(text):
            depth += {"(": 1, ")": -1}.get(text[end], 0)
            end += 1
        out += text[at : m.start()] + "coalesce(" + text[m.start() : end] + ", 0)"
        at = end
    return out + text[at:]


OPENERS = {"sql": [("sqlite", open_sqlite), ("duckdb", open_duckdb)], "cypher": [("ladybug", open_ladybug)]}


def after(run, t):
    """The rows of a table after a change, which is rolled back, or None if it fails because a key exists."""
    run("BEGIN TRANSACTION", {})
    try:
        run(t["text"], t["params"])
        return run(t["after"], {})
    except Exception as e:
        if KEY_EXISTS.search(str(e)):
            return None
        raise
    finally:
        try:
            run("ROLLBACK", {})
        except Exception:  # the database has rolled back after an error
            pass


def main():
    given = json.load(sys.stdin)
    types = {t["name"]: t for t in given["types"]}
    out = {}
    for language, openers in OPENERS.items():
        texts = [t for t in given["texts"] if t["language"] == language]
        for name, opener in openers if texts else ():
            run = opener(types, given["rows"])
            for t in texts:
                try:
                    rows = after(run, t) if t["after"] else run(t["text"], t["params"])
                    answer = {"rows": [REFUSED] if rows is None else [[canonical(v) for v in row] for row in rows]}
                except Exception as e:
                    answer = {"error": str(e).splitlines()[0][:300]}
                out.setdefault(t["name"], {})[name] = answer
    json.dump(out, sys.stdout)


main()
