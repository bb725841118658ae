package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/pelletier/go-toml/v2"

	"github.com/omnigraph-go/omnigraph/cmd/omnigraph/internal/clientconfig"
	"github.com/omnigraph-go/omnigraph/internal/server/access"
	"github.com/omnigraph-go/omnigraph/internal/server/builtin"
	"github.com/omnigraph-go/omnigraph/internal/server/cluster"
	"github.com/omnigraph-go/omnigraph/internal/server/policy"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// TestClientGuide checks the commands, flags, clients, tools, configurations and policies in
// docs/mcp.md against the program.
func TestClientGuide(t *testing.T) {
	text, err := os.ReadFile("../../docs/mcp.md")
	if err != nil {
		t.Fatal(err)
	}
	guide := string(text)
	commands := 0
	for line := range strings.Lines(guide) {
		args, ok := strings.CutPrefix(strings.TrimSpace(line), "omnigraph ")
		if !ok || !strings.HasPrefix(line, "    ") {
			continue
		}
		commands++
		cmd, rest, err := newRoot().Find(strings.Fields(args))
		if err == nil {
			err = cmd.ParseFlags(rest)
		}
		if err != nil || !cmd.Runnable() || cmd.HasSubCommands() {
			t.Errorf("omnigraph %s: %v", args, err)
		}
	}
	if commands < 8 {
		t.Errorf("found %d commands", commands)
	}
	for _, name := range clientconfig.Names() {
		if !strings.Contains(guide, "--client "+name) || !strings.Contains(guide, "| "+name+" |") {
			t.Errorf("the guide does not say how to set %s up", name)
		}
	}
	var known []string
	for _, b := range builtin.Local("v0", nil) {
		known = append(known, b.Descriptor().Name)
		if !strings.Contains(guide, "`"+b.Descriptor().Name+"`") {
			t.Errorf("the guide does not name the tool %s", b.Descriptor().Name)
		}
	}
	for _, m := range regexp.MustCompile("`((?:graph|branch|commit|change|schema|type|query|code|gq)_[a-z]+)`").FindAllStringSubmatch(guide, -1) {
		if !slices.Contains(known, m[1]) {
			t.Errorf("the guide names the tool %s, which does not exist", m[1])
		}
	}
	blocks := map[string]int{}
	for _, m := range regexp.MustCompile("(?s)```([a-z]+)\n(.*?)```").FindAllStringSubmatch(guide, -1) {
		blocks[m[1]]++
		var v any
		switch m[1] {
		case "json":
			err = json.Unmarshal([]byte(m[2]), &v)
		case "toml":
			err = toml.Unmarshal([]byte(m[2]), &v)
		case "yaml":
			if strings.HasPrefix(m[2], "graphs:\n") {
				blocks["yaml"]--
				blocks["cluster"]++
				err = isCluster(t, m[2])
				break
			}
			err = isPolicy(t, m[2], blocks["yaml"])
		}
		if err != nil {
			t.Errorf("%v in\n%s", err, m[2])
		}
	}
	if blocks["json"] != 3 || blocks["toml"] != 1 || blocks["yaml"] != 3 || blocks["cluster"] != 1 {
		t.Errorf("blocks: %v", blocks)
	}
}

// isCluster checks that a cluster.yaml takes the settings of the graph code.
func isCluster(t *testing.T, text string) error {
	t.Helper()
	dir := t.TempDir()
	write(t, filepath.Join(dir, "schema.pg"), accessSchema)
	write(t, filepath.Join(dir, "people.gq"), accessQueries)
	text = strings.Replace(text, "  code:\n", "  code:\n    schema: schema.pg\n    queries: [people.gq]\n", 1)
	write(t, filepath.Join(dir, "cluster.yaml"), "version: 1\nstorage: ./data\n"+text)
	_, err := cluster.Read(filepath.Join(dir, "cluster.yaml"))
	return err
}

// isPolicy checks that the nth policy of the guide does what the guide says.
func isPolicy(t *testing.T, text string, nth int) error {
	file := filepath.Join(t.TempDir(), "policy.yaml")
	write(t, file, text)
	p, err := policy.Read(file, policy.Options{Graph: "code", Queries: []string{"callers"}})
	if err != nil {
		return err
	}
	bot := &access.Actor{ID: "act-bot", Source: "token"}
	got := []bool{
		p.Allowed(bot, tool.Grant{Action: tool.Read, Branch: tool.BranchNamed("main"), Via: tool.AdHoc}),
		p.Allowed(bot, tool.Grant{Action: tool.Change, Branch: tool.BranchNamed("main"), Via: tool.AdHoc}),
		p.Allowed(bot, tool.Grant{Action: tool.InvokeQuery, Query: "callers"}),
		p.Allowed(bot, tool.Grant{Action: tool.Read, Branch: tool.BranchNamed("main"), Via: tool.Stored, Query: "callers"}),
	}
	want := [][]bool{{true, false, false, true}, {false, false, true, true}, {false, false, false, false}}[nth-1]
	if !slices.Equal(got, want) {
		t.Errorf("the policy allows %v, want %v:\n%s", got, want, text)
	}
	return nil
}
