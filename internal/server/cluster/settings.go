package cluster

import (
	"slices"
	"strconv"

	"github.com/omnigraph-go/omnigraph/internal/claims"
	"github.com/omnigraph-go/omnigraph/internal/server/policy/protected"
	"github.com/omnigraph-go/omnigraph/internal/strictyaml"
)

// setting is a short name that keeps the tables of this file compact.
type setting = strictyaml.Setting

// Settings describes cluster.yaml.
var Settings = &setting{
	Type: strictyaml.Mapping,
	Text: "cluster.yaml names the graphs that a server serves, with their schemas, queries and policies.",
	Keys: []*setting{
		{Key: "version", Type: strictyaml.Int, Min: 1, Max: 1, Required: true, Example: "1",
			Text: "This is the version of the format of the file."},
		metadataSettings,
		{Key: "storage", Type: strictyaml.Union, Required: true, Example: "./data",
			Text: "This is where the graphs are stored.",
			Forms: []*setting{
				{Example: "./data", Limits: "a path from the folder of cluster.yaml", Text: "This folder holds the graphs of one server; apply creates it if it does not exist."},
				storageSettings,
			}},
		peersSettings,
		{Key: "graphs", Type: strictyaml.Map, Required: true, NotEmpty: true, Pattern: graphIDPattern, Each: graphSettings,
			Limits:  "a name is a lower-case letter and then at most 62 of a-z, 0-9, _ and -; cluster is reserved",
			Example: "{ people: { schema: people.pg, queries: queries/ } }",
			Text:    "Each entry is a graph, under the name that it has in URLs."},
		providersSettings,
		{Key: "policies", Type: strictyaml.Map, Default: "no policy; then no actor may use a graph", Each: policySettings,
			Example: "{ base: { file: policy.yaml, applies_to: [people] } }",
			Text:    "Each entry says where a policy file applies; its name appears in messages only."},
		serverSettings,
		{Key: "state", Type: strictyaml.Union, Default: "no effect", Example: "{}",
			Limits: "any value", Text: "Older files have this key; it has no effect, and you can remove it."},
	},
}

// metadataSettings describes the section metadata.
var metadataSettings = &setting{
	Key: "metadata", Type: strictyaml.Mapping, Default: "no name", Example: "{ name: company-brain }",
	Text: "This section describes the cluster.",
	Keys: []*setting{
		{Key: "name", Default: "no name", Example: "company-brain", Limits: "any text that is not empty",
			Text: "This is a name for people who read the file; no command shows it."},
	},
}

// forCedar returns a setting of a policy as a setting of a graph, whose policy is a .cedar file.
func forCedar(s *setting) *setting {
	c := *s
	c.Limits += "; only if the policy of the graph is a .cedar file, because a policy in YAML has this key itself"
	return &c
}

// graphSettings describes one graph of the section graphs.
var graphSettings = &setting{
	Type: strictyaml.Mapping, Example: "{ schema: people.pg, queries: queries/ }",
	Text: "This is a graph.",
	Keys: []*setting{
		{Key: "schema", Required: true, Example: "people.pg", Limits: "a path, from the folder of cluster.yaml, of a file that ends in .pg", Pattern: `\.pg$`,
			Text: "This file has the schema of the graph."},
		{Key: "queries", Type: strictyaml.Union, Default: "no stored queries", Example: "queries/",
			Text: "This says where the stored queries of the graph are.",
			Forms: []*setting{
				{Example: "queries/", Limits: "a path from the folder of cluster.yaml", Text: "All queries of the .gq files directly in this folder are stored queries."},
				{Type: strictyaml.List, Example: "[people.gq, teams.gq]", Text: "All queries of these files are stored queries.",
					Each: &setting{Example: "people.gq", Pattern: `\.gq$`, Limits: "a path that ends in .gq", Text: "This is a file of queries."}},
				{Type: strictyaml.Map, Example: "{ find_person: { file: people.gq } }", Each: querySettings, Text: "Only the queries of these names are stored queries."},
			}},
		{Key: "embedding_provider", Default: "none: the graph embeds no texts", Example: "main", Limits: "a name of providers.embedding",
			Text: "This provider computes the vectors of @embed properties, and of the texts that queries give to nearest."},
		{Key: "source", Default: "none: answers do not say whether the code has changed", Example: "./", Limits: "a path, from the folder of cluster.yaml, of a folder",
			Text: "If the graph holds source code that was read from this folder or one below it, each answer to a read says whether the code has changed since. The server looks at names, sizes and times of files, and at the checked out commit of Git, and reads no code."},
		quotaSettings,
		proposalSettings,
		draftSettings,
		watchSettings,
		mcpSettings,
		forCedar(protected.BranchesSetting),
		forCedar(protected.OwnersSetting),
		forCedar(protected.FiltersSetting),
	},
}

