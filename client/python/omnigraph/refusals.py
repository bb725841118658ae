# Code generated from the Go package client; DO NOT EDIT.

"""The errors of a server by the status of its answer."""

from omnigraph.errors import ServerError


class UnauthorizedError(ServerError):
    """Status 401: the request has no valid token."""


class ForbiddenError(ServerError):
    """Status 403: the policy does not allow the request."""


class NotFoundError(ServerError):
    """Status 404: not found."""


class ConflictError(ServerError):
    """Status 409: the request conflicts with the graph."""


class PreconditionError(ServerError):
    """Status 412: the branch is at another commit."""


class GoneError(ServerError):
    """Status 410: the server no longer keeps the history."""


class TooLargeError(ServerError):
    """Status 413: the request or its answer is too large."""


class BusyError(ServerError):
    """Status 429: too many requests."""


class UnavailableError(ServerError):
    """Status 503: the server is unavailable."""


class NotModifiedError(ServerError):
    """Status 304: the client already has the answer."""


class InvalidError(ServerError):
    """Status 400: the request is invalid."""


class InternalError(ServerError):
    """Status 500: the server failed to execute the request."""


by_status: dict[int, type[ServerError]] = {
    401: UnauthorizedError,
    403: ForbiddenError,
    404: NotFoundError,
    409: ConflictError,
    412: PreconditionError,
    410: GoneError,
    413: TooLargeError,
    429: BusyError,
    503: UnavailableError,
    304: NotModifiedError,
    400: InvalidError,
    500: InternalError,
}
