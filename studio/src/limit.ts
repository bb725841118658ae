// A bound on the number of requests of one page that run at a time.

/** The most requests of one page that run at a time. A server bounds the requests of an actor, and each needs a processor. */
const most = 4;

let running = 0;
const waiting: (() => void)[] = [];

/** Calls the function when fewer than four other calls run, unless the signal has ended by then. */
export async function inTurn<T>(signal: AbortSignal, call: () => Promise<T>): Promise<T> {
  if (running >= most) {
    await new Promise<void>((start) => waiting.push(start));
  } else {
    running++;
  }
  try {
    signal.throwIfAborted();
    return await call();
  } finally {
    const next = waiting.shift();
    if (next) {
      next(); // it takes over the place of this call
    } else {
      running--;
    }
  }
}