// quotaSettings describes the section quota of a graph.
var quotaSettings = &setting{
	Key: "quota", Type: strictyaml.Mapping, Default: "no quota", Example: "{ bytes: 10737418240, branches: 100 }",
	Text: "This section bounds what the graph stores.",
	Keys: []*setting{
		{Key: "bytes", Type: strictyaml.Int, Min: 1 << 20, Max: 1 << 50, Default: "no bound", Example: "10737418240",
			Text: "If the graph stores more than this number of bytes, the server refuses writes that add data; deletions and cleanups stay possible."},
		{Key: "branches", Type: strictyaml.Int, Min: 1, Max: 1_000_000, Default: "the value of server.limits.branches", Example: "100",
			Text: "The graph can have at most this number of branches; this replaces server.limits.branches for the graph."},
	},
}

// proposalSettings describes the section proposals of a graph.
var proposalSettings = &setting{
	Key: "proposals", Type: strictyaml.Mapping, Default: "the defaults of its keys", Example: "{ keep: 720h }",
	Text: "This section says how long the graph keeps proposals.",
	Keys: []*setting{
		{Key: "keep", Default: "2160h, which is 90 days", Example: "720h", Pattern: durationPattern, Limits: "a duration from 1h to 87600h",
			Text: "A cleanup keeps a merged or closed proposal, and the commits that it compared, readable until this time after the last event of the proposal. It always keeps open proposals."},
	},
}

// draftSettings describes the section drafts of a graph.
var draftSettings = &setting{
	Key: "drafts", Type: strictyaml.Mapping, Default: "keep 720h, max 5", Example: "{ keep: 720h, max: 5 }",
	Text: "This section bounds the drafts of the graph.",
	Keys: []*setting{
		{Key: "keep", Default: "720h", Example: "168h", Pattern: durationPattern, Limits: "a duration from 1h to 87600h",
			Text: "A draft ends if nobody writes to it for this time, unless an open proposal needs it."},
		{Key: "max", Type: strictyaml.Int, Min: 1, Max: 1000, Default: "5", Example: "10",
			Text: "An actor can have at most this number of open drafts."},
	},
}

// querySettings describes one stored query of a graph.
var querySettings = &setting{
	Type: strictyaml.Mapping, Example: "{ file: people.gq }",
	Text: "This says where a stored query is.",
	Keys: []*setting{
		{Key: "file", Required: true, Example: "people.gq", Pattern: `\.gq$`, Limits: "a path, from the folder of cluster.yaml, of a file that ends in .gq",
			Text: "This file has the query."},
	},
}

const oversizeTruncate, oversizeRefuse = "truncate", "refuse" // the values of on_oversize

const rowsArrays, rowsObjects = "arrays", "objects" // the values of rows

// The values of mode and of arguments.
const (
	modeAuto, modePerQuery, modeMeta = "auto", "per_query", "meta"
	argumentsNested, argumentsFlat   = "nested", "flat"
)

// Toolsets lists the sets of tools that mcp.toolsets can name.
var Toolsets = []string{"read", "write", "review", "admin", "watch"}

// Confirmable lists the actions that mcp.confirm can name.
var Confirmable = []string{"branch_delete", "branch_merge", "schema_apply", "change"}

