package main

import (
	"encoding/csv"
	"encoding/json"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/omnigraph-go/omnigraph/internal/golden"
	"github.com/omnigraph-go/omnigraph/internal/manual"
	"github.com/omnigraph-go/omnigraph/internal/slow"
)

// elsewhere lists the verbs that work on no graph, or only on a store, with the reason.
var elsewhere = map[string]string{
	"init":          "makes a store; the graphs of a server are those of its cluster.yaml",
	"index":         "reads source code",
	"import infer":  "reads files",
	"import follow": "needs a database; test/follow",
	"mcp":           "serves a graph to a client",
	"audit":         "is about what a server recorded; test/e2e and docs/audit.md",
	"policy":        "is about files",
	"cluster":       "is about the folder of a server",
	"copy":          "copies from storage to storage",
	"restore":       "copies from storage to storage",
	"context":       "is about the user's graphs",
	"login":         "is about the user's tokens; TestLogin",
	"logout":        "is about the user's tokens; TestLogin",
	"review-key":    "is in the memory of a server; TestReviewKey",
	"version":       "is about this program",
	"docs":          "is about this program",
}

// world is the environment for the scripts of testdata/both: stores or servers.
type world struct {
	name string
	// start returns the flags that select the graph of a store. In the world of servers it first
	// starts a server for the store.
	start func(ts *testscript.TestScript, store, graph string) []string
	seen  map[string]string   // outputs by the name of their golden file
	ran   map[string][]string // scripts that ran a verb, by verb
}

// TestStoreAndServer runs the same scripts against stores and against servers, and compares all
// output with the same golden files. In addition to the commands of [TestScripts] the scripts have
//
//	start STORE GRAPH   use a store, or serve it and use the server
//	og N VERB …         run the verb on the graph, as act-ada; it ends with the exit code N
//	same NAME           compare the standard output of store and server, without a golden file
//	headof BRANCH VAR   set VAR to the commit at the head of the branch
//	timeof BRANCH VAR   set VAR to the time of that commit
//	draft NAME VAR      set VAR to the branch of the open draft with the name, which may be empty
//	proposal VAR        set VAR to the id of the newest proposal
//	watch VAR           set VAR to the id of the oldest watch
//	cursor WATCH VAR    set VAR to the cursor of the watch now
func TestStoreAndServer(t *testing.T) {
	slow.Test(t)
	files, err := filepath.Glob("testdata/both/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal("no scripts", err)
	}
	worlds := []*world{
		{name: "store", start: func(_ *testscript.TestScript, store, graph string) []string {
			if graph == "people" { // this graph has no stored queries
				return []string{"--store", store, "--as", "act-ada"}
			}
			return []string{"--store", store, "--graph", graph, "--as", "act-ada"}
		}},
		{name: "server", start: func(ts *testscript.TestScript, store, graph string) []string {
			url, stop := serve(t, ts.MkAbs(store), "")
			ts.Defer(stop)
			ts.Setenv(tokenVar, "t-ada")
			return []string{"--server", url, "--graph", graph}
		}},
	}
	for _, w := range worlds {
		w.seen, w.ran = map[string]string{}, map[string][]string{}
		for _, file := range files {
			name := strings.TrimSuffix(filepath.Base(file), ".txtar")
			t.Run(w.name+"/"+name, func(t *testing.T) {
				testscript.Run(t, testscript.Params{Files: []string{file}, RequireExplicitExec: true, Setup: setup, Cmds: w.commands(t, name)})
			})
		}
	}
	store, server := worlds[0], worlds[1]
	for name, want := range store.seen {
		got, there := server.seen[name]
		switch {
		case !there:
			t.Errorf("%s was printed for a store, but not for a server", name)
		case got != want:
			t.Errorf("%s for a store:\n%s\nfor a server:\n%s", name, want, got)
		}
	}
	for cmd := range manual.Verbs(newRoot()) {
		path := strings.Fields(cmd.CommandPath())[1:]
		for _, w := range worlds {
			_, exempt := elsewhere[path[0]]
			if _, alone := elsewhere[strings.Join(path, " ")]; alone {
				exempt = true
			}
			if _, ran := w.ran[strings.Join(path, " ")]; ran == exempt {
				t.Errorf("%s: run on a %s %t, exempt %t", cmd.CommandPath(), w.name, ran, exempt)
			}
		}
	}
}

