// Package gqconfig reads gq.yaml, the project settings of the gq command, which query authors use.
package gqconfig

import (
	"math"
	"strconv"

	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/internal/claims"
	"github.com/omnigraph-go/omnigraph/internal/gq/diag"
	"github.com/omnigraph-go/omnigraph/internal/gq/lint"
	"github.com/omnigraph-go/omnigraph/internal/strictyaml"
)

// File is the name of the file. It is in the same folder as cluster.yaml.
const File = "gq.yaml"

// Config is the content of a gq.yaml.
type Config struct {
	Strict  bool        // every key of a tool's arguments is required; null stands for an omitted value
	OpenAPI bool        // gq generate also writes the OpenAPI document of each graph
	Claims  plan.Claims // the claims that queries may use, where no cluster.yaml is read
	Lint    lint.Config // levels and options of the lint rules
}

// Settings describes gq.yaml.
var Settings = &strictyaml.Setting{
	Type: strictyaml.Mapping,
	Text: "gq.yaml contains the settings of the command gq for a project.",
	Keys: []*strictyaml.Setting{
		{
			Key: "strict", Type: strictyaml.Bool, Default: "false", Example: "true",
			Text: "If this is true, the JSON Schemas of tools require every argument, and a client sends null for an argument that it would otherwise leave out. Some clients need such schemas.",
		},
		{
			Key: "openapi", Type: strictyaml.Bool, Default: "false", Example: "true",
			Text: "If this is true, gq generate also writes the OpenAPI document of each graph, openapi.json, next to the Go files. A server answers the same document without it.",
		},
		{
			Key: "claims", Type: strictyaml.Map, Default: "none", Example: "{ region: String, teams: [String] }",
			Each:   &strictyaml.Setting{Type: strictyaml.Union, Example: "String", Text: "This is the type of the claim.", Forms: claims.TypeForms},
			Limits: claims.Names,
			Text:   "Queries may use these claims of their callers, as actor().region, when gq compiles them without a cluster.yaml. With one, server.claims and server.oidc.claims there count instead.",
		},
		lintSettings,
	},
}

// lintSettings describes the section `lint`.
var lintSettings = &strictyaml.Setting{
	Key: "lint", Type: strictyaml.Mapping, Default: "the defaults of the keys", Example: "{ rules: { L105: off }, max_tool_name: 32 }",
	Text: "This section sets what gq lint reports.",
	Keys: []*strictyaml.Setting{
		{
			Key: "rules", Type: strictyaml.Mapping, Default: "the level of each rule", Example: "{ L105: off, L112: error }",
			Text: "Each entry sets the level of a lint rule; docs/reference/diagnostics.md describes the rules.",
			Keys: ruleSettings(),
		},
		{
			Key: "max_tool_name", Type: strictyaml.Int, Min: 1, Max: math.MaxInt32, Default: strconv.Itoa(lint.DefaultMaxToolName), Example: "32",
			Text: "Rule L109 reports names of tools with more characters than this.",
		},
		{
			Key: "max_description", Type: strictyaml.Int, Min: 1, Max: math.MaxInt32, Default: strconv.Itoa(lint.DefaultMaxDescription), Example: "600",
			Text: "Rule L111 reports descriptions of tools and parameters with more characters than this.",
		},
		{
			Key: "token_budget", Type: strictyaml.Int, Min: 1, Max: math.MaxInt32, Default: strconv.Itoa(lint.DefaultTokenBudget), Example: "20000",
			Text: "Rule L203 reports a graph if its tools take more tokens than this in the answer to tools/list.",
		},
	},
}

// ruleSettings returns a setting for each lint rule.
func ruleSettings() []*strictyaml.Setting {
	var all []*strictyaml.Setting
	for _, rule := range lint.Rules {
		all = append(all, &strictyaml.Setting{
			Key: string(rule.Code), Type: strictyaml.Choice, OneOf: lint.Levels, Default: rule.Level.String(), Example: "off",
			Text: "This is the level of the rule \"" + rule.Title + "\".",
		})
	}
	return all
}

// Parse reads the text of a gq.yaml. In faults, the name of the file is `path`.
func Parse(path string, text []byte) (Config, diag.List) {
	var cfg Config
	r := strictyaml.Read(path, text)
	if root := r.Root(); root != nil {
		if f, ok := root.Mapping(File, Settings); ok {
			cfg.Strict, _ = f["strict"].Bool("strict")
			cfg.OpenAPI, _ = f["openapi"].Bool("openapi")
			entries, _ := f["claims"].Entries("claims")
			for _, e := range entries {
				claims.Declare(&cfg.Claims, e.Key, e.Value, "claims."+e.Key)
			}
			cfg.Lint = lintConfig(f["lint"])
		}
	}
	return cfg, r.Faults()
}

// Strict reads only the key `strict` of a gq.yaml. It reports no faults of other sections.
func Strict(path string, text []byte) (bool, diag.List) {
	strict := false
	r := strictyaml.Read(path, text)
	if root := r.Root(); root != nil {
		if f, ok := root.Mapping(File, Settings); ok {
			strict, _ = f["strict"].Bool("strict")
		}
	}
	return strict, r.Faults()
}

// lintConfig reads the section `lint` from the node `n`, and reports faults there.
func lintConfig(n *strictyaml.Node) lint.Config {
	cfg := lint.Config{Levels: map[diag.Code]lint.Level{}}
	f, ok := n.Mapping("lint", lintSettings)
	if !ok {
		return cfg
	}
	var codes []string
	known := map[string]bool{}
	for _, rule := range lint.Rules {
		codes = append(codes, string(rule.Code))
		known[string(rule.Code)] = true
	}
	entries, _ := f["rules"].Entries("lint.rules")
	for _, e := range entries {
		if !known[e.Key] {
			e.At.Unknown(strictyaml.UnknownName, "rule", e.Key, "lint.rules", codes)
			continue
		}
		if name, ok := e.Value.OneOf("the level of "+e.Key, lint.Levels...); ok {
			cfg.Levels[diag.Code(e.Key)], _ = lint.ParseLevel(name)
		}
	}
	for key, to := range map[string]*int{
		"max_tool_name": &cfg.MaxToolName, "max_description": &cfg.MaxDescription, "token_budget": &cfg.TokenBudget,
	} {
		if v, ok := f[key].Number(); ok {
			*to = int(v)
		}
	}
	return cfg
}