// mcpSettings describes the section mcp of a graph.
var mcpSettings = &setting{
	Key: "mcp", Type: strictyaml.Mapping, Default: "the defaults of its keys", Example: "{ max_rows: 500, on_oversize: refuse }",
	Text: "This section sets how the tools of the graph are listed and how large their answers may be.",
	Keys: []*setting{
		{Key: "meta_threshold", Type: strictyaml.Int, Min: 1, Max: 10_000, Default: strconv.Itoa(DefaultMetaThreshold), Example: "60",
			Text: "A graph with at least this number of exposed stored queries offers two tools that find and run queries, instead of one tool for each query."},
		{Key: "output_schemas", Type: strictyaml.Bool, Default: "false", Example: "true",
			Text: "If this is true, tools/list also has the schema of each tool's result, for programs that check results; a model needs only the result."},
		{Key: "confirm", Type: strictyaml.List, Default: "none", Example: "[branch_delete, change]",
			Each: &setting{Type: strictyaml.Choice, OneOf: Confirmable, Example: "branch_delete", Text: "This is an action."},
			Text: "Before a call over MCP does one of these actions, the user must confirm it: branch_delete, branch_merge, schema_apply if it removes stored values, and change if it deletes entities or loads with overwrite."},
		{Key: "mode", Type: strictyaml.Choice, OneOf: []string{modeAuto, modePerQuery, modeMeta}, Default: modeAuto, Example: modeMeta,
			Text: "This says whether each stored query is a tool (per_query), two tools find and run the queries (meta), or meta_threshold decides (auto)."},
		{Key: "toolsets", Type: strictyaml.List, Default: "all", Example: "[read, write]",
			Each: &setting{Type: strictyaml.Choice, OneOf: Toolsets, Example: "read", Text: "This is a set of tools."},
			Text: "The list of tools has the tools of these sets, for a client that asks for no sets itself; a permitted call of another tool is served."},
		{Key: "arguments", Type: strictyaml.Choice, OneOf: []string{argumentsNested, argumentsFlat}, Default: argumentsNested, Example: argumentsFlat,
			Text: "This says where the tool of a stored query takes its parameters: in the member params, or at the top, with the other options in the member _."},
		{Key: "rows", Type: strictyaml.Choice, OneOf: []string{rowsArrays, rowsObjects}, Default: rowsArrays, Example: rowsObjects,
			Text: "This says how answers over MCP write a row: as an array of its values in the order of columns, or as an object that repeats the names of the columns."},
		{Key: "max_rows", Type: strictyaml.Int, Min: 1, Max: 1_000_000, Default: strconv.Itoa(DefaultMaxRows), Example: "500",
			Text: "The answer of a tool has at most this number of rows."},
		{Key: "max_bytes", Type: strictyaml.Int, Min: 1024, Max: 1 << 30, Default: strconv.Itoa(DefaultMaxBytes), Example: "100000",
			Text: "The answer of a tool has at most this number of bytes of JSON."},
		{Key: "on_oversize", Type: strictyaml.Choice, OneOf: []string{oversizeTruncate, oversizeRefuse}, Default: oversizeTruncate, Example: oversizeRefuse,
			Text: "This says what happens to a larger answer: the server truncates it and adds a token for the next page, or refuses the call."},
	},
}

// providersSettings describes the section providers.
var providersSettings = &setting{
	Key: "providers", Type: strictyaml.Mapping, Default: "no provider", Example: "{ embedding: { trial: { kind: mock } } }",
	Text: "This section describes services that the server calls.",
	Keys: []*setting{
		{Key: "embedding", Type: strictyaml.Map, Default: "no provider", Each: embeddingSettings, Example: "{ trial: { kind: mock } }",
			Text: "Each entry is a service that computes vectors from texts; graphs name it as their embedding_provider."},
	},
}

// embeddingSettings describes one embedding provider.
var embeddingSettings = &setting{
	Type: strictyaml.Mapping, Example: "{ kind: gemini, model: text-embedding-004, api_key: \"${GEMINI_KEY}\" }",
	Text: "This is a service that computes vectors from texts.",
	Keys: []*setting{
		{Key: "kind", Type: strictyaml.Choice, OneOf: []string{EmbedOpenAI, EmbedGemini, EmbedMock}, Required: true, Example: EmbedOpenAI,
			Text: "This is the protocol of the service; mock needs no network, but only its vectors of equal texts are near each other."},
		{Key: "base_url", Default: "the public address of the service", Example: "\"https://api.example.com/v1\"", Pattern: `^https?://`,
			Limits: "an address that begins with https:// or http://; not allowed with kind mock",
			Text:   "This is the address of the service."},
		{Key: "model", Default: "none; required unless kind is mock", Example: "small-3", Limits: "a model of the service; not allowed with kind mock",
			Text: "This model computes the vectors."},
		{Key: "api_key", Default: "no key", Example: "\"${EMBEDDING_KEY}\"", Pattern: `^\$\{[A-Za-z_][A-Za-z0-9_]*\}$`,
			Limits: "a reference to an environment variable, because the file must not hold the secret; not allowed with kind mock",
			Text:   "This environment variable holds the key of the service."},
	},
}

