package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/internal/golden"
	"github.com/omnigraph-go/omnigraph/internal/server/policy"
)

// shopPolicy has groups, protected branches, rules that deny, and bots that may call two queries.
const shopPolicy = `version: 1
groups: { readers: [act-ada], writers: [act-wil], bots: [act-bot] }
protected_branches: [main]
rules:
  - id: readers-read
    allow: { actors: { group: readers }, actions: [read, invoke_query] }
  - id: writers-work
    allow: { actors: { group: writers }, actions: [read, change, invoke_query] }
  - id: not-on-main-by-hand
    deny: { actors: any, actions: [change], via: adhoc, branch_scope: protected }
  - id: bots-run-two-queries
    allow: { actors: { group: bots }, actions: [invoke_query], queries: [find_user, list_orders] }
  - id: and-nothing-else
    allow: { actors: { group: bots }, actions: [read], via: stored }
`

// shopCedar is shopPolicy as a .cedar file.
const shopCedar = `@id("readers-read")
permit (
    principal == Actor::"act-ada",
    action in [Action::"read", Action::"invoke_query"],
    resource in Graph::"shop"
);

@id("writers-work")
permit (
    principal == Actor::"act-wil",
    action in [Action::"read", Action::"change", Action::"invoke_query"],
    resource in Graph::"shop"
);

@id("not-on-main-by-hand")
forbid (
    principal is Actor,
    action == Action::"change",
    resource in Graph::"shop"
)
when { context.via == "adhoc" }
when { ["main"].contains(context.branch) };

@id("bots-run-two-queries")
permit (
    principal == Actor::"act-bot",
    action == Action::"invoke_query",
    resource in Graph::"shop"
)
when { [Query::"find_user", Query::"list_orders"].contains(resource) };

@id("and-nothing-else")
permit (
    principal == Actor::"act-bot",
    action == Action::"read",
    resource in Graph::"shop"
)
when { context.via == "stored" };
`

// withIssuer returns the shop's cluster.yaml with an issuer whose groups are mapped.
func withIssuer(groups string) string {
	return "version: 1\nstorage: ./data\ngraphs:\n  shop: { schema: schema.pg, queries: [shop.gq] }\npolicies:\n" +
		"  base: { file: policy.yaml, applies_to: [shop] }\n  server: { file: server.yaml, applies_to: [cluster] }\n" +
		"server:\n  oidc: { issuer: https://login.example.com, audience: api://omnigraph, groups: { " + groups + " } }\n"
}

// inShop changes to a new folder with the graph shop under a policy. The folder has the stored
// queries find_user, list_orders and add_order, and a policy for the server.
func inShop(t *testing.T, file, text string) {
	t.Helper()
	t.Chdir(t.TempDir())
	write(t, "schema.pg", "node User { name: String @key salary: I32? }\nnode Order { slug: String @key team: String? }\n")
	write(t, "shop.gq", "query find_user($name: String) { match { $u: User { name: $name } } return { $u.name } }\n"+
		"query list_orders() { match { $o: Order } return { $o.slug } }\n"+
		"query add_order($slug: String) { insert Order { slug: $slug } }\n")
	write(t, file, text)
	write(t, "server.yaml", "version: 1\nrules:\n  - id: list\n    allow: { actors: any, actions: [graph_list] }\n")
	write(t, "cluster.yaml", "version: 1\nstorage: ./data\ngraphs:\n  shop: { schema: schema.pg, queries: [shop.gq] }\npolicies:\n"+
		"  base: { file: "+file+", applies_to: [shop] }\n  server: { file: server.yaml, applies_to: [cluster] }\n")
}

