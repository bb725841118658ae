import { ConnectionError } from "./errors.js";
import type { Row } from "./values.js";

/** The body of an answer, read while the server sends it. A body that breaks off is an error. */
export class Stream implements AsyncIterable<Uint8Array> {
  /** The commit that the server reads. */
  readonly commit: string;

  constructor(
    readonly response: Response,
    private readonly what: string,
  ) {
    this.commit = (response.headers.get("ETag") ?? "").replace(/^W\//, "").replace(/^"|"$/g, "").replace(/~.*$/, "");
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array, void, undefined> {
    yield* chunksOf(this.response.body, `${this.what} ended early and is incomplete`);
  }

  /** Returns the whole body. */
  async bytes(): Promise<Uint8Array> {
    const chunks: Uint8Array<ArrayBuffer>[] = [];
    for await (const chunk of this) chunks.push(chunk as Uint8Array<ArrayBuffer>);
    return new Uint8Array(await new Blob(chunks).arrayBuffer());
  }

  /** Returns the whole body as text. */
  async text(): Promise<string> {
    return new TextDecoder().decode(await this.bytes());
  }

  /** Returns the lines of NDJSON. */
  async *records(): AsyncGenerator<Row, void, undefined> {
    for await (const line of linesOf(this)) if (line !== "") yield JSON.parse(line) as Row;
  }

  /** Ends the stream before all of it is read. */
  async cancel(): Promise<void> {
    await this.response.body?.cancel();
  }
}

/** Returns the chunks of a body, and cancels it when the reader stops. */
export async function* chunksOf(body: ReadableStream<Uint8Array> | null, lost: string): AsyncGenerator<Uint8Array, void, undefined> {
  if (body === null) return;
  const reader = body.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read().catch((cause: unknown) => {
        throw cause instanceof TypeError ? new ConnectionError(lost, { cause }) : cause;
      });
      if (done) return;
      yield value;
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}

/** Returns the lines of a text that arrives in chunks. */
export async function* linesOf(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string, void, undefined> {
  const decoder = new TextDecoder();
  let rest: string[] = [];
  for await (const chunk of chunks) {
    const lines = decoder.decode(chunk, { stream: true }).split("\n");
    rest.push(lines[0] ?? "");
    if (lines.length === 1) continue;
    yield rest.join("").replace(/\r$/, "");
    for (const line of lines.slice(1, -1)) yield line.replace(/\r$/, "");
    rest = lines.slice(-1);
  }
  const last = rest.join("");
  if (last !== "") yield last;
}