func (w *world) commands(t *testing.T, script string) map[string]scriptCommand {
	cmds := scriptCommands(t, script)
	var target []string
	og := func(ts *testscript.TestScript, exit string, args []string) {
		verb, _, err := newRoot().Find(args)
		ts.Check(err)
		path := strings.Join(strings.Fields(verb.CommandPath())[1:], " ")
		w.ran[path] = append(w.ran[path], script)
		cmds["code"](ts, false, slices.Concat([]string{exit, "omnigraph"}, args, target))
	}
	cmds["start"] = func(ts *testscript.TestScript, _ bool, args []string) {
		target = w.start(ts, args[0], args[1])
	}
	cmds["og"] = func(ts *testscript.TestScript, _ bool, args []string) { og(ts, args[0], args[1:]) }
	cmds["headof"] = func(ts *testscript.TestScript, _ bool, args []string) {
		og(ts, "0", []string{"commit", "list", "--branch", args[0], "--limit", "1", "--format", "csv"})
		id, _, _ := strings.Cut(strings.Split(ts.ReadFile("stdout"), "\n")[1], ",")
		ts.Setenv(args[1], id)
	}
	cmds["timeof"] = func(ts *testscript.TestScript, _ bool, args []string) {
		og(ts, "0", []string{"commit", "list", "--branch", args[0], "--limit", "1", "--format", "csv"})
		rows, err := csv.NewReader(strings.NewReader(ts.ReadFile("stdout"))).ReadAll()
		ts.Check(err)
		micros, err := strconv.ParseInt(rows[1][slices.Index(rows[0], "created_at")], 10, 64)
		ts.Check(err)
		ts.Setenv(args[1], time.UnixMicro(micros).UTC().Format(time.RFC3339Nano))
	}
	cmds["draft"] = func(ts *testscript.TestScript, _ bool, args []string) {
		og(ts, "0", []string{"branch", "list", "--format", "csv"})
		rows, err := csv.NewReader(strings.NewReader(ts.ReadFile("stdout"))).ReadAll()
		ts.Check(err)
		owner, name := slices.Index(rows[0], "owner"), slices.Index(rows[0], "draft_name")
		for _, row := range rows[1:] {
			if row[owner] != "" && row[name] == args[0] {
				ts.Setenv(args[1], row[0])
				return
			}
		}
		ts.Fatalf("no draft has the name %q", args[0])
	}
	cmds["proposal"] = func(ts *testscript.TestScript, _ bool, args []string) {
		og(ts, "0", []string{"proposal", "list", "--format", "csv"})
		id, _, _ := strings.Cut(strings.Split(ts.ReadFile("stdout"), "\n")[1], ",")
		ts.Setenv(args[0], id)
	}
	cmds["watch"] = func(ts *testscript.TestScript, _ bool, args []string) {
		og(ts, "0", []string{"watch", "list", "--format", "csv"})
		id, _, _ := strings.Cut(strings.Split(ts.ReadFile("stdout"), "\n")[1], ",")
		ts.Setenv(args[0], id)
	}
	cmds["cursor"] = func(ts *testscript.TestScript, _ bool, args []string) {
		og(ts, "0", []string{"watch", "read", args[0], "--format", "json"})
		var event struct{ Cursor string }
		ts.Check(json.Unmarshal([]byte(ts.ReadFile("stdout")), &event))
		ts.Setenv(args[1], event.Cursor)
	}
	cmds["same"] = func(ts *testscript.TestScript, _ bool, args []string) {
		w.seen[script+"/"+args[0]] = ts.Value("steady").(*steady).replace(ts.ReadFile("stdout"))
	}
	cmds["golden"] = func(ts *testscript.TestScript, _ bool, args []string) {
		from := "stdout"
		if args[0] == "-stderr" {
			from, args = "stderr", args[1:]
		}
		text := ts.Value("steady").(*steady).replace(ts.ReadFile(from))
		w.seen[script+"/"+args[0]] = text
		golden.Check(t, filepath.Join("testdata", "golden", "both", script, args[0]), []byte(text))
	}
	return cmds
}
