"""Reads Arrow streams and a Parquet file of the server and of the command with pyarrow, polars and
DuckDB, and compares the values with the JSON of the same read."""

import io
import json
import os
import subprocess
import sys
import urllib.error
import urllib.request
from typing import Any

import duckdb
import polars
import pyarrow
import pyarrow.ipc
import pyarrow.parquet

command, folder = sys.argv[1], sys.argv[2]
ARROW = "application/vnd.apache.arrow.stream"


def post(path: str, body: dict[str, Any], accept: str) -> tuple[bytes, str]:
    """Sends a request, and returns the body and the media type of the answer."""
    request = urllib.request.Request(
        os.environ["OMNIGRAPH_URL"] + path,
        data=json.dumps(body).encode(),
        headers={"Authorization": "Bearer " + os.environ["OMNIGRAPH_TOKEN"], "Content-Type": "application/json", "Accept": accept},
    )
    with urllib.request.urlopen(request) as answer:
        return answer.read(), answer.headers["Content-Type"]


def read(stream: bytes) -> tuple[pyarrow.Table, dict[bytes, bytes]]:
    """Returns the rows of a stream, and the metadata of its last batch."""
    reader = pyarrow.ipc.open_stream(stream)
    batches, last = [], {}
    while True:
        try:
            batch, meta = reader.read_next_batch_with_custom_metadata()
        except StopIteration:
            return pyarrow.Table.from_batches(batches, reader.schema), last
        batches.append(batch)
        last = dict(meta or {})


names = ["order", "text", "bool", "i32", "i64", "u32", "u64", "f32", "f64", "date", "moment", "span", "choice", "vector", "opt_i64", "opt_u64", "i64s", "u64s", "texts"]
text = "query all() { match { $e: Every } return { " + ", ".join(f"$e.{n} as {n}" for n in names) + " } order { $e.order } }"
answer = json.loads(post("/graphs/every/query", {"query": text}, "application/json")[0])
stream, media = post("/graphs/every/query", {"query": text}, ARROW)
assert media == ARROW, media
table, last = read(stream)

# The metadata of the schema has the commit; the metadata of the last batch has the number of rows.
assert table.schema.metadata[b"omnigraph.graph_commit_id"].decode() == answer["graph_commit_id"]
assert last[b"omnigraph.truncated"] == b"false" and int(last[b"omnigraph.row_count"]) == answer["row_count"] == table.num_rows

# Every integer is exact. Python also reads integers in JSON exactly, so the two can be compared.
for name in ["order", "i32", "i64", "u32", "u64", "opt_i64", "opt_u64", "i64s", "u64s", "text", "bool", "choice", "texts"]:
    assert table.column(name).to_pylist() == [row[name] for row in answer["rows"]], name
assert table.schema.field("i64").type == pyarrow.int64() and table.schema.field("u64").type == pyarrow.uint64()
assert -(2**63) in table.column("i64").to_pylist() and 2**64 - 1 in table.column("u64").to_pylist()

# The first page leaves rows out; the second page has them.
part, last = read(post("/graphs/every/query", {"query": text, "max_rows": 1}, ARROW)[0])
assert part.num_rows == 1 and last[b"omnigraph.truncated"] == b"true" and last[b"omnigraph.truncated_by"] == b"rows"
token = last[b"omnigraph.next_page_token"].decode()
rest, last = read(post("/graphs/every/query", {"query": text, "page_token": token}, ARROW)[0])
assert part.num_rows + rest.num_rows == table.num_rows and last[b"omnigraph.truncated"] == b"false"
assert pyarrow.concat_tables([part.replace_schema_metadata(), rest.replace_schema_metadata()]).equals(table.replace_schema_metadata())

# A read that returns no rows, a stored query, and an error before the first row.
empty, last = read(post("/graphs/every/query", {"query": 'query none() { match { $e: Every { text: "nothing" } } return { $e.i64 as n } }'}, ARROW)[0])
assert empty.num_rows == 0 and empty.schema.names == ["n"] and last[b"omnigraph.row_count"] == b"0"
packages, _ = read(post("/graphs/code/queries/heaviest_packages", {}, ARROW)[0])
assert packages.to_pylist() == json.loads(post("/graphs/code/queries/heaviest_packages", {}, "application/json")[0])["rows"]
try:
    post("/graphs/every/query", {"query": "query q() { match { $e: Nobody } return { $e } }"}, ARROW)
    raise AssertionError("a query with an unknown type was answered")
except urllib.error.HTTPError as refused:
    assert refused.code == 400 and "Nobody" in json.loads(refused.read())["error"]

# An export of one type.
exported, _ = read(post("/graphs/every/export", {"type_names": ["Every"]}, ARROW)[0])
assert exported.num_rows == table.num_rows and exported.schema.metadata[b"omnigraph.type_name"] == b"Every"
assert sorted(exported.column("u64").to_pylist()) == sorted(table.column("u64").to_pylist())
lines = [json.loads(line) for line in post("/graphs/every/export", {"type_names": ["Every"]}, "application/x-ndjson")[0].splitlines()]
assert [line["data"]["id"] for line in lines] == exported.column("id").to_pylist()

# polars and DuckDB read the same stream.
frame = polars.read_ipc_stream(io.BytesIO(stream))
assert frame["i64"].to_list() == table.column("i64").to_pylist() and frame["u64"].to_list() == table.column("u64").to_pylist()
assert frame["moment"].to_list() == table.column("moment").to_pylist()
found = duckdb.sql('SELECT min(i64), max(u64), count(*) FROM "table"').fetchall()[0]
assert found == (min(table.column("i64").to_pylist()), max(table.column("u64").to_pylist()), table.num_rows), found

# The command reads from the server, and writes an Arrow stream and then a Parquet file.
file = os.path.join(folder, "all.gq")
with open(file, "w") as out:
    out.write(text)
flags = ["query", "--server", os.environ["OMNIGRAPH_URL"], "--graph", "every", "--query", file, "--format"]
printed, _ = read(subprocess.run([command, *flags, "arrow"], check=True, stdout=subprocess.PIPE).stdout)
assert printed.equals(table)
path = os.path.join(folder, "all.parquet")
with open(path, "wb") as out:
    subprocess.run([command, *flags, "parquet"], check=True, stdout=out)
kept = pyarrow.parquet.read_table(path)
for name in [n for n in names if n != "span"]:
    assert kept.column(name).to_pylist() == table.column(name).to_pylist(), name
rows = duckdb.sql(f"SELECT i64, u64 FROM '{path}' ORDER BY \"order\"").fetchall()
assert rows == list(zip(table.column("i64").to_pylist(), table.column("u64").to_pylist())), rows
