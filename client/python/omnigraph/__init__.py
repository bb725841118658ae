"""Calls an Omnigraph server."""

from omnigraph._async import AsyncClient, AsyncGraph
from omnigraph._async_rows import AsyncRows, AsyncStream
from omnigraph._core import ChangeFilter, FeedQuery, LoadQuery, ProposalQuery, ReadOptions, Retries, WriteOptions
from omnigraph._sync import Client, Graph
from omnigraph._sync_rows import Rows, Stream
from omnigraph.errors import ConnectionLost, NoProgress, OmnigraphError, ServerError
from omnigraph.refusals import (
    BusyError,
    ConflictError,
    ForbiddenError,
    GoneError,
    InternalError,
    InvalidError,
    NotFoundError,
    NotModifiedError,
    PreconditionError,
    TooLargeError,
    UnauthorizedError,
    UnavailableError,
)
from omnigraph.values import Params, Row

__all__ = [
    "AsyncClient",
    "AsyncGraph",
    "AsyncRows",
    "AsyncStream",
    "BusyError",
    "ChangeFilter",
    "Client",
    "ConflictError",
    "ConnectionLost",
    "FeedQuery",
    "ForbiddenError",
    "GoneError",
    "Graph",
    "InternalError",
    "InvalidError",
    "LoadQuery",
    "NoProgress",
    "NotFoundError",
    "NotModifiedError",
    "OmnigraphError",
    "Params",
    "PreconditionError",
    "ProposalQuery",
    "ReadOptions",
    "Retries",
    "Row",
    "Rows",
    "ServerError",
    "Stream",
    "TooLargeError",
    "UnauthorizedError",
    "UnavailableError",
    "WriteOptions",
]
