import { ConnectionError, OmnigraphError, ServerError } from "./errors.js";
import { get, segment, type CallOptions, type Request, type Transport } from "./http.js";
import { chunksOf } from "./stream.js";
import { toJSON } from "./values.js";
import type { Upload } from "./wire.js";

/** NDJSON to load: a text or bytes, whole or in chunks, or one object for each line. */
export type LoadData = string | Uint8Array | Blob | ReadableStream<Uint8Array> | AsyncIterable<string | Uint8Array | object> | Iterable<object>;

/** The size of the pieces in which a load sends data. Smaller data goes in one request. */
const pieceBytes = 8 << 20;

/** Cuts data into pieces of pieceBytes; the last may be smaller. */
export async function* piecesOf(data: LoadData): AsyncGenerator<Uint8Array<ArrayBuffer>, void, undefined> {
  let piece = new Uint8Array(pieceBytes);
  let filled = 0;
  for await (let chunk of bytesOf(data)) {
    while (chunk.length > 0) {
      const part = chunk.subarray(0, pieceBytes - filled);
      piece.set(part, filled);
      filled += part.length;
      chunk = chunk.subarray(part.length);
      if (filled < pieceBytes) continue;
      yield piece;
      piece = new Uint8Array(pieceBytes);
      filled = 0;
    }
  }
  yield piece.slice(0, filled);
}

async function* bytesOf(data: LoadData): AsyncGenerator<Uint8Array, void, undefined> {
  const encoder = new TextEncoder();
  if (typeof data === "string") yield encoder.encode(data);
  else if (data instanceof Uint8Array) yield data;
  else if (data instanceof Blob) yield* chunksOf(data.stream(), "the data to load ended early");
  else if (data instanceof ReadableStream) yield* chunksOf(data, "the data to load ended early");
  else {
    for await (const part of data) {
      if (part instanceof Uint8Array) yield part;
      else yield encoder.encode(typeof part === "string" ? part : `${toJSON(part)}\n`);
    }
  }
}

/** Uploads data in pieces, and continues where the server stopped to receive after a broken connection. */
export class Uploads {
  constructor(
    private readonly t: Transport,
    private readonly path: string,
  ) {}

  /** Opens an upload of data for a load into a branch, and returns its id. */
  async open(branch?: string, length?: number, call?: CallOptions): Promise<string> {
    const headers: Record<string, string> = length === undefined ? { "Upload-Defer-Length": "1" } : { "Upload-Length": String(length) };
    const response = await this.t.open({ method: "POST", path: this.path, query: { branch }, headers, repeats: true, also: 201 }, call);
    await response.body?.cancel();
    return (response.headers.get("Location") ?? "").replace(/^.*\//, "");
  }

  /** Returns the state of an upload. If a piece is still arriving, the server cuts it off. */
  async get(id: string, call?: CallOptions): Promise<Upload> {
    return await this.t.json(get(this.of(id)), call);
  }

  /** Appends a piece. With the last piece of an upload without a length, `length` is that of all data. It sends the piece once. */
  async append(id: string, offset: number, piece: Uint8Array<ArrayBuffer>, length?: number, call?: CallOptions): Promise<void> {
    const headers: Record<string, string> = { "Content-Type": "application/offset+octet-stream", "Upload-Offset": String(offset) };
    if (length !== undefined) headers["Upload-Length"] = String(length);
    const response = await this.t.open({ method: "PATCH", path: this.of(id), headers, body: piece, repeats: false, also: 204 }, call);
    await response.body?.cancel();
  }

  /** Deletes an upload. */
  async delete(id: string, call?: CallOptions): Promise<void> {
    const response = await this.t.open({ method: "DELETE", path: this.of(id), repeats: false, also: 204 }, call);
    await response.body?.cancel();
  }

  private of(id: string): string {
    return `${this.path}/${segment(id)}`;
  }

  /** Sends the pieces after the first, calls `use` with the id of the complete upload, and deletes the upload. */
  async send<T>(branch: string | undefined, first: Uint8Array<ArrayBuffer>, rest: AsyncIterator<Uint8Array<ArrayBuffer>, void>, use: (id: string) => Promise<T>, call: CallOptions): Promise<T> {
    const id = await this.open(branch, undefined, call);
    try {
      let offset = 0;
      for (let piece = first; ; ) {
        const next = await rest.next();
        await this.sendPiece(id, offset, piece, next.done ? offset + piece.length : undefined, call);
        offset += piece.length;
        if (next.done) break;
        piece = next.value;
      }
      return await use(id);
    } finally {
      await this.delete(id, { timeout: 5000 }).catch(() => undefined); // the server deletes it within a day anyway
    }
  }

  /** Appends a piece. If a connection breaks, it asks how much has arrived, and sends the rest. */
  private async sendPiece(id: string, begin: number, whole: Uint8Array<ArrayBuffer>, length: number | undefined, call: CallOptions): Promise<void> {
    const { attempts = 4 } = this.t.options.retries ?? {};
    let [offset, piece] = [begin, whole];
    for (let failed = 0; ; ) {
      try {
        return await this.append(id, offset, piece, length, call);
      } catch (error) {
        if (!repairable(error) || ++failed >= attempts) throw error;
        const state = await this.get(id, call); // with its own retries and waits
        if (state.offset < offset || state.offset > begin + whole.length) {
          throw new OmnigraphError(`${state.offset} bytes of the upload have arrived, expected ${offset} to ${begin + whole.length}`);
        }
        if (state.offset > offset) failed = 0; // some bytes have arrived, so the connection is not lost for good
        [offset, piece] = [state.offset, whole.subarray(state.offset - begin)];
        if (piece.length === 0 && (length === undefined || state.length !== null)) return;
      }
    }
  }
}

/** Reports whether the state of an upload tells how to continue after an error. */
function repairable(error: unknown): boolean {
  return error instanceof ConnectionError || (error instanceof ServerError && [409, 429, 502, 503, 504].includes(error.status));
}

/** The request of a load. */
export const loadRequest = (path: string, query: object, headers: Record<string, string>, body: Uint8Array<ArrayBuffer> | undefined, repeats: boolean): Request => ({
  method: "POST",
  path,
  query: query as Record<string, unknown>,
  headers: { ...headers, "Content-Type": "application/x-ndjson" },
  body,
  repeats,
});
