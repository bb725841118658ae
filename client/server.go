package client

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
)

// Health is the answer of /healthz.
type Health struct {
	Status        string  `json:"status"` // always ok
	Version       string  `json:"version" jsonschema_description:"The version of the server."`
	SourceVersion *string `json:"source_version" jsonschema_description:"The commit of the source code that the server was built from; null where the build does not record it."`
	Graphs        int     `json:"graphs" jsonschema_description:"How many graphs are served."`

	InternalSchemaVersion int `json:"internal_schema_version" jsonschema_description:"The version of the layout of the graphs' own records."`
}

// ActorAnswer is the actor as whom the server takes a request.
type ActorAnswer struct {
	ActorID string   `json:"actor_id"` // name of the actor
	Agents  []string `json:"agents,omitempty" jsonschema_description:"The agents that act for the actor, the current one first."`
	Groups  []string `json:"groups"` // groups that the token contains, as the issuer names them
}

// GraphList is the list of the graphs of a server.
type GraphList struct {
	Graphs []GraphEntry `json:"graphs"` // all graphs of the server
}

// GraphEntry is one graph of a server.
type GraphEntry struct {
	GraphID string `json:"graph_id"` // id of the graph
	URI     string `json:"uri"`      // identifies the graph, such as omnigraph://people
}

// Readiness is the answer of /readyz: whether the server serves everything in its
// configuration.
type Readiness struct {
	Status      string `json:"status" jsonschema:"enum=ready,enum=not_ready" jsonschema_description:"not_ready, with status 503, while a graph is quarantined or refuses writes because its storage fails, after the server received the signal to stop, and, with shared storage, while its configuration differs from that of a server that was started earlier."`
	Graphs      int    `json:"graphs" jsonschema_description:"How many graphs are served."`
	Quarantined int    `json:"quarantined" jsonschema_description:"How many graphs could not be opened."`
	LeftOut     int    `json:"left_out" jsonschema_description:"How many stored queries do not fit the live schema of their graph."`

	Detail *ReadinessDetail `json:"detail,omitempty" jsonschema_description:"Only for an actor with graph_list."`
}

// ReadinessDetail lists the graphs and queries that a Readiness counts, and gives reasons.
type ReadinessDetail struct {
	Revision *uint64          `json:"revision" jsonschema_description:"The applied revision that the server booted from; null for none."`
	Pending  []string         `json:"pending" jsonschema_description:"The changes in cluster.yaml that are not applied."`
	Graphs   []GraphReadiness `json:"graphs"` // the state of each graph
	Differs  string           `json:"differs,omitempty" jsonschema_description:"Only with shared storage: which other server has another configuration, and what to do; absent if all servers have the same."`
}

// GraphReadiness is the state of one graph.
type GraphReadiness struct {
	GraphID string         `json:"graph_id"` // id of the graph
	Status  string         `json:"status" jsonschema:"enum=serving,enum=failing,enum=quarantined"`
	Reason  string         `json:"reason,omitempty" jsonschema_description:"Why it is failing or quarantined."`
	Role    string         `json:"role,omitempty" jsonschema:"enum=reader,enum=writer,enum=absent,enum=idle" jsonschema_description:"Only with shared storage: whether this server writes the graph, reads it, opens it at the moment, or has it closed because it is not in use."`
	Epoch   uint64         `json:"epoch,omitempty" jsonschema_description:"Only with shared storage: the number of takeovers of the graph so far, as far as this server knows."`
	LagMS   int64          `json:"lag_ms,omitempty" jsonschema_description:"Only with shared storage: the milliseconds since this server last knew every commit."`
	Writer  string         `json:"writer,omitempty" jsonschema_description:"Only on a reader: the name of the server that writes the graph."`
	Drift   bool           `json:"drift" jsonschema_description:"Its live schema differs from the schema of the applied revision."`
	LeftOut []LeftOutQuery `json:"left_out"`
}

// LeftOutQuery is a stored query that is not served.
type LeftOutQuery struct {
	Name   string `json:"name"`   // name of the query
	Reason string `json:"reason"` // why it does not fit the schema
}