func TestPolicyVerbs(t *testing.T) {
	const cases = `version: 1
cases:
  - { actor: act-ada, action: read, expect: allow }
  - { actor: act-bot, action: invoke_query, query: find_user, expect: allow }
  - { actor: act-bot, action: read, query: find_user, expect: allow }
  - { actor: act-wil, action: change, branch: feature, expect: allow }
  - { actor: act-wil, action: change, expect: deny }
`
	for _, tt := range []struct {
		name, args string
		files      map[string]string // files in addition to the shop's
		exit       int
		stdout     []string // parts of the output; a single one must be the whole output
		stderr     []string
	}{
		{name: "validate all", args: "validate", stdout: []string{"policy.yaml: valid for shop\nserver.yaml: valid for cluster\n"}},
		{name: "validate one", args: "validate policy.yaml", stdout: []string{"policy.yaml: valid for shop\n"}},
		{name: "validate the server's", args: "validate --graph cluster", stdout: []string{"server.yaml: valid for cluster\n"}},
		{name: "validate JSON", args: "validate policy.yaml --format json", stdout: []string{`"valid": true`, `"applies_to": "shop"`}},
		{name: "validate a bad line", args: "validate", files: map[string]string{"policy.yaml": strings.Replace(shopPolicy, "list_orders", "list_order", 1)}, exit: 1,
			stdout: []string{"server.yaml: valid for cluster\n"},
			stderr: []string{"policy.yaml:12:85: error C6", `unknown query "list_order" in rule bots-run-two-queries`, "did you mean list_orders?", "^~", "policy.yaml has 1 error, in line 12"}},
		{name: "validate a bad line as JSON", args: "validate policy.yaml --format json", files: map[string]string{"policy.yaml": "version: 1\nrule: []\n"}, exit: 1,
			stdout: []string{`"valid": false`, `"code": "C2"`, `"line": 2`}, stderr: []string{"policy.yaml has 1 error, in line 2"}},
		{name: "validate by itself", args: "validate other.yaml", files: map[string]string{"other.yaml": strings.Replace(shopPolicy, "list_orders", "whatever", 1)},
			stdout: []string{"other.yaml: valid for graph\n"}, stderr: []string{"does not check the names of queries"}},
		{name: "validate no file", args: "validate none.yaml", exit: 1, stderr: []string{"none.yaml"}},
		{name: "validate no graph", args: "validate --graph none", exit: 1, stderr: []string{"no policy in cluster.yaml applies to none"}},
		{name: "format", args: "validate --format csv", exit: 2, stderr: []string{`--format is "csv"`}},
		{name: "two files", args: "validate a b", exit: 2, stderr: []string{"at most one file"}},
		{name: "unknown verb", args: "frob", exit: 2, stderr: []string{`unknown command "frob"`}},

		{name: "test", args: "test --tests cases.yaml", files: map[string]string{"cases.yaml": cases}, stdout: []string{"5 cases, 0 failed\n"}},
		{name: "test fails", args: "test --tests cases.yaml", files: map[string]string{"cases.yaml": strings.ReplaceAll(cases, "expect: deny", "expect: allow")}, exit: 1,
			stdout: []string{"cases.yaml:7:", "act-wil change: expected allow\n  denied by rule not-on-main-by-hand (policy.yaml:9:9)\n", "5 cases, 1 failed"}, stderr: []string{"1 of 5 cases failed"}},
		{name: "test fails by default", args: "test --tests cases.yaml", files: map[string]string{"cases.yaml": "version: 1\ncases:\n  - { actor: act-bot, action: read, expect: allow }\n"}, exit: 1,
			stdout: []string{"denied: no rule allows it", `rule and-nothing-else (policy.yaml:13:9) would allow it, but requires when { context.via == "stored" }`}},
		{name: "test as JSON", args: "test --tests cases.yaml --format json", files: map[string]string{"cases.yaml": strings.ReplaceAll(cases, "expect: deny", "expect: allow")}, exit: 1,
			stdout: []string{`"cases": 5`, `"line": 7`, `"id": "not-on-main-by-hand"`, `"deny": true`}},
		{name: "test with bad cases", args: "test --tests cases.yaml", files: map[string]string{"cases.yaml": "version: 1\ncases:\n  - { actor: a, action: raed, expect: yes }\n  - { actor: a, action: invoke_query, query: find_usr, expect: deny }\n  - { actor: a, action: export, via: stored, expect: deny }\n  - { who: a }\n"}, exit: 1,
			stderr: []string{"cases.yaml:3:", "did you mean read?", "expected allow or deny", "did you mean find_user?", "via applies only to read, change and branch_merge", `unknown key "who"`}},
		{name: "test without cases", args: "test", exit: 2, stderr: []string{"--tests is missing"}},

		{name: "explain", args: "explain --actor act-ada --action read", stdout: []string{"allowed by rule readers-read (policy.yaml:5:9)\n"}},
		{name: "explain a deny", args: "explain --actor act-wil --action change --branch main", stdout: []string{"denied by rule not-on-main-by-hand (policy.yaml:9:9)\n"}},
		{name: "explain default deny", args: "explain --actor act-bot --action invoke_query --query add_order --format json", stdout: []string{`"allowed": false`, `"rules": []`, `"id": "bots-run-two-queries"`, `"line": 11`, `"missing"`}},
		{name: "explain the server's", args: "explain --graph cluster --actor act-x --action graph_list", stdout: []string{"allowed by rule list (server.yaml:3:9)\n"}},
		{name: "explain unknown action", args: "explain --actor a --action raed", exit: 2, stderr: []string{"did you mean read?"}},
		{name: "explain unknown query", args: "explain --actor a --action invoke_query --query find_usr", exit: 2, stderr: []string{"did you mean find_user?"}},
		{name: "explain no query", args: "explain --actor a --action invoke_query", exit: 2, stderr: []string{"give the name of a stored query"}},
		{name: "explain no actor", args: "explain --action read", exit: 2, stderr: []string{"--actor is missing"}},

		{name: "cedar", args: "cedar", stdout: []string{shopCedar}},
		{name: "cedar of the server's", args: "cedar --graph cluster", stdout: []string{"@id(\"list\")\npermit (\n    principal is Actor,\n    action == Action::\"graph_list\",\n    resource in Server::\"cluster\"\n);\n"}},
		{name: "cedar of a bad bundle", args: "cedar", files: map[string]string{"policy.yaml": "version: 2\nrules: []\n"}, exit: 1, stderr: []string{"policy.yaml:1:10"}},

		{name: "validate with an issuer", args: "validate", files: map[string]string{"cluster.yaml": withIssuer("idp: readers")}, stdout: []string{"policy.yaml: valid for shop\nserver.yaml: valid for cluster\n"}},
		{name: "validate groups of no policy", args: "validate", files: map[string]string{"cluster.yaml": withIssuer("idp: raeders")}, exit: 1,
			stderr: []string{"cluster.yaml:9:88: error C6", `unknown group "raeders" in oidc.groups: no policy has this group`, "did you mean readers?", "cluster.yaml has 1 error, in line 9"}},
		{name: "a group of tokens in Cedar", args: "explain --actor somebody --token-groups idp --action read", files: map[string]string{
			"policy.cedar": "permit (principal in Group::\"readers\", action == Action::\"read\", resource);\n", "cluster.yaml": strings.Replace(withIssuer("idp: readers"), "policy.yaml", "policy.cedar", 1)},
			stdout: []string{"allowed by rule policy0 (policy.cedar:1:1)\n"}},
		{name: "explain a token's group", args: "explain --actor somebody --token-groups other,idp --action read", files: map[string]string{"cluster.yaml": withIssuer("idp: readers")}, stdout: []string{"allowed by rule readers-read (policy.yaml:5:9)\n"}},
		{name: "explain a token's group without a mapping", args: "explain --actor somebody --token-groups readers --action invoke_query --query add_order", stdout: []string{"denied: no rule allows it\n  rule readers-read (policy.yaml:5:9) would allow it, but requires principal in Group::\"readers\"\n  rule writers-work (policy.yaml:7:9) would allow it, but requires principal in Group::\"writers\"\n"}},

		{name: "tools", args: "tools --actor act-bot", stdout: []string{"find_user  ", "list_orders  "}, stderr: []string{"an empty graph"}},
		{name: "tools of queries with faults", args: "tools --actor act-bot", files: map[string]string{"shop.gq": "query find_user($name: String) { match { $u: Usr } return { $u.name } }\n"}, exit: 1,
			stderr: []string{"shop.gq:1:", "did you mean User?"}},
		{name: "schema", args: "schema", stdout: []string{policy.CedarSchema()}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			inShop(t, "policy.yaml", shopPolicy)
			for name, text := range tt.files {
				write(t, name, text)
			}
			code, stdout, stderr := omnigraph(t, "", append([]string{"policy"}, strings.Fields(tt.args)...)...)
			if code != tt.exit {
				t.Errorf("exit code %d, want %d", code, tt.exit)
			}
			if len(tt.stdout) == 1 && code == 0 && stdout != tt.stdout[0] {
				t.Errorf("printed\n%s\nwant\n%s", stdout, tt.stdout[0])
			}
			for _, want := range tt.stdout {
				if !strings.Contains(stdout, want) {
					t.Errorf("%q is not in what was printed:\n%s", want, stdout)
				}
			}
			for _, want := range tt.stderr {
				if !strings.Contains(stderr, want) {
					t.Errorf("%q is not in the report:\n%s", want, stderr)
				}
			}
			if len(tt.stderr) == 0 && code == 0 && stderr != "" {
				t.Errorf("reported %s", stderr)
			}
		})
	}
}

