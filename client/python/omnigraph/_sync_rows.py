# Code generated from _async_rows.py; DO NOT EDIT.

"""The answers of the blocking client."""

import json
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast

import httpx

from omnigraph import _core as core
from omnigraph import wire as w
from omnigraph._core import ReadOptions, post
from omnigraph.errors import OmnigraphError
from omnigraph.refusals import TooLargeError
from omnigraph.values import Row

if TYPE_CHECKING:
    import duckdb
    import pandas
    import polars
    import pyarrow

    from omnigraph._sync import Client

R = TypeVar("R")


class Stream:
    """The body of an answer, read while the server sends it. A body that breaks off is an error."""

    def __init__(self, response: httpx.Response, what: str) -> None:
        self.response, self._what = response, what
        tag = response.headers.get("ETag", "").removeprefix("W/").strip('"')
        self.commit: str = tag.partition("~")[0]
        """The commit that the server reads."""

    def __iter__(self) -> Iterator[bytes]:
        try:
            for chunk in self.response.iter_bytes():
                yield chunk
        except httpx.HTTPError as e:
            raise core.lost(e, f"{self._what} ended early and is incomplete") from e
        finally:
            self.response.close()

    def read(self) -> bytes:
        """Returns the whole body."""
        body = bytearray()
        for chunk in self:
            body += chunk
        return bytes(body)

    def lines(self) -> Iterator[bytes]:
        """Returns the lines, without their ends."""
        rest: list[bytes] = []
        for chunk in self:
            head, *tail = chunk.split(b"\n")
            rest.append(head)
            for part in tail:
                yield b"".join(rest)
                rest = [part]
        if any(rest):
            yield b"".join(rest)

    def records(self) -> Iterator[Row]:
        """Returns the objects of NDJSON."""
        for line in self.lines():
            if line:
                yield json.loads(line)

    def close(self) -> None:
        """Ends the stream before all of it is read."""
        self.response.close()


class Rows(Generic[R]):
    """The rows of a read, which runs when they are used. All pages are of one commit."""

    def __init__(self, client: "Client", path: str, body: Row, options: ReadOptions, decode: Callable[[Row], R]) -> None:
        self._client, self._path, self._options, self._decode = client, path, options, decode
        self._body = {**body, "branch": options.branch, "snapshot": options.snapshot}

    def _page(self, rows: int | None, token: str | None) -> w.ReadAnswer:
        body = {**self._body, "max_rows": rows, "page_token": token}
        return cast(w.ReadAnswer, self._client._json(post(self._path, body, repeats=True)))

    def pages(self) -> Iterator[w.ReadAnswer]:
        """Returns the pages as the server answers them."""
        paging = core.Paging(self._options)
        while not paging.done:
            try:
                page = self._page(paging.rows, paging.token)
            except TooLargeError as e:
                paging.failed(e)
                continue
            yield page
            paging.passed(page)

    def __iter__(self) -> Iterator[R]:
        for page in self.pages():
            for row in page["rows"]:
                yield self._decode(row)

    def all(self) -> list[R]:
        """Returns all rows."""
        return [row for row in self]

    def first(self) -> R | None:
        """Returns the first row, or None."""
        page = self._page(1, self._options.page_token)
        return self._decode(page["rows"][0]) if page["rows"] else None

    def one(self) -> R:
        """Returns the first row. It fails if there is none."""
        row = self.first()
        if row is None:
            raise OmnigraphError("the read has no row")
        return row

    def answer(self) -> w.ReadAnswer:
        """Returns all pages as one answer, with its commit and its notes."""
        whole: w.ReadAnswer | None = None
        for page in self.pages():
            page["rows"] = (whole["rows"] if whole else []) + page["rows"]
            whole = page
        assert whole is not None  # a read has at least one page
        whole["row_count"] = len(whole["rows"])
        return whole

    def arrow(self) -> Stream:
        """Returns all rows as an Arrow IPC stream, which the server sends while it reads them."""
        body = {**self._body, "max_rows": self._options.max_rows}
        return self._client._stream(post(self._path, body, repeats=True).accepting(core.ARROW), "the answer")

    def to_arrow(self) -> "pyarrow.Table":
        """Returns all rows as a table; needs the extra arrow."""
        import pyarrow

        return pyarrow.ipc.open_stream((self.arrow()).read()).read_all()

    def to_polars(self) -> "polars.DataFrame":
        """Returns all rows as a frame of polars; needs the extra polars."""
        import polars

        return polars.read_ipc_stream((self.arrow()).read())

    def to_pandas(self) -> "pandas.DataFrame":
        """Returns all rows as a frame of pandas with the types of Arrow, which keep 64-bit integers exact beside nulls; needs the extra pandas."""
        import pandas

        return (self.to_arrow()).to_pandas(types_mapper=pandas.ArrowDtype)

    def to_duckdb(self, connection: "duckdb.DuckDBPyConnection | None" = None) -> "duckdb.DuckDBPyRelation":
        """Returns all rows as a relation of DuckDB; needs the extra duckdb."""
        import duckdb

        return (connection or duckdb.default_connection()).from_arrow(self.to_arrow())