// The values of Readiness.Status and GraphReadiness.Status.
const (
	StatusReady       = "ready"       // everything is served
	StatusNotReady    = "not_ready"   // something is not served
	StatusServing     = "serving"     // the graph answers requests
	StatusFailing     = "failing"     // refuses writes; the server recovers by itself
	StatusQuarantined = "quarantined" // the graph could not be opened
)

// ResourceMetadata tells a client without a token which issuers a resource accepts (RFC 9728).
type ResourceMetadata struct {
	Resource string   `json:"resource" jsonschema_description:"The URL of the resource."`
	Servers  []string `json:"authorization_servers" jsonschema_description:"The issuer of the tokens."`
	Methods  []string `json:"bearer_methods_supported"` // ways to send a token
	Scopes   []string `json:"scopes_supported,omitempty" jsonschema_description:"The scopes to ask the issuer for."`
	Name     string   `json:"resource_name"` // name to show to people
}

// Health asks whether the server is up, and how many graphs it serves. The request needs no token.
func (c *Client) Health(ctx context.Context) (*Health, error) {
	return ask[Health](ctx, c, reading("/healthz", nil))
}

// Ready asks whether the server serves everything in its configuration. If it does not, the status
// of the answer is StatusNotReady and the error is nil. Without a token, or without the right
// graph_list, the answer has no Detail.
func (c *Client) Ready(ctx context.Context) (*Readiness, error) {
	q := reading("/readyz", nil)
	q.also = http.StatusServiceUnavailable
	return ask[Readiness](ctx, c, q)
}

// Actor asks who the caller is. Every caller with a token may ask.
func (c *Client) Actor(ctx context.Context) (*ActorAnswer, error) {
	return ask[ActorAnswer](ctx, c, reading("/actor", nil))
}

// Graphs lists the graphs of the server. The caller needs the right graph_list.
func (c *Client) Graphs(ctx context.Context) (*GraphList, error) {
	return ask[GraphList](ctx, c, reading("/graphs", nil))
}

// Metrics returns the metrics in the text format of Prometheus. The caller must close them.
func (c *Client) Metrics(ctx context.Context) (io.ReadCloser, error) {
	resp, err := c.open(ctx, reading("/metrics", nil))
	if err != nil {
		return nil, err
	}
	return resp.Body, nil
}

// OpenAPI returns the OpenAPI document of the server.
func (c *Client) OpenAPI(ctx context.Context) (json.RawMessage, error) {
	return c.document(ctx, "/openapi.json")
}

// OpenAPI returns the OpenAPI document of the stored queries that the caller may invoke. In the
// document, each query is an operation with the types of its parameters and columns.
func (g *Graph) OpenAPI(ctx context.Context) (json.RawMessage, error) {
	return g.c.document(ctx, g.path+"/openapi.json")
}

// document returns the OpenAPI document at a path.
func (c *Client) document(ctx context.Context, path string) (json.RawMessage, error) {
	b, err := c.read(ctx, reading(path, nil))
	if err == nil && !json.Valid(b) {
		err = errors.New("the OpenAPI document of the server is not valid JSON; check that the URL is that of an omnigraph-server")
	}
	return b, err
}

// metadataPath is where a server describes how to get a token (RFC 9728).
const metadataPath = "/.well-known/oauth-protected-resource"

// ResourceMetadata returns the issuers of tokens that the server accepts. If the server accepts no
// issuer, the error matches [ErrNotFound]. The request needs no token.
func (c *Client) ResourceMetadata(ctx context.Context) (*ResourceMetadata, error) {
	return ask[ResourceMetadata](ctx, c, reading(metadataPath, nil))
}

// ResourceMetadata returns the same as [Client.ResourceMetadata], for the REST routes of the graph.
func (g *Graph) ResourceMetadata(ctx context.Context) (*ResourceMetadata, error) {
	return ask[ResourceMetadata](ctx, g.c, reading(metadataPath+g.path, nil))
}

// MCPMetadata returns the same as [Client.ResourceMetadata], for the MCP endpoint of the graph.
func (g *Graph) MCPMetadata(ctx context.Context) (*ResourceMetadata, error) {
	return ask[ResourceMetadata](ctx, g.c, reading(metadataPath+g.path+"/mcp", nil))
}
