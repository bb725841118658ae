"""Checks a Parquet export of a graph in DuckDB: each entry of the manifest against the files, and
each value against the answers of `omnigraph query`. Then it compares the rows of each statement in
STATEMENTS, which is SQL or the SQL blocks of a Markdown page, with those of a query in QUERIES.

Usage: check.py OMNIGRAPH STORE EXPORT STATEMENTS QUERIES
"""

import base64
import datetime
import decimal
import hashlib
import json
import pathlib
import re
import struct
import subprocess
import sys

import duckdb

# The DuckDB type of each scalar type of a schema. A Vector is a FLOAT[], a list of T is a T[].
DUCKDB_TYPES = {
    "String": "VARCHAR",
    "Bool": "BOOLEAN",
    "I32": "INTEGER",
    "I64": "BIGINT",
    "U32": "UINTEGER",
    "U64": "UBIGINT",
    "F32": "FLOAT",
    "F64": "DOUBLE",
    "Date": "DATE",
    "DateTime": "TIMESTAMP WITH TIME ZONE",
    "Duration": "BIGINT",
    "Decimal": "DECIMAL(38,4)",
    "Blob": "BLOB",
}

EPOCH = datetime.datetime(1970, 1, 1)


def scalar(type_):
    """Returns the scalar type of a column, without ? and brackets."""
    name = type_.rstrip("?").strip("[]")
    return "String" if name.startswith("enum(") else re.sub(r"\(.*", "", name)


def is_list(type_):
    return type_.startswith("[") or type_.startswith("Vector")


def duckdb_type(type_):
    element = "FLOAT" if scalar(type_) == "Vector" else DUCKDB_TYPES[scalar(type_)]
    return element + "[]" if is_list(type_) else element


def float32(number):
    return struct.unpack("f", struct.pack("f", number))[0]


def nanoseconds(text):
    """Parses a duration in the canonical form, such as -PT1H2M3.5S."""
    sign, hours, minutes, seconds, decimals = re.fullmatch(r"(-?)PT(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)(?:\.(\d+))?S)?", text).groups()
    whole = (int(hours or 0) * 60 + int(minutes or 0)) * 60 + int(seconds or 0)
    return (-1 if sign else 1) * (whole * 10**9 + int((decimals or "").ljust(9, "0")))


def microseconds(text):
    moment = datetime.datetime.strptime(text, "%Y-%m-%dT%H:%M:%S.%fZ")
    return (moment - EPOCH) // datetime.timedelta(microseconds=1)


# How to compare a value of an answer, which is JSON, with a value of DuckDB.
FROM_JSON = {
    "I64": int,
    "U64": int,
    "F32": float32,
    "Vector": float32,
    "Date": datetime.date.fromisoformat,
    "DateTime": microseconds,
    "Duration": nanoseconds,
    "Decimal": decimal.Decimal,
    "Blob": base64.b64decode,
}


def from_json(type_, value):
    convert = FROM_JSON.get(scalar(type_), lambda v: v)
    if value is None:
        return None
    return [convert(v) for v in value] if is_list(type_) else convert(value)


def selected(column):
    """Returns the SQL that reads a column. Instants are read as microseconds, so that Python needs no
    time zones."""
    name = '"%s"' % column["name"]
    if scalar(column["type"]) != "DateTime":
        return name
    return f"list_transform({name}, lambda x: epoch_us(x))" if is_list(column["type"]) else f"epoch_us({name})"


class Graph:
    """The graph that was exported, read with the command."""

    def __init__(self, command, store):
        self.command, self.store = command, store

    def run(self, *args):
        return subprocess.run([self.command, *args, "--store", self.store], check=True, stdout=subprocess.PIPE).stdout

    def query(self, text):
        """Returns the rows of a query as lists of JSON values, in the order of its columns."""
        path = pathlib.Path(self.store + ".gq")
        path.write_text("query check() { %s }\n" % text)
        out = self.run("query", "--query", str(path), "check", "--max-rows", "10000000", "--format", "ndjson")
        return [list(json.loads(line).values()) for line in out.splitlines()]

    def entities(self, type_):
        """Returns the rows of a type by id, as lists of JSON values in the order of its columns."""
        name = type_["type_name"]
        columns = [c["name"] for c in type_["columns"]]
        match, variable = "$e: " + name, "$e"
        interfaces = {end: type_[end + "_interface"] for end in ("from", "to") if end + "_interface" in type_}
        if type_["entity_kind"] == "edge":
            start, end = (interfaces[e]["name"] if e in interfaces else type_[e + "_type"] for e in ("from", "to"))
            match = f"$a: {start} $b: {end} $a $e:{name[0].lower() + name[1:]} $b"
        # A query cannot return a blob.
        blobs = [c for c in type_["columns"] if scalar(c["type"]) == "Blob"]
        types = [i["type_column"] for i in interfaces.values()]
        readable = [c for c in columns if c not in types + [b["name"] for b in blobs]]
        returned = ", ".join(f"{variable}.{c} as c{i}" for i, c in enumerate(readable))
        rows = {}
        for row in self.query(f"match {{ {match} }} return {{ {returned} }}"):
            values = dict(zip(readable, row))
            for end, interface in interfaces.items():
                node = values[end]  # an object
                values[interface["type_column"]], values[end] = node["type"], node["id"]
            rows[values["id"]] = values
        if blobs:
            for line in self.run("export", "--type", name).splitlines():
                data = json.loads(line)["data"]
                for b in blobs:
                    rows[data["id"]][b["name"]] = data.get(b["name"])
        return {id_: [values[c] for c in columns] for id_, values in rows.items()}


