import { OmnigraphError } from "./errors.js";
import { sleep, type Request, type Transport } from "./http.js";
import { chunksOf, linesOf } from "./stream.js";

/** The shortest time between two connections. A proxy may end every stream soon, but each stream begins with a page. */
const followPause = 1000;

/** How long a server may send nothing. It sends something every 15 seconds. */
const followSilence = 60_000;

/**
 * Returns the pages of a feed. When the server or the connection ends the stream, it connects again with the request
 * that `next` returns, which continues after the pages that were passed to `passed`.
 */
export async function* follow<P>(t: Transport, event: string, next: () => Request, passed: (page: P) => void, signal?: AbortSignal): AsyncGenerator<P, void, undefined> {
  for (;;) {
    const earliest = Date.now() + followPause;
    const silence = new AbortController();
    const request = next();
    request.headers = { ...request.headers, Accept: "text/event-stream" };
    const response = await t.open(request, { signal: signal === undefined ? silence.signal : AbortSignal.any([signal, silence.signal]) });
    if (!response.headers.get("Content-Type")?.startsWith("text/event-stream")) {
      throw new OmnigraphError("the server's answer is not a stream of events; check that the URL is that of an omnigraph-server");
    }
    const events = eventsOf(response, () => silence.abort());
    try {
      for (;;) {
        // The end of the stream is no fault: the next request continues, or gets the error.
        const step = await events.next().catch(() => ({ done: true as const, value: undefined }));
        if (step.done || step.value.name !== event) break;
        const page = JSON.parse(step.value.data) as P;
        passed(page);
        yield page;
      }
    } finally {
      await events.return();
    }
    signal?.throwIfAborted();
    await sleep(Math.max(earliest - Date.now(), 0), signal);
  }
}

/** Returns the events of a stream that have data. It calls `silent` if no line arrives for too long. */
async function* eventsOf(response: Response, silent: () => void): AsyncGenerator<{ name: string; data: string }, void, undefined> {
  let timer = setTimeout(silent, followSilence);
  let name = "";
  let data = "";
  try {
    for await (const line of linesOf(chunksOf(response.body, "the feed ended"))) {
      clearTimeout(timer);
      timer = setTimeout(silent, followSilence);
      const [, key, value = ""] = /^([^:]*)(?:: ?(.*))?$/s.exec(line) ?? [];
      if (line === "" && data !== "") yield { name, data };
      if (line === "") [name, data] = ["", ""];
      else if (key === "event") name = value;
      else if (key === "data") data = value; // the server writes the data of an event in one line
    }
  } finally {
    clearTimeout(timer);
  }
}