// policySettings describes one policy file and where it applies.
var policySettings = &setting{
	Type: strictyaml.Mapping, Example: "{ file: policy.yaml, applies_to: [people] }",
	Text: "This says where a policy file applies.",
	Keys: []*setting{
		{Key: "file", Required: true, Example: "policy.yaml", Pattern: `\.(yaml|yml|cedar)$`,
			Limits: "a path, from the folder of cluster.yaml, of a file that ends in .yaml, .yml or .cedar",
			Text:   "This file has the rules."},
		{Key: "applies_to", Type: strictyaml.List, NotEmpty: true, Required: true, Example: "[people]",
			Each:   &setting{Example: "people", Limits: "a graph, or cluster", Text: "This is a graph, or cluster for the server itself."},
			Limits: "names of graphs, or cluster; a graph has at most one policy",
			Text:   "The rules apply to these graphs, or with cluster to the actions of the server itself."},
	},
}

// serverSettings describes the section `server`. The sections of the authentication methods are
// between its other keys.
var serverSettings = func() *setting {
	s := &setting{
		Key: "server", Type: strictyaml.Mapping, Default: "the defaults of its keys", Example: "{ public_hosts: [graph.example.com] }",
		Text: "This section sets how clients reach the server, who they are, and how much they may ask for.",
		Keys: []*setting{
			{Key: "public_hosts", Type: strictyaml.List, Default: "any name", Example: "[graph.example.com]",
				Each:   &setting{Example: "graph.example.com", Limits: "a host name without a port", Text: "This is a host name of the server."},
				Limits: "host names without a port",
				Text:   "A server that is not bound to loopback refuses requests whose Host header is not one of these names; a server on loopback accepts only the names of loopback."},
			{Key: "browser_origins", Type: strictyaml.List, Default: "none", Example: "[\"https://app.example.com\"]",
				Each:   &setting{Example: "\"https://app.example.com\"", Limits: "scheme://host or scheme://host:port", Text: "This is the origin of a web page."},
				Limits: "origins of the form scheme://host or scheme://host:port",
				Text:   "Web pages of these origins may call the server."},
			{Key: "studio", Type: strictyaml.Bool, Default: "false", Example: "true",
				Text: "If this is true, the server serves the studio, web pages for people who look at graphs, at /studio/."},
		},
	}
	s.Keys = append(s.Keys, &setting{Key: "claims", Type: strictyaml.Map, Default: "none", Example: "{ region: String, teams: [String] }",
		Each:   &setting{Type: strictyaml.Union, Example: "String", Text: "This is the type of the claim.", Forms: claims.TypeForms},
		Limits: claims.Names,
		Text:   "Queries may use these claims of their callers, as actor().region. The tokens file gives them values; claims of an issuer's tokens are in oidc.claims."})
	for _, section := range authSections {
		s.Keys = append(s.Keys, section.settings)
	}
	s.Keys = append(s.Keys, limitSettings, auditSettings)
	return s
}()