// TestPolicyDrafts asks a policy about the drafts of an actor. The owner of a draft with an id is not known.
func TestPolicyDrafts(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, "policy.yaml", "version: 1\nrules:\n  - id: drafts\n    allow: { actors: any, actions: [change], branch_scope: draft }\n")
	write(t, "cases.yaml", `version: 1
cases:
  - { actor: act-bot, action: change, branch: draft, expect: allow }
  - { actor: act-bot, action: change, branch: draft/stock, expect: allow }
  - { actor: act-bot, action: change, branch: draft/01ARZ3NDEKTSV4RRFFQ69G5FAV, expect: deny }
  - { actor: act-bot, action: change, branch: drafts, expect: deny }
  - { actor: act-bot, action: change, expect: deny }
`)
	if code, stdout, stderr := omnigraph(t, "", "policy", "test", "policy.yaml", "--tests", "cases.yaml"); code != 0 || !strings.Contains(stdout, "5 cases, 0 failed") {
		t.Errorf("%d %s%s", code, stdout, stderr)
	}
	for branch, want := range map[string]string{"draft": "allowed by rule drafts", "main": "denied"} {
		if _, stdout, stderr := omnigraph(t, "", "policy", "explain", "policy.yaml", "--actor", "act-bot", "--action", "change", "--branch", branch); !strings.Contains(stdout, want) {
			t.Errorf("on %s: %s%s", branch, stdout, stderr)
		}
	}
}

