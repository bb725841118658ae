package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/omnigraph-go/omnigraph/internal/golden"
	"github.com/omnigraph-go/omnigraph/internal/manual"
)

// TestReferenceIsFresh compares the committed page with the generated one.
func TestReferenceIsFresh(t *testing.T) {
	golden.Check(t, "../../docs/reference/commands.md", commandsPage(newRoot()))
}

// TestFlagsAreExplained checks that every verb and every flag has help, and that verbs have
// examples.
func TestFlagsAreExplained(t *testing.T) {
	for cmd := range manual.Verbs(newRoot()) {
		if cmd.Short == "" || cmd.Example == "" {
			t.Errorf("%s has no short help or no example", cmd.CommandPath())
		}
		if strings.Contains(cmd.NonInheritedFlags().FlagUsages(), "   \n") {
			t.Errorf("%s has a flag without help", cmd.CommandPath())
		}
	}
}

// costly lists the examples that the test does not run, with the reason.
var costly = map[string]string{
	"omnigraph index go --deps ./... --out all.ndjson":                       "type-checks the standard library, which takes gigabytes",
	"omnigraph index go --watch --server http://127.0.0.1:8080 --graph code": "runs until it is interrupted: TestWatch",

	"omnigraph login --server https://graph.example.com --client-id omnigraph-cli":      "needs an issuer and a person: TestLogin",
	"omnigraph watch redeliver --server http://127.0.0.1:8080 --graph code $WATCH":      "needs a webhook: TestWebhook",
	"omnigraph watch dismiss --server http://127.0.0.1:8080 --graph code $WATCH":        "needs a webhook: TestWebhookGivesUp",
	"omnigraph watch webhooks --server http://127.0.0.1:8080 --graph code --end $WATCH": "needs a webhook: TestWebhooksOfAll",

	"omnigraph login": "needs an issuer and a person: TestLogin",
	"omnigraph logout --server https://graph.example.com": "needs a login: TestLogin",
	"omnigraph logout": "needs a login: TestLogin",

	"omnigraph init --schema schema.pg --store 's3://team-graphs/prod' --graph people":                                          "needs an S3 bucket",
	"omnigraph copy data/people 's3://team-graphs/prod?region=eu-central-1' --graph people":                                     "needs an S3 bucket",
	"omnigraph copy 's3://team-graphs/prod?region=eu-central-1' data/people --graph people":                                     "needs an S3 bucket",
	"omnigraph restore --at 2026-11-23T09:30:00Z 's3://team-graphs/prod?region=eu-central-1' data/people-before --graph people": "needs an S3 bucket",
	"omnigraph cluster move people og-2": "needs shared storage and a server",

	"omnigraph import infer postgres://reader@db.example.com/shop --table public.orders --table public.customers":        "needs a PostgreSQL database",
	"omnigraph audit list --server http://127.0.0.1:8080 --graph people --entity c-17 --from 2026-06-01 --to 2026-07-01": "needs a server with an audit trail: TestAuditGuide of test/e2e",
	"omnigraph audit list --trail data --actor act-ada --decision denied":                                                "needs an audit trail: TestAuditGuide of test/e2e",
	"omnigraph audit verify data":                                 "needs an audit trail: TestAuditGuide of test/e2e",
	"omnigraph import follow --store data/shop --map import.yaml": "needs a PostgreSQL database",
	"omnigraph import follow --server http://127.0.0.1:8080 --graph shop --map import.yaml postgres://follower@db/shop --rejects rejects.ndjson": "needs a PostgreSQL database",

	"omnigraph proposal query --server http://127.0.0.1:8080 --graph shop --query cheap.gq --why 'I need it every day.'":                                                            "needs a server with an applied revision: TestProposalQuery",
	"omnigraph proposal query --server http://127.0.0.1:8080 --graph shop --query cheap.gq cheap_items --why 'I need it every day.' --description 'The items at or below a price.'": "needs a server with an applied revision: TestProposalQuery",

	"omnigraph review-key --server http://127.0.0.1:8080 --graph code":          "needs a server with an actor who may review: TestReviewKey",
	"omnigraph review-key --server http://127.0.0.1:8080 --graph code --revoke": "needs a server with an actor who has a key: TestReviewKey",

	"omnigraph watch read --server http://127.0.0.1:8080 --graph code $WATCH --cursor $CURSOR --follow": "goes on until it is stopped",
}

