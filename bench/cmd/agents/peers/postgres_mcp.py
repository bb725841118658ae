"""An MCP server over stdio for a PostgreSQL database: one tool shows the tables, one runs a statement.

The argument is the address of the database. Servers that are published need a later Python, or cannot write.
"""

import json
import sys

import psycopg
from mcp.server.fastmcp import FastMCP

server = FastMCP("postgres")
database = sys.argv[1]

TABLES = """
SELECT table_name, json_agg(column_name || ' ' || data_type ORDER BY ordinal_position)
FROM information_schema.columns WHERE table_schema = 'public' GROUP BY table_name ORDER BY table_name"""


@server.tool()
def get_schema() -> str:
    """List the tables of the database with their columns and types."""
    with psycopg.connect(database) as c:
        return json.dumps(dict(c.execute(TABLES).fetchall()))


@server.tool()
def execute_sql(sql: str) -> str:
    """Run one statement of SQL, and return its columns and rows as JSON."""
    with psycopg.connect(database) as c:
        cursor = c.execute(sql)
        if cursor.description is None:
            return json.dumps({"changed": cursor.rowcount})
        return json.dumps({"columns": [d.name for d in cursor.description], "rows": cursor.fetchall()}, default=str)


if __name__ == "__main__":
    server.run()
