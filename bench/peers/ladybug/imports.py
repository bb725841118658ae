"""Imports the social graph into LadybugDB. The arguments are the file of the database, the folder of the files, their
format, and the number of threads."""

import pathlib
import sys

import ladybug

NODES = {
    "Person": "slug STRING PRIMARY KEY, name STRING, age INT64, city STRING, bio STRING",
    "Company": "slug STRING PRIMARY KEY, name STRING",
    "Post": "slug STRING PRIMARY KEY, text STRING",
}
EDGES = {
    "Knows": "FROM Person TO Person, since DATE",
    "WorksAt": "FROM Person TO Company",
    "Authored": "FROM Person TO Post",
}


def main():
    """Makes and fills the tables."""
    database, data, form, threads = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), sys.argv[3], int(sys.argv[4])
    conn = ladybug.Connection(ladybug.Database(str(database), max_num_threads=threads), num_threads=threads)
    options = "(HEADER=true)" if form == "csv" else ""
    for kind, tables in (("NODE", NODES), ("REL", EDGES)):
        for name, members in tables.items():
            conn.execute(f"CREATE {kind} TABLE {name}({members})")
            conn.execute(f'COPY {name} FROM "{data / (name + "." + form)}" {options}')
    conn.execute("CHECKPOINT")


main()
