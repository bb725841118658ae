import { ConnectionError, OmnigraphError, ServerError } from "./errors.js";
import { byStatus } from "./refusals.js";
import { toJSON } from "./values.js";
import type { Envelope } from "./wire.js";

/** A bearer token, or a function that returns the token of each request. */
export type Token = string | (() => string | undefined | Promise<string | undefined>);

export interface ClientOptions {
  token?: Token | undefined;
  /** Milliseconds that a call may take, with its retries. Streams have no limit. */
  timeout?: number | undefined;
  /** The attempts of one request, 4 by default, and the milliseconds for all of them, 30,000 by default. */
  retries?: { attempts?: number; within?: number } | undefined;
  /** Called before each wait for the next attempt. */
  onRetry?: ((error: unknown, wait: number) => void) | undefined;
  /** Sends the requests, instead of the global fetch. */
  fetch?: typeof fetch | undefined;
}

/** Options of any call. */
export interface CallOptions {
  signal?: AbortSignal | undefined;
  /** Milliseconds that the call may take, with its retries. The server stops at that time too. */
  timeout?: number | undefined;
}

/** A request; `repeats` says that it may be sent again, because it writes nothing or has an idempotency key. */
export interface Request {
  method: string;
  path: string;
  query?: { readonly [name: string]: unknown };
  headers?: { [name: string]: string };
  body?: string | Uint8Array<ArrayBuffer> | undefined;
  repeats: boolean;
  also?: number;
}

export const get = (path: string, query: object = {}): Request => ({ method: "GET", path, query: query as Record<string, unknown>, repeats: true });

export const post = (path: string, body: unknown, repeats: boolean): Request => ({
  method: "POST",
  path,
  headers: { "Content-Type": "application/json" },
  body: toJSON(body),
  repeats,
});

/** Escapes a name as one segment of a path. Clients and proxies remove a segment of dots. */
export const segment = (name: string): string => (/^\.*$/.test(name) ? "%2E".repeat(name.length) : encodeURIComponent(name));

/** The errors of fetch in Node after which the same request may succeed. Browsers do not tell them apart. */
const temporaryCauses = new Set(["ECONNREFUSED", "ECONNRESET", "EPIPE", "UND_ERR_SOCKET"]);

class LostError extends ConnectionError {}

/** Sends requests to one server. */
export class Transport {
  readonly base: string;

