import type { Envelope } from "./wire.js";

/** The base of all errors of this package. */
export class OmnigraphError extends Error {
  override readonly name: string = "OmnigraphError";
}

/** The server was not reached, or the connection was lost before the whole answer arrived. */
export class ConnectionError extends OmnigraphError {
  override readonly name = "ConnectionError";
}

/** What the server said besides the envelope. */
export interface Refused {
  status: number;
  /** Milliseconds to wait before the next attempt. */
  retryAfter?: number | undefined;
  /** The next step for a person, if the client knows one. */
  hint?: string | undefined;
}

/** An answer that reports a fault. Each status has a class of its own, such as NotFoundError. */
export class ServerError extends OmnigraphError {
  override readonly name: string = "ServerError";
  readonly status: number;
  readonly retryAfter: number | undefined;
  readonly hint: string | undefined;

  /** @param envelope the body of the answer; its members say what went wrong, such as key_conflict */
  constructor(
    readonly envelope: Envelope,
    { status, retryAfter, hint }: Refused,
  ) {
    super(hint === undefined ? envelope.error : `${envelope.error}; ${hint}`);
    this.status = status;
    this.retryAfter = retryAfter;
    this.hint = hint;
  }

  /** The kind of fault. A failed precondition has none. */
  get code(): Envelope["code"] {
    return this.envelope.code;
  }
}

/** The server sends the same page again, so that an iteration would not end. */
export class NoProgressError extends OmnigraphError {
  override readonly name = "NoProgressError";
  constructor() {
    super("the server returns the same page again and again; check whether a proxy between the client and the server caches answers");
  }
}
