"""The errors of the package."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from omnigraph.wire import Envelope


class OmnigraphError(Exception):
    """The base of all errors of the package."""


class ConnectionLost(OmnigraphError):
    """The server was not reached, or the connection was lost before the whole answer arrived."""


class NoProgress(OmnigraphError):
    """The server sends the same page again, so that an iteration would not end."""

    def __init__(self) -> None:
        super().__init__(
            "the server returns the same page again and again; check whether a proxy between the client and the server caches answers"
        )


class ServerError(OmnigraphError):
    """An answer that reports a fault. Each status has a class of its own, such as NotFoundError."""

    def __init__(self, envelope: "Envelope", status: int, retry_after: float | None, hint: str | None) -> None:
        super().__init__(envelope["error"] if hint is None else f"{envelope['error']}; {hint}")
        self.envelope = envelope
        """The body of the answer. Its members say what went wrong, such as key_conflict."""
        self.status = status
        self.retry_after = retry_after
        """Seconds to wait before the next attempt."""
        self.hint = hint
        """The next step for a person, if the client knows one."""

    @property
    def code(self) -> str | None:
        """The kind of fault. A failed precondition has none."""
        return self.envelope.get("code")