// TestExamples runs every example of the help texts in a shell. The folder contains the files in
// the examples.
func TestExamples(t *testing.T) {
	work := t.TempDir()
	prepare(t, work)
	script := filepath.Join(t.TempDir(), "examples.txtar")
	var lines, files strings.Builder
	n := 0
	for cmd := range manual.Verbs(newRoot()) {
		for _, example := range manual.Examples(cmd) {
			if costly[example] != "" {
				continue
			}
			n++
			fmt.Fprintf(&lines, "exec sh fresh.sh\ncd here\n")
			if strings.Contains(example, "$HEAD") {
				fmt.Fprintf(&lines, "head\n")
			}
			if strings.Contains(example, "$PROPOSAL") {
				fmt.Fprintf(&lines, "proposal %t\n", strings.Contains(example, "proposal resolve"))
			}
			if strings.Contains(example, "$WATCH") {
				fmt.Fprintf(&lines, "watch\n")
			}
			if strings.Contains(example, "http://127.0.0.1:8080") {
				fmt.Fprintf(&lines, "serving example%d.sh\n", n)
			} else {
				fmt.Fprintf(&lines, "exec sh ../example%d.sh\n", n)
			}
			fmt.Fprintf(&lines, "cd ..\n")
			fmt.Fprintf(&files, "-- example%d.sh --\nset -e\n%s\n", n, example)
		}
	}
	if n < 30 {
		t.Fatalf("found %d examples", n)
	}
	files.WriteString("-- fresh.sh --\nrm -rf here other\nmkdir here other\ncp -R \"$TEMPLATE/.\" here\ncp here/go.mod here/*.go other\n" +
		"mkdir -p \"$HOME/.omnigraph\"\necho 'contexts: { work: { store: data/people } }' >\"$HOME/.omnigraph/contexts.yaml\"\n")
	write(t, script, "env HOME=$WORK/home\n"+lines.String()+files.String())
	cmds := scriptCommands(t, "examples")
	cmds["head"] = func(ts *testscript.TestScript, _ bool, _ []string) {
		ts.Check(ts.Exec("omnigraph", "commit", "list", "--store", "data/people", "--limit", "1", "--format", "csv"))
		id, _, _ := strings.Cut(strings.Split(ts.ReadFile("stdout"), "\n")[1], ",")
		ts.Setenv("HEAD", id)
	}
	// proposal opens a proposal. If its argument is true, the branch of the proposal conflicts with
	// main.
	cmds["proposal"] = func(ts *testscript.TestScript, _ bool, args []string) {
		if args[0] == "true" {
			for branch, age := range map[string]string{"main": "38", "feature": "39"} {
				ts.Check(ts.Exec("sh", "-c", fmt.Sprintf(`echo 'query grow() { update Person set { age: %s } where name = "ada" }' |
					omnigraph mutate --store data/people --branch %s --query -`, age, branch)))
			}
		}
		ts.Check(ts.Exec("omnigraph", "proposal", "submit", "--store", "data/people", "feature", "--title", "a title", "--json"))
		var opened struct{ ID string }
		ts.Check(json.Unmarshal([]byte(ts.ReadFile("stdout")), &opened))
		ts.Setenv("PROPOSAL", opened.ID)
	}
	cmds["watch"] = func(ts *testscript.TestScript, _ bool, _ []string) {
		ts.Check(ts.Exec("omnigraph", "watch", "create", "--store", "data/code", "heaviest_packages", "--format", "csv"))
		id, _, _ := strings.Cut(strings.Split(ts.ReadFile("stdout"), "\n")[1], ",")
		ts.Setenv("WATCH", id)
	}
	// serving runs an example while its graph is served.
	cmds["serving"] = func(ts *testscript.TestScript, _ bool, args []string) {
		path := filepath.Join(ts.MkAbs(".."), args[0])
		text, err := os.ReadFile(path)
		ts.Check(err)
		store := "data/people"
		for _, graph := range []string{"code", "files"} {
			if strings.Contains(string(text), "--graph "+graph) {
				store = "data/" + graph
			}
		}
		url, stop := serve(t, ts.MkAbs(store), "")
		defer stop()
		changed := strings.NewReplacer("http://127.0.0.1:8080", url, "OMNIGRAPH_TOKEN=…", "OMNIGRAPH_TOKEN=t-ada").Replace(string(text))
		ts.Check(os.WriteFile(path, []byte(changed), 0o600))
		ts.Check(ts.Exec("sh", path))
	}
	testscript.Run(t, testscript.Params{Files: []string{script}, Cmds: cmds, Setup: func(env *testscript.Env) error {
		for name, v := range map[string]string{"TEMPLATE": work, tokenVar: "t-ada", "GOWORK": "off", "GOFLAGS": "-mod=mod", "GOPROXY": "off",
			"GOCACHE": os.Getenv("GOCACHE")} {
			env.Setenv(name, v)
		}
		if os.Getenv("GOCACHE") == "" {
			cache, err := os.UserCacheDir()
			if err != nil {
				return err
			}
			env.Setenv("GOCACHE", filepath.Join(cache, "go-build"))
		}
		return setup(env)
	}})
}