class Check:
    def __init__(self, graph, export):
        self.graph, self.export = graph, export
        self.manifest = json.loads((export / "manifest.json").read_text())
        self.db = duckdb.connect()
        self.values = 0
        self.faults = 0

    def equal(self, what, found, want):
        if found != want:
            self.faults += 1
            print(f"{what}: found {found!r}, want {want!r}", file=sys.stderr)

    def all(self):
        snapshot = json.loads(self.graph.run("snapshot", "--format", "json"))
        self.equal("commit", self.manifest["commit"]["graph_commit_id"], snapshot["graph_commit_id"])
        self.equal("schema digest", self.manifest["schema_digest"], snapshot["schema_digest"])
        counts = {(d["entity_kind"], d["type_name"]): d["entity_count"] for d in snapshot["datasets"]}
        self.equal("types", {(t["entity_kind"], t["type_name"]): t["row_count"] for t in self.manifest["types"]}, counts)
        files = {f["path"] for t in self.manifest["types"] for f in t["files"]}
        there = {p.relative_to(self.export).as_posix() for p in self.export.rglob("*") if p.is_file()}
        self.equal("files", there - {"manifest.json"}, files)
        for type_ in self.manifest["types"]:
            self.files(type_)
            self.columns(type_)
            self.rows(type_)
        for type_ in self.manifest["types"]:
            if type_["entity_kind"] == "edge":
                self.ends(type_)

    def files(self, type_):
        for f in type_["files"]:
            data = (self.export / f["path"]).read_bytes()
            self.equal(f["path"] + " sha256", f["sha256"], hashlib.sha256(data).hexdigest())
            self.equal(f["path"] + " size_bytes", f["size_bytes"], len(data))
            rows = self.db.execute("SELECT count(*) FROM read_parquet(?)", [str(self.export / f["path"])]).fetchone()[0]
            self.equal(f["path"] + " row_count", f["row_count"], rows)
        self.equal(type_["folder"] + " row_count", type_["row_count"], sum(f["row_count"] for f in type_["files"]))

    def read(self, type_):
        """Returns the SQL that reads all files of a type."""
        return f"read_parquet('{self.export / type_['folder']}/*.parquet')"

    def columns(self, type_):
        found = [(name, t) for name, t, *_ in self.db.execute("DESCRIBE SELECT * FROM " + self.read(type_)).fetchall()]
        self.equal(type_["folder"] + " columns", found, [(c["name"], duckdb_type(c["type"])) for c in type_["columns"]])
        schema = f"SELECT DISTINCT name, repetition_type FROM parquet_schema('{self.export / type_['folder']}/*.parquet')"
        required = {name for name, repetition in self.db.execute(schema).fetchall() if repetition == "REQUIRED"}
        for c in type_["columns"]:
            self.equal(f"{type_['folder']} {c['name']} nullable", c["name"] not in required, c["nullable"])

    def rows(self, type_):
        want = self.graph.entities(type_)
        found = []
        for f in type_["files"]:
            sql = f"SELECT {', '.join(map(selected, type_['columns']))} FROM read_parquet(?)"
            found += self.db.execute(sql, [str(self.export / f["path"])]).fetchall()
        position = [c["name"] for c in type_["columns"]].index("id")
        ids = [row[position] for row in found]
        self.equal(type_["folder"] + " ids", ids, sorted(want, key=lambda s: s.encode()))
        for row in found:
            for column, value, answer in zip(type_["columns"], row, want.get(row[position], [])):
                self.values += 1
                self.equal(f"{type_['folder']} {row[position]} {column['name']}", value, from_json(column["type"], answer))

    def ends(self, type_):
        """Checks that each edge joins two nodes."""
        folders = {t["type_name"]: t for t in self.manifest["types"] if t["entity_kind"] == "node"}

        def join(end):
            interface = type_.get(end + "_interface")
            if interface is None:
                return f"""JOIN {self.read(folders[type_[end + '_type']])} {end}_node ON {end}_node.id = e."{end}" """
            nodes = " UNION ALL ".join(f"SELECT '{t}' AS type, id FROM {self.read(folders[t])}" for t in interface["node_types"])
            return f"""JOIN ({nodes}) {end}_node ON {end}_node.id = e."{end}" AND {end}_node.type = e."{interface['type_column']}" """

        sql = f"SELECT count(*) FROM {self.read(type_)} e {join('from')} {join('to')}"
        self.equal(type_["folder"] + " joined with its nodes", self.db.execute(sql).fetchone()[0], type_["row_count"])

    def same(self, sql, query):
        """Compares the rows of a statement with those of a query. Both must order them, and there must
        be some."""
        found = [list(row) for row in self.db.execute(sql).fetchall()]
        self.equal(sql, found, self.graph.query(query))
        self.equal("there are rows of " + sql, len(found) > 0, True)


def statements(path):
    text = pathlib.Path(path).read_text()
    if path.endswith(".md"):
        return re.findall(r"```sql\n(.*?)```", text, re.DOTALL)
    return blocks(re.sub(r"^--.*\n", "", text, flags=re.MULTILINE))


def blocks(text):
    return [block for block in text.split("\n\n") if block.strip()]


def main(command, store, export, sql, queries):
    check = Check(Graph(command, store), pathlib.Path(export))
    check.all()
    compared = list(zip(statements(sql), blocks(pathlib.Path(queries).read_text()), strict=True))
    for statement, query in compared:
        check.same(statement, query)
    types = check.manifest["types"]
    files = sum(len(t["files"]) for t in types)
    print(f"{export}: {len(types)} types, {files} files, {check.values} values and {len(compared)} statements read by DuckDB {duckdb.__version__}, {check.faults} differ")
    return 1 if check.faults or not compared else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
