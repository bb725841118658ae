import { NoProgressError, OmnigraphError } from "./errors.js";
import { TooLargeError } from "./refusals.js";
import type { Stream } from "./stream.js";
import type { Row } from "./values.js";
import type { ReadAnswer } from "./wire.js";

/** The rows of a page after the server refused to send all rows at once. */
const fallbackPage = 10_000;

/** How many rows to read. */
export interface RowLimits {
  /** The maximum number of rows of all pages together. */
  maxRows?: number | undefined;
  /** The maximum number of rows of a page; by default the server decides. */
  pageSize?: number | undefined;
  /** The next_page_token of an earlier page, to continue after it. */
  pageToken?: string | undefined;
}

/**
 * The rows of a read, which runs when they are used: `await` gives them all, and `for await` reads page by page.
 * All pages are of one commit.
 */
export class Rows<R = Row> implements PromiseLike<R[]>, AsyncIterable<R> {
  constructor(
    private readonly ask: (maxRows: number | undefined, pageToken: string | undefined) => Promise<ReadAnswer>,
    private readonly openArrow: () => Promise<Stream>,
    private readonly limits: RowLimits,
    private readonly decode: (row: Row) => R,
  ) {}

  /** Returns the pages as the server answers them. */
  async *pages(): AsyncGenerator<ReadAnswer, void, undefined> {
    const { maxRows, pageSize, pageToken } = this.limits;
    let [size, token, got, large] = [pageSize, pageToken, 0, undefined as TooLargeError | undefined];
    for (let first = true; ; ) {
      const left = maxRows === undefined ? undefined : maxRows - got;
      const rows = left === undefined ? size : Math.min(size ?? left, left);
      let page: ReadAnswer;
      try {
        page = await this.ask(rows, token);
      } catch (error) {
        if (error instanceof TooLargeError && error.envelope.resource_limit?.resource === "bytes" && rows !== 1) {
          large = error;
          size = rows === undefined ? fallbackPage : Math.min(fallbackPage, Math.max(Math.trunc(rows / 10), 1));
          continue;
        }
        throw first && large !== undefined ? large : error;
      }
      first = false;
      got += page.rows.length;
      yield page;
      const next = page.next_page_token;
      if (!page.truncated || !next || (maxRows !== undefined && got >= maxRows)) return;
      if (next === token || page.rows.length === 0) throw new NoProgressError();
      token = next;
    }
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<R, void, undefined> {
    for await (const page of this.pages()) for (const row of page.rows) yield this.decode(row);
  }

  then<T = R[], E = never>(done?: ((rows: R[]) => T | PromiseLike<T>) | null, failed?: ((reason: unknown) => E | PromiseLike<E>) | null): Promise<T | E> {
    return this.all().then(done, failed);
  }

  /** Returns all rows. */
  async all(): Promise<R[]> {
    const rows: R[] = [];
    for await (const row of this) rows.push(row);
    return rows;
  }

  /** Returns the first row, or undefined. */
  async first(): Promise<R | undefined> {
    const page = await this.ask(1, this.limits.pageToken);
    return page.rows[0] === undefined ? undefined : this.decode(page.rows[0]);
  }

  /** Returns the first row. It fails if there is none. */
  async one(): Promise<R> {
    const row = await this.first();
    if (row === undefined) throw new OmnigraphError("the read has no row");
    return row;
  }

  /** Returns all pages as one answer, with its commit and its notes. */
  async answer(): Promise<ReadAnswer> {
    let whole: ReadAnswer | undefined;
    for await (const page of this.pages()) {
      if (whole !== undefined) page.rows = [...whole.rows, ...page.rows];
      whole = { ...page, row_count: page.rows.length };
    }
    return whole as ReadAnswer;
  }

  /** Returns all rows as an Arrow IPC stream, which the server sends while it reads them. */
  async arrow(): Promise<Stream> {
    return await this.openArrow();
  }
}
