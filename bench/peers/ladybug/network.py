"""Runs LadybugDB within this process, with a network of the Social Network Benchmark.

The arguments are the file of the database, the folder of the CSV files, and the file with the reads. When all is loaded, the
program prints "ready". Each line of the standard input then has the name of a read, the word "rows" or "time", and the
arguments, separated by tabs; an argument begins with "n" for a number or "s" for a text. The answer is a line with the number
of rows and the time in nanoseconds from the arguments until every value was read, and for "rows", a line for each row with its
values separated by tabs. If the database refuses a statement, the answer is a line with "error" and the reason.
"""

import pathlib
import sys
import time

import ladybug

# The members of a node table or a relationship table are those of its CSV file, in the same order.
NODES = {
    "Person": "id INT64 PRIMARY KEY, firstName STRING, lastName STRING, gender STRING, birthday DATE, creationDate INT64, "
    "locationIP STRING, browserUsed STRING, emails STRING[], speaks STRING[]",
    "Forum": "id INT64 PRIMARY KEY, title STRING, creationDate INT64",
    "Message": "id INT64 PRIMARY KEY, post BOOL, creationDate INT64, content STRING, length INT64",
    "Tag": "id INT64 PRIMARY KEY, name STRING",
    "TagClass": "id INT64 PRIMARY KEY, name STRING",
    "City": "id INT64 PRIMARY KEY, name STRING",
    "Country": "id INT64 PRIMARY KEY, name STRING",
    "University": "id INT64 PRIMARY KEY, name STRING",
    "Company": "id INT64 PRIMARY KEY, name STRING",
}
EDGES = {
    "Knows": "FROM Person TO Person, creationDate INT64",
    "LivesIn": "FROM Person TO City, MANY_ONE",
    "HasInterest": "FROM Person TO Tag",
    "StudyAt": "FROM Person TO University, classYear INT64",
    "WorkAt": "FROM Person TO Company, workFrom INT64",
    "Likes": "FROM Person TO Message, creationDate INT64",
    "HasModerator": "FROM Forum TO Person, MANY_ONE",
    "HasMember": "FROM Forum TO Person, joinDate INT64",
    "ContainerOf": "FROM Forum TO Message, ONE_MANY",
    "HasCreator": "FROM Message TO Person, MANY_ONE",
    "SentFrom": "FROM Message TO Country, MANY_ONE",
    "ReplyOf": "FROM Message TO Message, MANY_ONE",
    "HasTag": "FROM Message TO Tag",
    "HasType": "FROM Tag TO TagClass, MANY_ONE",
    "SubclassOf": "FROM TagClass TO TagClass, MANY_ONE",
    "CityOf": "FROM City TO Country, MANY_ONE",
    "UniversityIn": "FROM University TO City, MANY_ONE",
    "CompanyIn": "FROM Company TO Country, MANY_ONE",
}


def load(conn, csv):
    """Makes and fills the tables."""
    for kind, tables in (("NODE", NODES), ("REL", EDGES)):
        for name, members in tables.items():
            conn.execute(f"CREATE {kind} TABLE {name}({members})")
            conn.execute(f'COPY {name} FROM "{csv / (name + ".csv")}" (HEADER=false, PARALLEL=false)')
    conn.execute("CHECKPOINT")


def statements(file):
    """Returns the statements of a file by their names."""
    out = {}
    name = None
    for line in file.read_text().splitlines():
        if line.startswith("//: "):
            name = line[4:]
            out[name] = ""
        elif name is not None:
            out[name] += line + "\n"
    return out


def text(value):
    """Returns a value in the form in which answers are compared."""
    if isinstance(value, list):
        return ";".join(sorted(text(v) for v in value if v is not None))
    if isinstance(value, bool):
        return "true" if value else "false"
    return "null" if value is None else str(value)


def answer(conn, prepared, fields):
    """Runs a read and prints its answer."""
    params = {f"p{i}": int(f[1:]) if f[0] == "n" else f[1:] for i, f in enumerate(fields[2:], 1)}
    start = time.perf_counter_ns()
    result = conn.execute(prepared, params)
    rows = result.get_all()
    took = time.perf_counter_ns() - start
    result.close()
    print(len(rows), took)
    if fields[1] == "rows":
        for row in rows:
            print("\t".join(text(v) for v in row))


def main():
    """Loads the network and answers the lines of the standard input."""
    file, csv, reads = map(pathlib.Path, sys.argv[1:])
    conn = ladybug.Connection(ladybug.Database(str(file)))
    load(conn, csv)
    print("ready", flush=True)
    texts, prepared = statements(reads), {}
    for line in sys.stdin:
        fields = line.rstrip("\n").split("\t")
        name = fields[0]
        try:
            if name not in prepared:
                prepared[name] = conn.prepare(texts[name])
            answer(conn, prepared[name], fields)
        except (RuntimeError, KeyError) as error:
            print("error", " ".join(str(error).split()))
        sys.stdout.flush()


main()
