export { Client } from "./client.js";
export { ConnectionError, NoProgressError, OmnigraphError, ServerError, type Refused } from "./errors.js";
export { Graph } from "./graph.js";
export type { At, ChangeFilter, FeedQuery, LoadOptions, ProposalQuery, ReadOptions, WriteOptions, Written } from "./graph.js";
export type { CallOptions, ClientOptions, Token } from "./http.js";
export type { LoadData } from "./load.js";
export * from "./refusals.js";
export { Rows, type RowLimits } from "./rows.js";
export { Stream } from "./stream.js";
export { DateTime, type Params, type Row, type Value } from "./values.js";
/** What generated types are made of. */
export * as values from "./values.js";
export type * from "./wire.js";
