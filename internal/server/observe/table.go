package observe

// Kind is the type of a metric.
type Kind string

// The kinds of metrics.
const (
	Counter   Kind = "counter"
	Gauge     Kind = "gauge"
	Histogram Kind = "histogram"
)

// Metric describes a metric of the server.
type Metric struct {
	Name   string
	Kind   Kind
	Labels []string
	Help   string // a sentence
	Watch  string // what operators should watch for; empty if it only explains other metrics
}

const (
	buildInfo = iota
	draining
	httpRequests
	httpSeconds
	httpBytes
	httpInFlight
	authFailures
	guardRefusals
	admissionRefused
	admissionRequests
	admissionWaiting
	admissionActors
	admissionBytes
	calls
	callSeconds
	callRows
	callBytes
	policyDenials
	queryMemory
	graphBranches
	graphCommits
	graphCalls
	graphSegments
	graphSegmentBytes
	graphLogBytes
	graphCheckpoints
	graphRewrites
	graphCheckpointFailures
	embeddings
	embeddingTexts
	embeddingSeconds
)

// Metrics lists all metrics of the server except those of the Go runtime and the process.
// Label values come from bounded sets: route patterns, graphs, tools of the catalog,
// outcomes. No label value is chosen by a client, and no label names an actor.
var Metrics = [...]Metric{
	buildInfo: {"omnigraph_build_info", Gauge, []string{"version", "go"}, "Is 1; its labels say what runs.", ""},
	draining:  {"omnigraph_draining", Gauge, nil, "Is 1 once the server was told to stop.", ""},

	httpRequests: {"omnigraph_http_requests_total", Counter, []string{"route", "method", "class"},
		"HTTP requests answered, by route pattern, method and class of the status, such as 2xx. The route is none for a request that nobody is known to have sent, as without a token, and other for one that was not admitted, or that no route takes.",
		"A share of class 5xx above one in a hundred."},
	httpSeconds: {"omnigraph_http_request_seconds", Histogram, []string{"route"},
		"Time from the header of a request to the end of its answer, the sending of a body and of an answer included.",
		"The 99th percentile of the routes that matter."},
	httpBytes:    {"omnigraph_http_response_bytes_total", Counter, []string{"route"}, "Bytes of the bodies of answers.", ""},
	httpInFlight: {"omnigraph_http_requests_in_flight", Gauge, nil, "HTTP requests under way, those without a token included.", ""},

	authFailures: {"omnigraph_auth_failures_total", Counter, nil, "Requests answered 401: without a token, or with one that nobody knows.",
		"A rise: somebody tries tokens, or a token has run out."},
	guardRefusals: {"omnigraph_guard_refusals_total", Counter, nil, "Requests refused for their Host or Origin, before anybody was asked who they are from.",
		"A rise after a change of the proxy: the Host that it sends does not fit the bind address and public_hosts."},

	admissionRefused: {"omnigraph_admission_refused_total", Counter, []string{"reason"},
		"Requests answered 429: for limits.per_actor_inflight (actor), limits.total_inflight (total) or limits.body_bytes (bytes).",
		"Reason total or bytes: the server is too small for its load. Reason actor: one client sends too much at once."},
	admissionRequests: {"omnigraph_admission_requests", Gauge, nil, "Requests that were admitted and are under way.", ""},
	admissionWaiting:  {"omnigraph_admission_waiting", Gauge, nil, "Requests that wait for their turn, for a tenth of a second at most.", ""},
	admissionActors:   {"omnigraph_admission_actors", Gauge, nil, "Actors that have requests under way.", ""},
	admissionBytes:    {"omnigraph_admission_body_bytes", Gauge, nil, "Bytes that the bodies under way are counted as, against limits.body_bytes.", ""},

	calls: {"omnigraph_calls_total", Counter, []string{"graph", "tool", "outcome"},
		"Calls of tools, of stored queries and of REST operations that are about a graph's data. The tool is unknown for names that are none, or none that the caller may know of.",
		"Outcomes internal, unavailable and timed_out, which are the server's fault or its load's. The others are the caller's."},
	callSeconds: {"omnigraph_call_seconds", Histogram, []string{"graph", "tool"}, "Time that a call took in the graph, the encoding of its answer included.",
		"The 99th percentile of each stored query: when it grows with the data, the query wants an index."},
	callRows:  {"omnigraph_call_rows_total", Counter, []string{"graph", "tool"}, "Rows that calls have answered.", ""},
	callBytes: {"omnigraph_call_bytes_total", Counter, []string{"graph", "tool"}, "Bytes of JSON that calls have answered.", ""},
	policyDenials: {"omnigraph_policy_denials_total", Counter, []string{"graph", "action"},
		"Calls that the policy did not allow, by the action that was asked for. Tools that an actor does not see are unknown to it, and not among these.",
		"A rise after a change of the policy."},

	queryMemory: {"omnigraph_query_memory_bytes", Gauge, nil,
		"Bytes that the queries under way have taken for rows, and answers over REST that are not sent yet, the first MiB of each left out, against limits.memory_bytes.", "Near the limit for long: queries fail with outcome unavailable. Clients that read slowly hold what they are sent."},

	graphBranches:     {"omnigraph_graph_branches", Gauge, []string{"graph"}, "Branches.", "A steady rise: nobody deletes what is merged."},
	graphCommits:      {"omnigraph_graph_commits", Gauge, []string{"graph"}, "Commits of all branches, those included that a cleanup has left in the list alone.", ""},
	graphCalls:        {"omnigraph_graph_calls", Gauge, []string{"graph"}, "Calls of the engine under way.", ""},
	graphSegments:     {"omnigraph_graph_segments", Gauge, []string{"graph"}, "Files of rows and indexes.", ""},
	graphSegmentBytes: {"omnigraph_graph_segment_bytes", Gauge, []string{"graph"}, "Bytes of these files on disk. They are mapped into memory as they are read.", "The free space of the disk: a checkpoint may need as much again."},
	graphLogBytes:     {"omnigraph_graph_log_bytes", Gauge, []string{"graph"}, "Bytes of log since the last checkpoint, which a start after a crash would replay.", "Much more than 8 MiB for long: checkpoints fail."},
	graphCheckpoints:  {"omnigraph_graph_checkpoints_total", Counter, []string{"graph"}, "Checkpoints since the start.", ""},
	graphRewrites:     {"omnigraph_graph_rewrites_total", Counter, []string{"graph"}, "Checkpoints since the start that laid rows out anew, after many deletes.", ""},
	graphCheckpointFailures: {"omnigraph_graph_checkpoint_failures_total", Counter, []string{"graph"},
		"Checkpoints in the background that failed. Nothing is lost: the log keeps what they would have stored.", "Any: the disk is full or broken."},

	embeddings: {"omnigraph_embedding_calls_total", Counter, []string{"graph", "outcome"},
		"Calls of the embedding provider, by outcome ok or failed.", "Outcome failed: the provider is down, or its key has run out."},
	embeddingTexts:   {"omnigraph_embedding_texts_total", Counter, []string{"graph"}, "Texts that were sent to the embedding provider.", "Its cost."},
	embeddingSeconds: {"omnigraph_embedding_seconds", Histogram, []string{"graph"}, "Time that a call of the embedding provider took, its retries included.", ""},
}
