package observe

// Kind is the type of a metric.
type Kind string

// The kinds of metrics.
const (
	Counter   Kind = "counter"   // only grows
	Gauge     Kind = "gauge"     // grows and shrinks
	Histogram Kind = "histogram" // counts values by ranges
)

// Metric describes a metric of the server.
type Metric struct {
	Name   string // as Prometheus sees it
	Kind   Kind
	Labels []string // names of the labels
	Help   string   // a sentence
	Watch  string   // what operators should watch for; empty if it only explains other metrics
}

// The indexes of the metrics in the table Metrics, which describes them.
const (
	buildInfo         = iota // versions of the program and of Go
	draining                 // whether the server is stopping
	httpRequests             // number of requests
	httpSeconds              // durations of requests
	httpBytes                // bytes of answers
	httpInFlight             // requests in flight
	authFailures             // requests without a valid token
	guardRefusals            // requests refused for their Host or Origin
	admissionRefused         // requests refused because of the load
	admissionRequests        // admitted requests in flight
	admissionWaiting         // requests that wait for admission
	admissionActors          // actors with requests in flight
	admissionBytes           // bytes reserved for request bodies
	calls                    // calls of tools, stored queries and REST operations
	callSeconds              // durations of calls
	callRows                 // rows in the answers of calls
	callBytes                // bytes in the answers of calls
	policyDenials            // calls that the policy denied
	actorCalls               // calls by actor
	auditRecords             // records of the audit trail
	auditLost                // records that the audit trail lost or dropped
	auditBytes               // size of the audit trail
	queryMemory              // bytes reserved by queries and answers
	graphBranches
	graphCommits
	graphCalls         // calls of the engine in progress
	graphSegments      // segment files
	graphSegmentBytes  // bytes of the segment files
	graphLogBytes      // bytes of the log since the last checkpoint
	graphQuotaBytes    // bound on the stored bytes
	graphQuotaBranches // bound on the branches
	graphQuotaRefusals // writes refused for one of the two bounds
	graphCheckpoints
	graphRewrites // checkpoints that rewrote rows
	graphCheckpointFailures
	graphOpen        // whether this server has the graph open, in shared storage
	graphWriter      // whether this server writes the graph, in shared storage
	graphEpoch       // number of takeovers, in shared storage
	graphLag         // seconds since the server last knew all commits, in shared storage
	graphCacheBytes  // bytes of the server's copies of segments, in shared storage
	graphCollected   // objects that the server deleted from shared storage
	graphPinned      // unneeded segments that stay because a server reads them, in shared storage
	embeddings       // calls of the embedding provider
	embeddingTexts   // texts sent to the embedding provider
	embeddingSeconds // time of a call of the embedding provider
)