// oidcSettings describes the section server.oidc.
var oidcSettings = &setting{
	Key: oidcSection, Type: strictyaml.Mapping, Default: "static tokens only", Example: "{ issuer: \"https://id.example.com\", audience: omnigraph }",
	Text: "This section makes the server accept the tokens of an OpenID Connect issuer.",
	Keys: []*setting{
		{Key: "issuer", Required: true, Example: "\"https://id.example.com\"", Limits: "an address as the claim iss of a token has it; https, except on loopback",
			Text: "The server accepts the tokens of this issuer."},
		{Key: "audience", Type: strictyaml.Union, Required: true, Example: "omnigraph",
			Text: "A token must be meant for this server: its claim aud contains one of these names.",
			Forms: []*setting{
				{Example: "omnigraph", Limits: "a text that is not empty", Text: "This is the only audience."},
				{Type: strictyaml.List, NotEmpty: true, Example: "[omnigraph, graph]", Text: "A token must be for at least one of these audiences.",
					Each: &setting{Example: "omnigraph", Limits: "a text that is not empty", Text: "This is an audience."}},
			}},
		{Key: "actor_claim", Default: DefaultActorClaim, Example: "email", Pattern: tokenWordPattern, Limits: "1 to 256 printable characters of ASCII",
			Text: "The value of this claim of a token is the name of the actor."},
		{Key: "actor_prefix", Default: "no prefix", Example: "\"sso:\"", Pattern: actorPrefixPattern, Limits: "1 to 32 characters of ASCII without blanks",
			Text: "The server puts this text before the actor's name from the claim, so that actors of the issuer differ from actors of static tokens."},
		{Key: "shared_actors", Type: strictyaml.Bool, Default: "false", Example: "true",
			Text: "If this is true, a token of the issuer may name an actor that a static token also names."},
		{Key: "act", Type: strictyaml.Choice, OneOf: []string{"current", actChain}, Default: "current", Example: "chain",
			Text: "If agents act for an actor, as the claim act says, policies are asked about the actor and about these agents: the current one, or all of the chain. The setting holds for the tokens file too."},
		{Key: "groups_claim", Default: DefaultGroupsClaim, Example: "roles", Pattern: tokenWordPattern, Limits: "1 to 256 printable characters of ASCII",
			Text: "The value of this claim of a token lists the groups of the actor."},
		{Key: "groups", Type: strictyaml.Map, Default: "none: the groups of tokens are ignored", Pattern: tokenWordPattern, Example: "{ idp-admins: admins }",
			Each:   &setting{Example: "admins", Limits: "a group of a policy", Text: "This is the name of the group in the policies."},
			Limits: "a name of a token's group is 1 to 256 printable characters of ASCII",
			Text:   "Each entry maps a group of tokens to a group of the policies; other groups of a token are ignored."},
		{Key: "claims", Type: strictyaml.Map, Default: "none", Example: "{ region: { claim: \"https://example.com/region\", type: String }, teams: [String] }",
			Each: &setting{Type: strictyaml.Union, Example: "String", Text: "This is a claim.",
				Forms: append(slices.Clone(claims.TypeForms), claimSettings)},
			Limits: claims.Names,
			Text:   "Queries may use these claims of the issuer's tokens, as actor().region. A claim that a token lacks is null in queries. A token with a claim of another type is refused."},
		{Key: "scopes", Type: strictyaml.Union, Default: "none", Example: "{ graph.read: [read, invoke_query], graph.write: [change] }",
			Text: "Clients are told to ask the issuer for these scopes.",
			Forms: []*setting{
				{Type: strictyaml.List, Example: "[graph.read]", Text: "The server does not look for these scopes in tokens; policies decide what an actor may do.",
					Each: &setting{Example: "graph.read", Pattern: scopePattern, Limits: "a scope: ASCII without blanks, quotes and backslashes", Text: "This is a scope."}},
				{Type: strictyaml.Map, Pattern: scopePattern, Example: "{ graph.read: [read, invoke_query], graph.write: [change] }",
					Limits: "each name is a scope: ASCII without blanks, quotes and backslashes",
					Text:   "The actions of a scope are what a token with this scope may do, as far as the policy allows it. A token with scopes may do nothing else; a token without scopes is not narrowed.",
					Each: &setting{Type: strictyaml.List, Example: "[read, invoke_query]", Text: "These are actions of policies.",
						Each: &setting{Example: "read", Limits: "an action of policies", Text: "This is an action."}}},
			}},
		studioClientSettings,
	},
}

// claimSettings describes a claim of server.oidc.claims that has another name in tokens.
var claimSettings = &setting{
	Type: strictyaml.Mapping, Example: "{ claim: \"https://example.com/region\", type: String }", Text: "The claim has a type, and a name in tokens.",
	Keys: []*setting{
		{Key: "claim", Default: "the name in queries", Example: "\"https://example.com/region\"", Pattern: tokenWordPattern, Limits: "1 to 256 printable characters of ASCII",
			Text: "Tokens have the claim under this name."},
		{Key: "type", Type: strictyaml.Union, Required: true, Example: "String", Text: "This is the type of the claim.", Forms: claims.TypeForms},
	},
}