  constructor(
    url: string,
    readonly options: ClientOptions,
  ) {
    const u = new URL(url);
    if (!/^https?:$/.test(u.protocol) || u.username !== "" || u.password !== "" || /[?#]/.test(url)) {
      throw new TypeError("the server's URL must be one such as http://127.0.0.1:8080, without a user, a password, ? or #");
    }
    this.base = u.href.replace(/\/+$/, "");
  }

  /** Sends a request and decodes its answer. */
  async json<T>(request: Request, call: CallOptions = {}): Promise<T> {
    const timeout = call.timeout ?? this.options.timeout;
    return await this.retry(async (signal, left) => {
      const text = await this.text(await this.attempt(request, signal, left));
      try {
        return JSON.parse(text) as T;
      } catch {
        throw new OmnigraphError("the server's answer is not JSON; check that the URL is that of an omnigraph-server");
      }
    }, request.repeats, { signal: call.signal, timeout });
  }

  /** Sends a request and returns its answer as soon as it begins. */
  async open(request: Request, call: CallOptions = {}): Promise<Response> {
    return await this.retry((signal, left) => this.attempt(request, signal, left), request.repeats, call);
  }

  /** Calls a function, with the milliseconds that are left, again after an error that may be temporary. */
  private async retry<T>(work: (signal: AbortSignal | undefined, left: number | undefined) => Promise<T>, repeats: boolean, { signal, timeout }: CallOptions): Promise<T> {
    const { attempts = 4, within = 30_000 } = this.options.retries ?? {};
    const limits = timeout === undefined ? [] : [AbortSignal.timeout(timeout)];
    if (signal !== undefined) limits.push(signal);
    const until = limits.length === 0 ? undefined : AbortSignal.any(limits);
    const started = Date.now();
    for (let n = 1, pause = 500; ; n++, pause = Math.min(pause * 1.5, 60_000)) {
      try {
        until?.throwIfAborted();
        return await work(until, timeout === undefined ? undefined : timeout - (Date.now() - started));
      } catch (error) {
        until?.throwIfAborted();
        const wait = (error instanceof ServerError ? error.retryAfter : undefined) ?? pause * (0.5 + Math.random());
        if (!repeats || !temporary(error) || n >= attempts || (within > 0 && Date.now() - started + wait > within)) throw error;
        this.options.onRetry?.(error, wait);
        await sleep(wait, until);
      }
    }
  }

  /** Reads the text of an answer. */
  private async text(response: Response): Promise<string> {
    try {
      return await response.text();
    } catch (cause) {
      throw new LostError("the server's answer ended early", { cause });
    }
  }

  /** Sends a request once. */
  private async attempt(request: Request, signal: AbortSignal | undefined, timeout: number | undefined): Promise<Response> {
    const { token, fetch: send = globalThis.fetch } = this.options;
    const headers: { [name: string]: string } = { "Omnigraph-Integers": "string", ...request.headers };
    if (timeout !== undefined) headers["X-Timeout-Ms"] = String(Math.max(Math.trunc(timeout), 1));
    const bearer = typeof token === "function" ? await token() : token;
    if (bearer) headers["Authorization"] = `Bearer ${bearer}`;
    const init: RequestInit = { method: request.method, headers, redirect: "manual", cache: "no-store" };
    if (signal !== undefined) init.signal = signal;
    if (request.body !== undefined) init.body = request.body;
    let response: Response;
    try {
      response = await send(this.base + request.path + search(request.query ?? {}), init);
    } catch (cause) {
      if (!(cause instanceof TypeError)) throw cause;
      const code = (cause.cause as { code?: unknown } | undefined)?.code;
      const message = `${this.base} did not answer: ${typeof code === "string" ? code : cause.message}`;
      throw code === undefined || temporaryCauses.has(String(code)) ? new LostError(message, { cause }) : new ConnectionError(message, { cause });
    }
    if (response.status === 200 || response.status === 206 || response.status === request.also) return response;
    throw refusal(response, await this.text(response));
  }
}

/** Reports whether the same request may succeed later. A 503 without Retry-After means that the request took too long. */
function temporary(error: unknown): boolean {
  if (error instanceof ServerError) return error.status === 429 || (error.status === 503 && error.retryAfter !== undefined);
  return error instanceof LostError;
}

/** Makes the error of an answer that is not a success. */
function refusal(response: Response, body: string): ServerError {
  const { status } = response;
  let envelope: Envelope = { error: "" };
  try {
    envelope = { ...envelope, ...(JSON.parse(body) as Envelope) };
  } catch {
    // The answer is not of an omnigraph-server; it may come from a proxy.
  }
  let hint: string | undefined;
  if (status === 304) {
    envelope = { error: "the client already has this answer" };
  } else if (status < 400) {
    envelope = { error: `the server answered ${status} and redirected to ${JSON.stringify(response.headers.get("Location") ?? "")}; the client does not follow redirects` };
    hint = "if the redirect leads to the right server, give the client that URL";
  } else if (envelope.error === "") {
    envelope = { error: `the server answered ${status} without an error message` };
    hint = "check that the URL is that of an omnigraph-server";
  } else if (status === 401) {
    hint = "give the client a valid token";
  }
  return new (byStatus[status] ?? ServerError)(envelope, { status, retryAfter: retryAfter(response.headers.get("Retry-After")), hint });
}

/** Returns the milliseconds of the header, which has seconds or a date. */
function retryAfter(text: string | null): number | undefined {
  if (text === null) return undefined;
  if (/^\d+$/.test(text)) return Number(text) * 1000;
  const at = Date.parse(text);
  return Number.isNaN(at) ? undefined : Math.max(at - Date.now(), 0);
}

/** Writes the query string. It leaves out what is not set, and repeats the name of a list. */
function search(query: { readonly [name: string]: unknown }): string {
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    for (const v of Array.isArray(value) ? (value as unknown[]) : [value]) {
      if (v !== undefined && v !== "") params.append(name, v instanceof Date ? v.toISOString() : String(v));
    }
  }
  const text = params.toString();
  return text === "" ? "" : `?${text}`;
}

/** Waits, or throws the reason of the signal. */
export async function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    const stop = (): void => {
      clearTimeout(timer);
      reject(signal?.reason as Error);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", stop);
      resolve();
    }, ms);
    if (signal?.aborted) stop();
    else signal?.addEventListener("abort", stop, { once: true });
  });
}