// Metrics lists all metrics of the server except those of the Go runtime and the process.
// Label values come from bounded sets: route patterns, graphs, tools of the catalog,
// outcomes. No label value is chosen by a client. Actors are bounded by a number of names.
var Metrics = [...]Metric{
	buildInfo: {"omnigraph_build_info", Gauge, []string{"version", "go"}, "Always 1. The labels give the versions of the server and of Go.", ""},
	draining:  {"omnigraph_draining", Gauge, nil, "1 from the moment the server starts to stop, else 0.", ""},

	httpRequests: {"omnigraph_http_requests_total", Counter, []string{"route", "method", "class"},
		"Answered HTTP requests by route pattern, method and status class, such as 2xx. Route none counts requests that failed authentication; route other counts requests that were not admitted or match no route.",
		"More than 1 % of the requests with class 5xx."},
	httpSeconds: {"omnigraph_http_request_seconds", Histogram, []string{"route"},
		"Time from the header of a request to the end of its answer, including the transfer of both bodies.",
		"The 99th percentile of the routes that you depend on."},
	httpBytes:    {"omnigraph_http_response_bytes_total", Counter, []string{"route"}, "Bytes of response bodies.", ""},
	httpInFlight: {"omnigraph_http_requests_in_flight", Gauge, nil, "HTTP requests in flight, including those without a token.", ""},

	authFailures: {"omnigraph_auth_failures_total", Counter, nil, "Requests answered 401: the token was missing or not valid.",
		"An increase: a client guesses tokens, or a token has expired."},
	guardRefusals: {"omnigraph_guard_refusals_total", Counter, nil, "Requests refused for their Host or Origin, before authentication.",
		"An increase after a change of the proxy: the Host that the proxy sends matches neither the bind address nor public_hosts."},

	admissionRefused: {"omnigraph_admission_refused_total", Counter, []string{"reason"},
		"Requests answered 429: for limits.per_actor_inflight (actor), limits.total_inflight (total), limits.body_bytes (bytes), or limits.per_actor_subscriptions and limits.total_subscriptions (subscriptions).",
		"Reason total or bytes: the server is too small for its load. Reason actor: one client sends too much at once. Reason subscriptions: clients leave subscriptions open, or there are more subscribers than the limits allow."},
	admissionRequests: {"omnigraph_admission_requests", Gauge, nil, "Admitted requests in flight.", ""},
	admissionWaiting:  {"omnigraph_admission_waiting", Gauge, nil, "Requests that wait for admission. Each waits for at most 0.1 s.", ""},
	admissionActors:   {"omnigraph_admission_actors", Gauge, nil, "Actors with requests in flight.", ""},
	admissionBytes:    {"omnigraph_admission_body_bytes", Gauge, nil, "Bytes reserved for the bodies of requests in flight. The limit is limits.body_bytes.", ""},

	calls: {"omnigraph_calls_total", Counter, []string{"graph", "tool", "outcome"},
		"Calls of tools, stored queries and REST operations on a graph. Tool unknown counts calls of names that do not exist or that the caller may not see.",
		"Outcomes internal, unavailable and timed_out: the server or its load causes them. The caller causes the others."},
	callSeconds: {"omnigraph_call_seconds", Histogram, []string{"graph", "tool"}, "Time of a call, including the encoding of its answer.",
		"The 99th percentile of each stored query: if it grows with the data, the query needs an index."},
	callRows:  {"omnigraph_call_rows_total", Counter, []string{"graph", "tool"}, "Rows in the answers of calls.", ""},
	callBytes: {"omnigraph_call_bytes_total", Counter, []string{"graph", "tool"}, "Bytes of JSON in the answers of calls.", ""},
	policyDenials: {"omnigraph_policy_denials_total", Counter, []string{"graph", "action"},
		"Calls that the policy denied, by action. A call of a tool that the actor may not see counts as unknown, not as denied.",
		"An increase after a change of the policy."},

	actorCalls: {"omnigraph_actor_calls_total", Counter, []string{"graph", "actor", "tool", "outcome"},
		"Calls by actor, without the agents that act for it. After 100 actors, further ones count as other.", ""},
	auditRecords: {"omnigraph_audit_records_total", Counter, nil, "Calls that the audit trail recorded.", ""},
	auditLost: {"omnigraph_audit_lost_records_total", Counter, nil, "Records that the audit trail lost because the storage did not take them, and records that it removed before their time because the quota had no room.",
		"Any increase."},
	auditBytes: {"omnigraph_audit_bytes", Gauge, nil, "Bytes of the audit trail of this server.", "Near the value of server.audit.quota."},
	queryMemory: {"omnigraph_query_memory_bytes", Gauge, nil,
		"Bytes reserved by running queries and by REST answers that are not sent yet, except the first MiB of each. The limit is limits.memory_bytes.", "Close to the limit for minutes: queries fail with outcome unavailable. Clients that read slowly keep their answers reserved."},

	graphBranches:     {"omnigraph_graph_branches", Gauge, []string{"graph"}, "Branches.", "A steady increase: merged branches are not deleted."},
	graphCommits:      {"omnigraph_graph_commits", Gauge, []string{"graph"}, "Commits of all branches, including commits that can no longer be read after a cleanup.", ""},
	graphCalls:        {"omnigraph_graph_calls", Gauge, []string{"graph"}, "Calls of the engine in progress.", ""},
	graphSegments:     {"omnigraph_graph_segments", Gauge, []string{"graph"}, "Segment files, which hold rows and indexes.", ""},
	graphSegmentBytes: {"omnigraph_graph_segment_bytes", Gauge, []string{"graph"}, "Bytes of the segment files on disk. The engine maps them into memory as it reads them.", "Growth close to the free space of the disk: a checkpoint may need the same amount again."},
	graphLogBytes:     {"omnigraph_graph_log_bytes", Gauge, []string{"graph"}, "Bytes of the log since the last checkpoint. A start after a crash replays them.", "Far above 8 MiB for minutes: checkpoints fail."},
	graphQuotaBytes: {"omnigraph_graph_quota_bytes", Gauge, []string{"graph"}, "The quota of stored bytes: a bound on omnigraph_graph_segment_bytes and omnigraph_graph_log_bytes together. 0 means no quota.",
		"Usage above 80 % of the quota: delete data and run a cleanup, or raise quota.bytes of the graph."},
	graphQuotaBranches: {"omnigraph_graph_quota_branches", Gauge, []string{"graph"}, "The largest number of branches that the graph may have. 0 means no bound.", ""},
	graphQuotaRefusals: {"omnigraph_graph_quota_refusals_total", Counter, []string{"graph"}, "Writes refused since the start because the graph had reached its quota of bytes or branches.",
		"Any increase: callers get the status 413 until the graph is smaller or its quota is larger."},
	graphCheckpoints: {"omnigraph_graph_checkpoints_total", Counter, []string{"graph"}, "Checkpoints since the start.", ""},
	graphRewrites:    {"omnigraph_graph_rewrites_total", Counter, []string{"graph"}, "Checkpoints since the start that rewrote rows, after many deletes.", ""},
	graphCheckpointFailures: {"omnigraph_graph_checkpoint_failures_total", Counter, []string{"graph"},
		"Failed background checkpoints. No data is lost: the log keeps it.", "Any failure: the disk is full or broken."},

	graphOpen: {"omnigraph_graph_open", Gauge, []string{"graph"}, "With shared storage: 1 if this server has the graph open, 0 if it has had no calls here for storage.idle, or the server cannot open it.",
		"Changes every few minutes: the graph is opened again and again, so make storage.idle longer."},
	graphWriter: {"omnigraph_graph_writer", Gauge, []string{"graph"}, "With shared storage: 1 if this server writes the graph, 0 if it does not.",
		"The sum over all servers is above 1 for longer than a lease: two servers believe that they write the graph. It is 0 if the graph has had no writes since it became idle; the next write changes that."},
	graphEpoch: {"omnigraph_graph_epoch", Gauge, []string{"graph"}, "With shared storage: the number of takeovers of the graph, as far as this server knows.", "A steady increase: the servers take the graph from each other; look at the latency of the storage."},
	graphLag: {"omnigraph_graph_lag_seconds", Gauge, []string{"graph"}, "With shared storage: the time since this server last knew every commit.",
		"More than a few seconds: the server cannot reach the storage. At storage.max_staleness it stops answering reads."},
	graphCacheBytes: {"omnigraph_graph_cache_bytes", Gauge, []string{"graph"}, "With shared storage: the bytes of the copies of segments in the cache of this server.",
		"The sum over all graphs stays above storage.cache_bytes: the server uses more at the same time, so raise the setting if the disk has room."},

	graphCollected: {"omnigraph_graph_collected_objects_total", Counter, []string{"graph"}, "With shared storage: the objects without use that this server deleted since its start. Only the writer deletes.",
		"No increase on any server for days while the graph is written: the log says why, or storage.retention is long."},
	graphPinned: {"omnigraph_graph_pinned_segments", Gauge, []string{"graph"}, "With shared storage: the segments that the last collection of this server kept because a server still read them.",
		"Above 0 for hours: a server has a very long read, or stopped without removing its sign. A day after the retention the segments are deleted in any case."},

	embeddings: {"omnigraph_embedding_calls_total", Counter, []string{"graph", "outcome"},
		"Calls of the embedding provider, by outcome ok or failed.", "Outcome failed: the provider is down, or its key has expired."},
	embeddingTexts:   {"omnigraph_embedding_texts_total", Counter, []string{"graph"}, "Texts sent to the embedding provider.", "Its cost."},
	embeddingSeconds: {"omnigraph_embedding_seconds", Histogram, []string{"graph"}, "Time of a call of the embedding provider, including its retries.", ""},
}
