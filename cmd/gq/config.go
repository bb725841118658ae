package main

import (
	"errors"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"

	"github.com/omnigraph-go/omnigraph/internal/gq/diag"
	"github.com/omnigraph-go/omnigraph/internal/gq/lint"
	"github.com/omnigraph-go/omnigraph/internal/server/strictyaml"
)

// configFile is the name of the file with a project's settings for gq.
const configFile = "gq.yaml"

// config is the content of a gq.yaml, such as:
//
//	strict: true
//	lint:
//	  rules: { L105: off, L112: error }
//	  max_tool_name: 40
//	  max_description: 1024
//	  token_budget: 20000
type config struct {
	strict bool // every key of a tool's arguments is required; null stands for an omitted value
	lint   lint.Config
}

// readConfig reads the gq.yaml in dir, if there is one, and reports its faults to stderr.
func readConfig(dir string, stderr io.Writer) (config, error) {
	path := filepath.Join(dir, configFile)
	src, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return config{}, nil
	}
	if err != nil {
		return config{}, err
	}
	cfg, faults := parseConfig(path, src)
	diag.Render(stderr, faults, map[string]string{path: string(src)}, false)
	if faults.HasErrors() {
		return config{}, &reportedError{}
	}
	return cfg, nil
}

func parseConfig(path string, src []byte) (config, diag.List) {
	var cfg config
	r := strictyaml.Read(path, src)
	if root := r.Root(); root != nil {
		if f, ok := root.Fields(configFile, "strict", "lint"); ok {
			cfg.strict, _ = f["strict"].Bool("strict")
			cfg.lint = lintConfig(f["lint"])
		}
	}
	return cfg, r.Faults()
}

func lintConfig(n *strictyaml.Node) lint.Config {
	cfg := lint.Config{Levels: map[diag.Code]lint.Level{}}
	f, ok := n.Fields("lint", "rules", "max_tool_name", "max_description", "token_budget")
	if !ok {
		return cfg
	}
	codes := make([]string, len(lint.Rules))
	for i, rule := range lint.Rules {
		codes[i] = string(rule.Code)
	}
	known := map[string]bool{}
	for _, c := range codes {
		known[c] = true
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
		if v, ok := f[key].Int("lint."+key, 1, math.MaxInt32); ok {
			*to = int(v)
		}
	}
	return cfg
}
