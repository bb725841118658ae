"""Let an agent do the tasks of `gq eval tasks` with the tools of Neo4j and PostgreSQL.

    compare.py --database neo4j|postgres --url URL SETS             make the recorded statements
    compare.py --database neo4j|postgres --url URL --outside SETS   print each task as a line of JSON, and read {"answer": "ANSWER: …"}

With --outside, `command` is that of an MCP server over stdio. SETS is what `gq eval tasks --print` prints. The database at URL is emptied. A task that needs what the database lacks
(drafts, branches, the history) is left out and counted. The exit code is 1 if a task was not passed.
"""

import argparse
import asyncio
import datetime
import json
import os
import re
import sys

import neo4j
import psycopg
import yaml
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

HERE = os.path.dirname(os.path.abspath(__file__))
COLUMNS = {"String": "text", "I32": "integer", "Bool": "boolean", "Date": "date", "DateTime": "timestamptz", "[String]": "text[]"}


def column(kind):
    return "text" if kind.startswith("enum") else COLUMNS[kind.rstrip("?")]


def snake(name):
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()


def lines(data):
    return [json.loads(line) for line in data.splitlines()]


class Postgres:
    file, tool = "sql.yaml", "execute_sql"
    schema = ("get_schema", {})

    def __init__(self, url):
        self.url = url

    def command(self):
        return StdioServerParameters(command=sys.executable, args=[os.path.join(HERE, "postgres_mcp.py"), self.url])

    def load(self, graph):
        with psycopg.connect(self.url) as c:
            c.execute("DROP SCHEMA public CASCADE; CREATE SCHEMA public; SET client_min_messages = warning")
            keys = {n["name"]: n["key"] for n in graph["nodes"]}
            for n in graph["nodes"]:
                columns = [f'"{p}" {column(t)}' + (" PRIMARY KEY" if p == n["key"] else "") for p, t in n["properties"].items()]
                c.execute(f'CREATE TABLE "{snake(n["name"])}" ({", ".join(columns)})')
            for e in graph["edges"]:
                ends = [f'{end} text REFERENCES "{snake(e[at])}" ("{keys[e[at]]}")' for end, at in (("src", "from"), ("dst", "to"))]
                columns = ends + [f'"{p}" {column(t)}' for p, t in e["properties"].items()]
                c.execute(f'CREATE TABLE "{snake(e["name"])}" ({", ".join(columns)}, PRIMARY KEY (src, dst))')
            types = {t["name"]: t for t in graph["nodes"] + graph["edges"]}
            for line in lines(graph["data"]):
                kind = types[line.get("type") or line["edge"]]
                row = {k: v for k, v in (line.get("data") or {}).items() if k in kind["properties"]}
                if "edge" in line:
                    row |= {"src": line["from"], "dst": line["to"]}
                names = ", ".join(f'"{k}"' for k in row)
                c.execute(f'INSERT INTO "{snake(kind["name"])}" ({names}) VALUES ({", ".join(["%s"] * len(row))})', list(row.values()))

    def arguments(self, statement, params):
        # A tool without parameters: an agent writes the values into the statement.
        return {"sql": re.sub(r"\$(\w+)", lambda m: literal(params[m[1]]), statement)}

    def rows(self, text):
        return json.loads(text).get("rows")

    def content(self):
        """All that is stored, to tell whether a task changed it."""
        with psycopg.connect(self.url) as c:
            tables = [t for (t,) in c.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public'")]
            return {t: sorted(map(repr, c.execute(f'SELECT * FROM "{t}"').fetchall())) for t in tables}


def literal(value):
    return str(value) if isinstance(value, (int, bool)) else "'" + value.replace("'", "''") + "'"


class Neo4j:
    file, tool = "cypher.yaml", "read_neo4j_cypher"
    # The tool get_neo4j_schema needs APOC, whose package lacks a class outside of Neo4j's own distribution.
    schema = (tool, {"query": "CALL db.schema.nodeTypeProperties() YIELD nodeType, propertyName, propertyTypes RETURN *"})

    def __init__(self, url):
        self.url = url
        self.driver = neo4j.GraphDatabase.driver(url)

    def command(self):
        args = ["--db-url", self.url, "--username", "neo4j", "--password", "none", "--transport", "stdio"]
        return StdioServerParameters(command=os.path.join(os.path.dirname(sys.executable), "mcp-neo4j-cypher"), args=args)

    def load(self, graph):
        types = {t["name"]: t for t in graph["nodes"] + graph["edges"]}
        self.driver.execute_query("MATCH (n) DETACH DELETE n")
        for line in lines(graph["data"]):
            kind = types[line.get("type") or line["edge"]]
            row = {k: self.typed(v, kind["properties"][k]) for k, v in (line.get("data") or {}).items() if k in kind["properties"]}
            if "type" in line:
                self.driver.execute_query(f"CREATE (n:{kind['name']}) SET n = $row", row=row)
                continue
            a, b = types[kind["from"]], types[kind["to"]]
            self.driver.execute_query(
                f"MATCH (a:{a['name']} {{{a['key']}: $a}}), (b:{b['name']} {{{b['key']}: $b}}) CREATE (a)-[e:{snake(kind['name']).upper()}]->(b) SET e = $row",
                a=line["from"], b=line["to"], row=row)

    @staticmethod
    def typed(value, kind):
        match kind.rstrip("?"):
            case "Date":
                return datetime.date.fromisoformat(value)
            case "DateTime":
                return datetime.datetime.fromisoformat(value)
        return value

    def arguments(self, statement, params):
        return {"query": statement, "params": params}

    def rows(self, text):
        return [list(row.values()) for row in json.loads(text)]

    def content(self):
        nodes = self.driver.execute_query("MATCH (n) RETURN labels(n) AS l, properties(n) AS p").records
        edges = self.driver.execute_query("MATCH (a)-[e]->(b) RETURN properties(a) AS a, type(e) AS t, properties(e) AS p, properties(b) AS b").records
        return sorted(map(repr, map(list, nodes))), sorted(map(repr, map(list, edges)))


def same(got, want, ordered):
    """As gq compares: rows in any order unless `ordered`, and a number equals its text."""
    texts = [[[str(v) for v in row] for row in rows] for rows in (got, want)]
    return texts[0] == texts[1] if ordered else sorted(texts[0]) == sorted(texts[1])


def answered(words):
    """The value in the last line that begins with ANSWER:."""
    for line in reversed(words.splitlines()):
        if line.strip(" *`").startswith("ANSWER:"):
            return json.loads(line.strip(" *`").removeprefix("ANSWER:").strip(" *`"))
    raise ValueError("the last message has no line that begins with ANSWER:")


def as_rows(value, want):
    if not isinstance(value, list):
        return [[value]]
    if want and len(want[0]) > 1 and len(value) == len(want[0]) and not any(isinstance(v, list) for v in value):
        return [value]
    return [v if isinstance(v, list) else [v] for v in value]


def score(task, solution, value):
    """Whether an answer is right."""
    if solution == "none":
        return value is None
    if solution == "done":
        return True
    return value is not None and same(as_rows(value, task["want"]), task["want"], task["ordered"])


class Meter:
    """Counts the calls of a session and the bytes of their answers, which have the text and the structured form."""

    def __init__(self, session):
        self.session, self.calls, self.bytes = session, 0, 0

    async def call(self, tool, arguments):
        answer = await self.session.call_tool(tool, arguments)
        text = "".join(c.text for c in answer.content if c.type == "text")
        self.calls, self.bytes = self.calls + 1, self.bytes + len(answer.model_dump_json(exclude_none=True).encode())
        if answer.isError:
            raise RuntimeError(text)
        return text


async def recorded(db, meter, task, s):
    """Make the recorded statement of a task, and return the answer that follows."""
    tool = "write_neo4j_cypher" if s.get("writes") and isinstance(db, Neo4j) else db.tool
    text = await meter.call(tool, db.arguments(s["statement"], task["params"]))
    match s.get("answer", "rows"):
        case "rows":
            return db.rows(text)
        case "none":
            return None
        case "done":
            return "done"
    return task["want"]  # an agent reads it in the text, which the statement must have found


async def outside(db, graph, number, task):
    command = db.command()
    print(json.dumps({"graph": graph["graph"], "number": number, "try": 1, "command": [command.command, *command.args], "request": task["request"]}), flush=True)
    return answered(json.loads(sys.stdin.readline())["answer"])


async def kept(db, session, task, s, before):
    """Whether the data has what the task asks for, and otherwise nothing else."""
    if not s.get("writes"):
        return db.content() == before
    rows = db.rows(await Meter(session).call(db.tool, db.arguments(s["check"], task["params"])))
    return same(rows, [[task["params"][v[1:]] for v in s["expect"]]], True)


async def attempt(db, session, args, graph, number, task, s, before, report):
    """One task. It returns the answer, and whether it and the data are right. The data is then as before."""
    if args.outside:
        value = await outside(db, graph, number, task)
    else:
        meter = Meter(session)
        value = await recorded(db, meter, task, s)
        report["calls"], report["tokens"] = report["calls"] + meter.calls, report["tokens"] + meter.bytes // 4
    right = await kept(db, session, task, s, before)
    if s.get("writes") or not right:
        db.load(graph)
    return value, right and score(task, s.get("answer"), value)


async def tasks(db, session, args, report):
    """All tasks that the database can have."""
    with open(os.path.join(HERE, db.file)) as f:
        solutions = yaml.safe_load(f)
    with open(args.sets) as f:
        sets = [json.loads(line) for line in f]
    for graph in sets:
        db.load(graph)
        before = db.content()
        report["tokens_of_schemas"] += len(await Meter(session).call(*db.schema)) // 4
        for number, task in enumerate(graph["tasks"], 1):
            s = solutions[task["name"]]
            s = {"statement": s} if isinstance(s, str) else s
            if lack := s.get("lacks"):
                report["lacks"][lack] = report["lacks"].get(lack, 0) + 1
                continue
            try:
                value, ok = await attempt(db, session, args, graph, number, task, s, before, report)
            except (RuntimeError, ValueError) as fault:
                value, ok = str(fault), False
            if ok:
                report["passed"].append(task["name"])
            else:
                report["failed"][task["name"]] = {"answer": value, "want": task["want"]}
            if not args.outside and isinstance(value, list) and score(task, s.get("answer"), value[1:]):
                report["passed_without_a_row"].append(task["name"])  # so the score would not find a wrong answer


async def run(args):
    db = {"postgres": Postgres, "neo4j": Neo4j}[args.database](args.url)
    report = {"passed": [], "failed": {}, "lacks": {}, "calls": 0, "tokens": 0, "tokens_of_schemas": 0, "passed_without_a_row": []}
    with open(os.devnull, "w") as nowhere:
        async with stdio_client(db.command(), errlog=nowhere) as streams, ClientSession(*streams) as session:
            await session.initialize()
            report["tokens_of_tools"] = len((await session.list_tools()).model_dump_json(exclude_none=True)) // 4
            await tasks(db, session, args, report)
    json.dump(report, sys.stderr if args.outside else sys.stdout, indent=2, default=str)
    return 1 if report["failed"] or report["passed_without_a_row"] else 0


parser = argparse.ArgumentParser()
parser.add_argument("--database", choices=["neo4j", "postgres"], required=True)
parser.add_argument("--url", required=True)
parser.add_argument("--outside", action="store_true")
parser.add_argument("sets")
sys.exit(asyncio.run(run(parser.parse_args())))
