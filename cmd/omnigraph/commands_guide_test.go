package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestCommandsGuide runs the commands of docs/commands.md in order, and checks its configuration
// against the parser.
func TestCommandsGuide(t *testing.T) {
	text, err := os.ReadFile("../../docs/commands.md")
	if err != nil {
		t.Fatal(err)
	}
	guide := string(text)
	work := t.TempDir()
	prepare(t, work)
	var script, files strings.Builder
	script.WriteString("servers\n")
	n := 0
	for line := range strings.Lines(guide) {
		command, ok := strings.CutPrefix(line, "    ")
		if !ok || strings.HasPrefix(command, "export OMNIGRAPH_TOKEN") {
			continue
		}
		n++
		if strings.Contains(command, "$HEAD") {
			script.WriteString("head\n")
		}
		fmt.Fprintf(&script, "atserver command%d.sh\nexec sh command%d.sh\n", n, n)
		fmt.Fprintf(&files, "-- command%d.sh --\nset -e\ncd $TEMPLATE\n%s\n", n, command)
	}
	if n < 20 {
		t.Fatalf("found %d commands", n)
	}
	file := filepath.Join(t.TempDir(), "guide.txtar")
	write(t, file, script.String()+files.String())
	urls := map[string]string{}
	cmds := scriptCommands(t, "guide")
	cmds["servers"] = func(ts *testscript.TestScript, _ bool, _ []string) {
		for _, graph := range []string{"people", "files"} {
			url, stop := serve(t, filepath.Join(work, "data", graph), "")
			ts.Defer(stop)
			urls[graph] = url
		}
	}
	cmds["head"] = func(ts *testscript.TestScript, _ bool, _ []string) {
		ts.Check(ts.Exec("omnigraph", "commit", "list", "--server", urls["people"], "--graph", "people", "--limit", "1", "--format", "csv"))
		id, _, _ := strings.Cut(strings.Split(ts.ReadFile("stdout"), "\n")[1], ",")
		ts.Setenv("HEAD", id)
	}
	// atserver replaces the guide's address by the address of the graph.
	cmds["atserver"] = func(ts *testscript.TestScript, _ bool, args []string) {
		path := ts.MkAbs(args[0])
		text, err := os.ReadFile(path)
		ts.Check(err)
		url := urls["people"]
		if strings.Contains(string(text), "--graph files") {
			url = urls["files"]
		}
		ts.Check(os.WriteFile(path, []byte(strings.ReplaceAll(string(text), "http://127.0.0.1:8080", url)), 0o600))
	}
	testscript.Run(t, testscript.Params{Files: []string{file}, Cmds: cmds, Setup: func(env *testscript.Env) error {
		env.Setenv("TEMPLATE", work)
		env.Setenv(tokenVar, "t-ada")
		return setup(env)
	}})

	yaml := regexp.MustCompile("(?s)```yaml\n(.*?)```").FindStringSubmatch(guide)
	if yaml == nil {
		t.Fatal("found no configuration")
	}
	t.Setenv("GRAPH_TOKEN", "abc")
	for server, want := range map[string]string{"https://graph.example.com": "abc", "http://127.0.0.1:8080": "0123456789abcdef"} {
		if got, err := tokenIn(t, []byte(yaml[1]), server); err != nil || got != want {
			t.Errorf("the token of %s is %q, %v", server, got, err)
		}
	}
}