// TestPolicyTools prints the tools of the graph of this repository, from a folder without a store.
// Each actor gets its own list.
func TestPolicyTools(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.CopyFS(filepath.Join(dir, "queries"), os.DirFS(filepath.Join(root, "queries"))); err != nil {
		t.Fatal(err)
	}
	config, err := os.ReadFile(filepath.Join(root, "cluster.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	write(t, "cluster.yaml", string(config))
	list := func(actor string) string {
		code, stdout, stderr := omnigraph(t, "", "policy", "tools", "--actor", actor)
		if code != 0 || !strings.Contains(stderr, "an empty graph") {
			t.Fatalf("exit code %d: %s", code, stderr)
		}
		return stdout
	}
	for _, tt := range []struct {
		actor    string
		has, not []string
	}{
		{"act-dev", []string{"graph_mutate", "graph_query", "add_note"}, nil},
		{"act-ci", []string{"graph_load", "graph_query"}, []string{"add_note"}},
		{"act-eve", []string{"graph_health"}, []string{"graph_query", "callers"}},
	} {
		got := list(tt.actor)
		for _, want := range tt.has {
			if !strings.Contains(got, want) {
				t.Errorf("%s: no %s in\n%s", tt.actor, want, got)
			}
		}
		for _, not := range tt.not {
			if strings.Contains(got, not) {
				t.Errorf("%s: %s in\n%s", tt.actor, not, got)
			}
		}
	}
}

// TestPolicyGuide validates every example of docs/policy.md, and checks each policy with the cases
// that follow it.
func TestPolicyGuide(t *testing.T) {
	text, err := os.ReadFile("../../docs/policy.md")
	if err != nil {
		t.Fatal(err)
	}
	schema, err := os.ReadFile("../../docs/reference/policy.cedarschema")
	if err != nil || string(schema) != policy.CedarSchema() {
		t.Errorf("docs/reference/policy.cedarschema is stale: %v; run go test ./server/policy -update", err)
	}
	policies, checked := 0, 0
	for _, block := range regexp.MustCompile("(?s)```(\\w+)\n(.*?)```").FindAllStringSubmatch(string(text), -1) {
		language, body := block[1], block[2]
		switch {
		case language == "yaml" && strings.Contains(body, "rules:"):
			policies++
			inShop(t, "policy.yaml", body)
		case language == "cedar":
			policies++
			inShop(t, "policy.cedar", body)
		case language == "yaml" && strings.Contains(body, "cases:"):
			checked++
			write(t, "cases.yaml", body)
			if code, stdout, stderr := omnigraph(t, "", "policy", "test", "--tests", "cases.yaml"); code != 0 {
				t.Errorf("%s%s of\n%s", stdout, stderr, body)
			}
			continue
		case language == "yaml": // the example is a part of cluster.yaml
			inShop(t, "policy.yaml", shopPolicy)
			write(t, "server.policy.yaml", "version: 1\nrules: []\n")
			if !strings.Contains(body, "policies:") {
				body = "policies:\n  base: { file: policy.yaml, applies_to: [shop] }\n" + body
			}
			write(t, "cluster.yaml", "version: 1\nstorage: ./data\ngraphs:\n  shop: { schema: schema.pg, queries: [shop.gq] }\n"+body)
		case language == "sh":
			for _, line := range strings.Split(strings.TrimSpace(body), "\n") {
				line, _, _ = strings.Cut(line, "#")
				args := strings.Fields(line)[1:]
				cmd, rest, err := newRoot().Find(args)
				if err != nil || len(args) < 2 || cmd.Name() != args[1] || cmd.ParseFlags(rest) != nil {
					t.Errorf("%s: no such command: %v", line, err)
				}
			}
			continue
		case language == "text":
			continue // output of explain, which TestPolicyGuideExplains checks
		default:
			t.Errorf("an example in %s, which nothing checks:\n%s", language, body)
			continue
		}
		if code, stdout, stderr := omnigraph(t, "", "policy", "validate"); code != 0 {
			t.Errorf("%s%s of\n%s", stdout, stderr, body)
		}
	}
	if policies < 6 || checked != policies {
		t.Errorf("found %d policies and %d files of cases, expected at least 6 policies and one file for each", policies, checked)
	}
}

// TestPolicyGuideExplains checks the output of explain that the guide shows.
func TestPolicyGuideExplains(t *testing.T) {
	text, err := os.ReadFile("../../docs/policy.md")
	if err != nil {
		t.Fatal(err)
	}
	section := string(text)[strings.Index(string(text), "### Protected branches"):]
	part := string(text)[strings.Index(string(text), "## A part of a graph"):]
	inShop(t, "policy.yaml", regexp.MustCompile("(?s)```yaml\n(.*?)```").FindStringSubmatch(part)[1])
	if _, stdout, _ := omnigraph(t, "", "policy", "explain", "--actor", "act-ada", "--action", "read"); !strings.Contains(part, "```text\n"+stdout+"```") {
		t.Errorf("the guide does not show what explain prints about a part of a graph:\n%s", stdout)
	}
	example := regexp.MustCompile("(?s)```yaml\n(.*?)```").FindStringSubmatch(section)[1]
	inShop(t, "policy.yaml", example)
	for _, args := range []string{"--actor act-wil --action change --branch main", "--actor act-wil --action branch_merge --branch main"} {
		_, stdout, _ := omnigraph(t, "", append([]string{"policy", "explain"}, strings.Fields(args)...)...)
		if !strings.Contains(string(text), "```text\n"+stdout+"```") {
			t.Errorf("the guide does not show what explain %s prints:\n%s", args, stdout)
		}
	}
}

// TestPolicyParts checks what the verbs say about parts of a graph: faults against the schema, warnings, and cases that fail.
func TestPolicyParts(t *testing.T) {
	const rules = `version: 1
filters:
  north: { type: Order, where: '$it.team = "north"' }
rules:
  - id: some
    allow: { actors: any, actions: [read, change], rows: north }
`
	inShop(t, "policy.yaml", rules)
	code, stdout, stderr := omnigraph(t, "", "policy", "validate")
	if code != 0 || !strings.Contains(stdout, "policy.yaml: valid for shop") || !strings.Contains(stderr, "policy.yaml:3:3: warning C11: filter north reads Order.team") {
		t.Errorf("%d\n%s%s", code, stdout, stderr)
	}
	if _, stdout, _ := omnigraph(t, "", "policy", "validate", "--format", "json"); !strings.Contains(stdout, "filter north reads Order.team") || !strings.Contains(stdout, `"valid": true`) {
		t.Error(stdout)
	}
	for _, tt := range []struct{ cases, want string }{
		{"{ actor: act-ada, action: read, type: Order, expect: allow }", "cases.yaml:3:5: act-ada read Order: expected allow\n  allowed by rule some (policy.yaml:5:9)\n  Order: rows of north by rule some (policy.yaml:5)\n1 cases, 1 failed\n"},
		{"{ actor: act-ada, action: read, property: User.salary, expect: rows }", "  User: hidden, because no rule allows it\n"},
		{"{ actor: act-ada, action: read, type: Ordr, expect: rows }", "the schema has no such type or property: Ordr"},
		{"{ actor: act-ada, action: read, property: User, expect: deny }", "the schema has no such type or property: User"},
		{"{ actor: act-ada, action: branch_create, type: Order, expect: deny }", "a part is only for read, change and export"},
		{"{ actor: act-ada, action: read, expect: rows }", "expected allow or deny"},
	} {
		write(t, "cases.yaml", "version: 1\ncases:\n  - "+tt.cases+"\n")
		if code, stdout, stderr := omnigraph(t, "", "policy", "test", "--tests", "cases.yaml"); code == 0 || !strings.Contains(stdout+stderr, tt.want) {
			t.Errorf("%s\n%d\n%s%s", tt.cases, code, stdout, stderr)
		}
	}
	inShop(t, "policy.yaml", "version: 1\nrules:\n  - { id: all, allow: { actors: any, actions: [read] } }\n  - { id: pay, deny: { actors: any, actions: [read], properties: [User.salary] } }\n")
	for _, tt := range []struct {
		cases string
		fails bool
	}{
		{"{ actor: act-ada, action: read, type: User, expect: allow }", true},
		{"{ actor: act-ada, action: read, type: User, expect: properties }", false},
		{"{ actor: act-ada, action: read, type: Order, expect: properties }", true},
		{"{ actor: act-ada, action: read, type: Order, expect: allow }", false},
		{"{ actor: act-ada, action: read, property: User.salary, expect: properties }", true},
	} {
		write(t, "cases.yaml", "version: 1\ncases:\n  - "+tt.cases+"\n")
		if code, stdout, stderr := omnigraph(t, "", "policy", "test", "--tests", "cases.yaml"); (code != 0) != tt.fails {
			t.Errorf("%s\n%d\n%s%s", tt.cases, code, stdout, stderr)
		}
	}
	inShop(t, "policy.yaml", strings.Replace(rules, "$it.team", "$it.tem", 1))
	if code, _, stderr := omnigraph(t, "", "policy", "validate"); code == 0 || !strings.Contains(stderr, "policy.yaml:3:37: error C7: filter north: Order has no property tem") {
		t.Errorf("%d\n%s", code, stderr)
	}
	// The filters of a .cedar file are in cluster.yaml.
	inShop(t, "policy.cedar", `@id("some") @rows("north") permit (principal, action == Action::"read", resource in Type::"Order");`)
	if code, _, stderr := omnigraph(t, "", "policy", "validate"); code == 0 || !strings.Contains(stderr, `unknown filter "north" in policy some`) {
		t.Errorf("%d\n%s", code, stderr)
	}
	config, err := os.ReadFile("cluster.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for where, want := range map[string]string{"$it.team": "", "$it.tem": "cluster.yaml:4:95: error C7: filter north: Order has no property tem"} {
		write(t, "cluster.yaml", strings.Replace(string(config), "[shop.gq] }", "[shop.gq], filters: { north: { type: Order, where: '"+where+` = "north"' } } }`, 1))
		if code, _, stderr := omnigraph(t, "", "policy", "validate"); (code == 0) != (want == "") || !strings.Contains(stderr, want) {
			t.Errorf("%s: %d\n%s", where, code, stderr)
		}
	}
}

// TestPolicyReports checks the JSON form of the reports.
func TestPolicyReports(t *testing.T) {
	path, err := filepath.Abs("testdata/policy-explain.json")
	if err != nil {
		t.Fatal(err)
	}
	inShop(t, "policy.yaml", shopPolicy)
	_, stdout, _ := omnigraph(t, "", "policy", "explain", "--actor", "act-bot", "--action", "read", "--format", "json")
	if !json.Valid([]byte(stdout)) {
		t.Errorf("no JSON: %s", stdout)
	}
	golden.Check(t, path, []byte(stdout))
}
