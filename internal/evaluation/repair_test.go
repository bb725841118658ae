package evaluation

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// inputSchema is the input schema of a stored query with three parameters.
const inputSchema = `{"type":"object","required":["params"],"properties":{
	"branch":{"type":"string"},
	"params":{"type":"object","required":["name"],"properties":{
		"name":{"type":"string"},
		"state":{"type":"string","enum":["open","closed"]},
		"limit":{"type":"integer","minimum":1,"maximum":10,"default":5}}}}}`

func TestRepaired(t *testing.T) {
	s, err := parseSchema(json.RawMessage(inputSchema))
	if err != nil {
		t.Fatal(err)
	}
	right := call{"find", object{"branch": "main", "params": object{"name": "ada", "limit": 5.0}}}
	for _, tt := range []struct{ name, broken, fault, want string }{
		{"nothing named", `{"naem":"ada"}`, "the arguments are wrong", ""},
		{"a key without a suggestion", `{"params":{"naem":"ada"}}`, "params.naem: unknown parameter", ""},
		{"a suggestion", `{"params":{"naem":"ada"}}`, "params.naem: unknown parameter; did you mean name?\nparams.name: missing, expected a string", `{"params":{"name":"ada"}}`},
		{"a list of keys", `{"params":{"name":"ada","verbose":1}}`, "params.verbose: unknown parameter; known are limit, name, state", `{"params":{"name":"ada"}}`},
		{"inside", `{"name":"bob"}`, "name: unknown member; put it inside \"params\"\nparams.name: missing, expected a string", `{"params":{"name":"bob"}}`},
		{"next to", `{"params":{"name":"ada","branch":"main"}}`, `params.branch: unknown parameter; put it next to "params", not inside`, `{"branch":"main","params":{"name":"ada"}}`},
		{"one level up", `{"input":{"branch":"main"}}`, "input: unknown member; put its members in its place", `{"branch":"main"}`},
		{"missing", `{"params":{}}`, "params.name: missing, expected a string", `{"params":{"name":"ada"}}`},
		{"missing, without a name", `{"params":{}}`, "a parameter is missing", ""},
		{"a type", `{"params":{"name":["ada"]}}`, "params.name: found an array, expected a string", `{"params":{"name":"ada"}}`},
		{"another type than the value has", `{"params":{"name":["ada"]}}`, "params.name: found an array, expected an integer", ""},
		{"a type that the error does not name", `{"params":{"name":["ada"]}}`, "params.name: found an array", ""},
		{"a text", `{"params":"{\"name\":\"ada\"}"}`, `params: found the string "{\"name\":\"ada\"}", expected a JSON object; send the object itself`, `{"params":{"name":"ada"}}`},
		{"an enum", `{"params":{"state":"opne"}}`, `params.state: found the string "opne", expected one of open, closed; did you mean open?`, `{"params":{"state":"open"}}`},
		{"too large", `{"params":{"limit":99}}`, "params.limit: found 99, expected 1 to 10", `{"params":{"limit":10}}`},
		{"too small", `{"params":{"limit":-3}}`, "params.limit: found -3, expected 1 to 10", `{"params":{"limit":1}}`},
		{"at least", `{"params":{"limit":-3}}`, "params.limit: found -3, expected at least 1", `{"params":{"limit":1}}`},
		{"a branch", `{"branch":"mian"}`, `branch "mian" not found; did you mean main?`, `{"branch":"main"}`},
		{"a branch without a suggestion", `{"branch":"mian"}`, `branch "mian" not found`, ""},
		{"a word of a text", `{"query":"match { $x: Prson }"}`, "query:1:13: error T3: there is no type Prson\n  help: did you mean Person?", `{"query":"match { $x: Person }"}`},
	} {
		var args any
		if err := json.Unmarshal([]byte(tt.broken), &args); err != nil {
			t.Fatal(err)
		}
		got, ok := repaired(call{"find", args}, tt.fault, s, right)
		switch {
		case !ok && tt.want != "":
			t.Errorf("%s: not repaired", tt.name)
		case ok && encoded(got.Args) != tt.want:
			t.Errorf("%s: found %s, wanted %s", tt.name, encoded(got.Args), tt.want)
		}
	}
	if got, ok := repaired(call{"fnid", right.Args}, "unknown tool: fnid; did you mean find?", s, right); !ok || got.Tool != "find" {
		t.Errorf("the tool is %s", got.Tool)
	}
}

// server is a Server with one tool. Its function answers each call with a fault or "".
type server func(tool, args string) string

func (s server) Reset(context.Context) (*State, error) { return &State{Schema: &catalog.Schema{}}, nil }

func (s server) Call(_ context.Context, tool string, args json.RawMessage) ([]byte, string, error) {
	return []byte("{}"), s(tool, string(args)), nil
}

// TestServers evaluates servers with errors that do not help.
func TestServers(t *testing.T) {
	const right = `{"branch":"main","params":{"limit":5,"name":"sample-1","state":"open"}}`
	for _, tt := range []struct {
		name     string
		server   server
		repaired int
		fault    string // of the first call that was not repaired
	}{
		{"vague errors", func(tool, args string) string {
			if tool == "find" && args == right {
				return ""
			}
			return "bad request"
		}, 0, "bad request"},
		{"no errors", func(string, string) string { return "" }, 3, "no error"}, // parameters at the top, a number outside its bounds, or an object as its text, may be what the caller means
	} {
		r, err := Evaluate(t.Context(), Input{Graph: "g", Seed: 1, Server: tt.server, Tools: []Tool{{
			Descriptor: &tool.Descriptor{Name: "find", InputSchema: json.RawMessage(inputSchema), ReadOnly: true}, Stored: true,
		}}})
		if err != nil {
			t.Fatal(err)
		}
		if len(r.Untried) > 0 || r.Repair.Broken != len(ways) || r.Repair.One != tt.repaired || len(r.Missed()) == 0 {
			t.Errorf("%s: %+v, untried %v", tt.name, r.Repair, r.Untried)
			continue
		}
		if f := r.Repair.Failed[0]; !strings.HasPrefix(f.Fault, tt.fault) || f.Calls != 0 {
			t.Errorf("%s: %+v", tt.name, f)
		}
	}
}

// TestWays breaks a call in each way with many seeds. A broken call differs from the right one, and the
// right one stays as it was.
func TestWays(t *testing.T) {
	s, err := parseSchema(json.RawMessage(inputSchema))
	if err != nil {
		t.Fatal(err)
	}
	for i := range ways {
		seen := map[string]bool{}
		for seed := range uint64(40) {
			ex := storedExample(s)
			right := call{"find", ex.Args}
			before := encoded(right)
			broken, ok := ways[i].broken(seed, right, ex, s, func(name string) bool { return name == "find" })
			if !ok {
				t.Errorf("%s does not apply", ways[i].name)
				break
			}
			if encoded(right) != before || encoded(broken) == before {
				t.Errorf("%s, seed %d: %s, and the right call is %s", ways[i].name, seed, encoded(broken), encoded(right))
			}
			if again, _ := ways[i].broken(seed, right, ex, s, func(name string) bool { return name == "find" }); encoded(again) != encoded(broken) {
				t.Errorf("%s, seed %d: %s, and then %s", ways[i].name, seed, encoded(broken), encoded(again))
			}
			seen[encoded(broken)] = true
		}
		if one := ways[i].name; len(seen) < 2 && one != "text" && one != "level" && one != "missing" {
			t.Errorf("%s breaks the call in one form only", one)
		}
	}
}