// studioClientSettings describes the section server.oidc.studio.
var studioClientSettings = &setting{
	Key: "studio", Type: strictyaml.Mapping, Default: "users of the studio can only paste a token", Example: "{ client_id: omnigraph-studio, scopes: [openid, graph] }",
	Text: "This section lets users of the studio log in at the issuer.",
	Keys: []*setting{
		{Key: "client_id", Required: true, Example: "omnigraph-studio", Pattern: tokenWordPattern, Limits: "1 to 256 printable characters of ASCII",
			Text: "The issuer knows the studio by this id, as a public client without a secret, with the redirect address https://HOST/studio/callback."},
		{Key: "scopes", Type: strictyaml.List, Default: "[openid]", Example: "[openid, graph]",
			Each:   &setting{Example: "openid", Pattern: scopePattern, Limits: "a scope, but not offline_access, because the studio takes no refresh token", Text: "This is a scope."},
			Limits: "scopes; offline_access is refused, because the studio takes no refresh token",
			Text:   "The studio asks the issuer for these scopes, and always for openid. With them, the issuer must give an access token whose audience is this server."},
	},
}

// durationPattern matches a duration, such as 1m30s.
const durationPattern = `^([0-9]+(\.[0-9]*)?(ns|us|µs|ms|s|m|h))+$`

// limitSettings describes the section server.limits.
var limitSettings = &setting{
	Key: "limits", Type: strictyaml.Mapping, Default: "the defaults of its keys", Example: "{ per_actor_inflight: 32, request_timeout: 1m }",
	Text: "This section bounds the load of the server.",
	Keys: []*setting{
		{Key: "per_actor_inflight", Type: strictyaml.Int, Min: 1, Max: 100_000, Default: strconv.Itoa(DefaultPerActorInflight), Example: "32",
			Text: "One actor can have at most this number of requests in flight; the server answers further ones with 429."},
		{Key: "total_inflight", Type: strictyaml.Int, Min: 1, Max: 100_000, Default: strconv.Itoa(DefaultTotalInflight), Example: "512",
			Text: "All actors together can have at most this number of requests in flight."},
		{Key: "request_timeout", Default: DefaultRequestTimeout.String(), Example: "1m", Pattern: durationPattern, Limits: "a duration from 1ms to 5m",
			Text: "The server stops a call after this time, except loads and exports."},
		{Key: "body_bytes", Type: strictyaml.Int, Min: minBodyBytes, Max: 1 << 40, Default: strconv.Itoa(DefaultBodyBytes), Example: "536870912",
			Text: "The bodies of all requests in flight may have at most this number of bytes, and the bodies of one actor at most half of it."},
		{Key: "load_bytes", Type: strictyaml.Int, Min: 1 << 20, Max: 1 << 50, Default: "quota.bytes of the graph; no bound if it has none", Example: "107374182400",
			Text: "The data of one load over REST may have at most this number of bytes, in one request or in pieces. It does not count for body_bytes, because the server stores it while it arrives."},
		{Key: "query_bytes", Type: strictyaml.Int, Min: 1 << 20, Max: 1 << 40, Default: "1073741824", Example: "536870912", Limits: "a value above memory_bytes counts as memory_bytes",
			Text: "One call may use at most this number of bytes of memory for its rows, or to compile a text."},
		{Key: "memory_bytes", Type: strictyaml.Int, Min: 1 << 20, Max: 1 << 50, Default: strconv.Itoa(DefaultMemoryBytes) + ", or half of GOMEMLIMIT if that is less", Example: "1073741824",
			Text: "All calls together may use at most this number of bytes of memory for rows, texts and long answers."},
		{Key: "branches", Type: strictyaml.Int, Min: 1, Max: 1_000_000, Default: strconv.Itoa(DefaultBranches), Example: "500",
			Text: "A graph can have at most this number of branches."},
		{Key: "per_actor_subscriptions", Type: strictyaml.Int, Min: 1, Max: 100_000, Default: strconv.Itoa(DefaultPerActorSubscriptions), Example: "4",
			Text: "One actor can have at most this number of open subscriptions to change feeds and over MCP; the server answers further ones with 429. They do not count for per_actor_inflight."},
		{Key: "total_subscriptions", Type: strictyaml.Int, Min: 1, Max: 100_000, Default: strconv.Itoa(DefaultTotalSubscriptions), Example: "64",
			Text: "All actors together can have at most this number of open subscriptions."},
	},
}