// prepare fills a folder with everything that the examples name: a Go module, a cluster.yaml,
// schemas, queries, data, and the graphs people, copy, files, code and other. The graph people has a
// second branch, and the graph files has a Blob.
func prepare(t *testing.T, dir string) {
	t.Helper()
	code, err := filepath.Abs("../../queries/code/schema.pg")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(filepath.Join(dir, "queries"), os.DirFS("../../queries")); err != nil {
		t.Fatal(err)
	}
	index, err := os.ReadFile("../../internal/source/scip/testdata/shop-ts.scip")
	if err != nil {
		t.Fatal(err)
	}
	config, err := os.ReadFile("../../cluster.yaml")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	write(t, "cluster.yaml", string(config))
	defer t.Chdir(filepath.Join(filepath.Dir(code), "../../cmd/omnigraph"))
	write(t, "go.mod", "module example.com/m\n\ngo 1.26\n")
	write(t, "m.go", "package m\n\nfunc F() { g() }\n\nfunc g() {}\n")
	write(t, "policy.cases.yaml", "version: 1\ncases:\n  - { actor: act-ada, action: read, expect: allow }\n")
	write(t, "index.scip", string(index))
	write(t, "schema.pg", schema)
	write(t, "next.pg", strings.Replace(schema, "age: I32?", "bio: String?", 1))
	write(t, "seed.jsonl", seed)
	write(t, "crm.jsonl", `{"type":"Person","data":{"name":"ada"}}`+"\n")
	for _, name := range []string{"people.csv", "june.csv"} {
		write(t, name, "name,age\nada,36\n")
	}
	write(t, "import.yaml", "sources: { people.csv: { node: Person, set: { name: name, age: age } } }\n")
	write(t, "files.pg", "node File { name: String @key\n  content: Blob? }\n")
	write(t, "files.jsonl", `{"type":"File","data":{"name":"report","content":"aGVsbG8K"}}`+"\n")
	write(t, "people.gq", "query add($name: String) { insert Person { name: $name } }\nquery all() { match { $p: Person } return { $p.name } }\n")
	write(t, "top.gq", "query top($least: I32) { match { $p: Package $p.lines >= $least } return { $p.path } order { $p.path } limit 5 }\n")
	for _, args := range []string{
		"init --schema schema.pg --store data/people", "load --store data/people --data seed.jsonl", "branch create --store data/people feature",
		"mutate --store data/people --branch feature --query people.gq add --params {\"name\":\"zoe\"}",
		"init --schema schema.pg --store data/copy", "export --store data/people --format parquet --out exported",
		"init --schema files.pg --store data/files", "load --store data/files --data files.jsonl",
		"init --schema " + code + " --store data/code", "init --schema " + code + " --store data/other",
	} {
		if code, _, stderr := omnigraph(t, "", strings.Fields(args)...); code != 0 {
			t.Fatalf("%s: %d %s", args, code, stderr)
		}
	}
}
