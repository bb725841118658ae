import { Graph } from "./graph.js";
import { get, Transport, type CallOptions, type ClientOptions } from "./http.js";
import type { Row } from "./values.js";
import type * as w from "./wire.js";

/** Sends requests to one server. It follows no redirects, so that the token reaches only this server. */
export class Client {
  private readonly t: Transport;

  /** @param url such as http://127.0.0.1:8080; use https for a server on another machine */
  constructor(url: string, options: ClientOptions = {}) {
    this.t = new Transport(url, options);
  }

  /** Returns a graph. It sends no request. */
  graph(id: string): Graph {
    return new Graph(this.t, id);
  }

  /** Asks whether the server is up. */
  health(call?: CallOptions): Promise<w.Health> {
    return this.t.json(get("/healthz"), call);
  }

  /** Asks whether the server serves everything in its configuration. */
  ready(call?: CallOptions): Promise<w.Readiness> {
    return this.t.json({ ...get("/readyz"), also: 503 }, call);
  }

  /** Asks who the caller is. */
  actor(call?: CallOptions): Promise<w.ActorAnswer> {
    return this.t.json(get("/actor"), call);
  }

  /** Lists the graphs of the server. */
  graphs(call?: CallOptions): Promise<w.GraphList> {
    return this.t.json(get("/graphs"), call);
  }

  /** Returns the metrics in the text format of Prometheus. */
  async metrics(call?: CallOptions): Promise<string> {
    return await (await this.t.open(get("/metrics"), call)).text();
  }

  /** Returns the OpenAPI document of the server. */
  openapi(call?: CallOptions): Promise<Row> {
    return this.t.json(get("/openapi.json"), call);
  }

  /** Returns the issuers of tokens that the server accepts. */
  resourceMetadata(call?: CallOptions): Promise<w.ResourceMetadata> {
    return this.t.json(get("/.well-known/oauth-protected-resource"), call);
  }
}
