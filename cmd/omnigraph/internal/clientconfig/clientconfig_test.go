package clientconfig

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/internal/golden"
)

var (
	local  = Server{Name: "graph", Command: []string{"/opt/omnigraph", "mcp", "serve", "--store", `/data/a "b"`}}
	remote = Server{Name: "graph", Command: []string{"/opt/omnigraph", "mcp", "serve", "--server", "http://h", "--graph", "code"}, Env: []string{"OMNIGRAPH_TOKEN"}}
)

// TestPrinted checks the text of a new file, and that adding the server again changes nothing.
func TestPrinted(t *testing.T) {
	var b strings.Builder
	for _, name := range Names() {
		c, _ := Lookup(name)
		for _, s := range []Server{local, remote} {
			text, err := c.Merge(nil, s)
			if err != nil {
				t.Fatal(err)
			}
			again, err := c.Merge(text, s)
			if err != nil || string(again) != string(text) {
				t.Errorf("%s: again, %v:\n%s", name, err, again)
			}
			b.WriteString("== " + name + "\n" + string(text))
		}
	}
	golden.Check(t, "testdata/printed.txt", []byte(b.String()))
}

// TestMerged checks that the rest of a file stays unchanged, including comments and layout.
func TestMerged(t *testing.T) {
	for _, tt := range []struct{ name, client, text, want string }{
		{"comments", "vscode", "{\n\t// Ours.\n\t\"inputs\": [ ], /* none */\n\t\"servers\": {\n\t\t\"other\": {\"command\": \"x\"}, // keep\n\t},\n}\n",
			"{\n\t// Ours.\n\t\"inputs\": [ ], /* none */\n\t\"servers\": {\n\t\t\"other\": {\"command\": \"x\"}, // keep\n\t\t\"graph\": {\n\t\t\t\"type\": \"stdio\","},
		{"replaced", "cursor", `{"mcpServers":{"graph":{"command":"old"},"z":{"command":"y"}},"a":1e400}`,
			"{\"mcpServers\":{\"graph\":{\n      \"command\": \"/opt/omnigraph\","},
		{"after", "cursor", `{"mcpServers":{"graph":{"command":"old"},"z":{"command":"y"}},"a":1e400}`, `},"z":{"command":"y"}},"a":1e400}`},
		{"no container", "claude-code", "{\n    \"a\": 1 // one\n}\n", "{\n    \"a\": 1, // one\n    \"mcpServers\": {\n        \"graph\": {\n            \"command\""},
		{"toml", "codex", "# mine\nmodel = \"o\"\n\n[mcp_servers.other]\ncommand = \"x\" # keep\n", "# mine\nmodel = \"o\"\n\n[mcp_servers.other]\ncommand = \"x\" # keep\n\n[mcp_servers.graph]\n"},
		{"toml replaced", "codex", "[mcp_servers.graph] # old\ncommand = \"x\"\n[mcp_servers.graph.env]\nA = \"1\"\n[tail]\nb = 1\n", "[tail]\nb = 1\n\n[mcp_servers.graph]\n"},
	} {
		c, _ := Lookup(tt.client)
		got, err := c.Merge([]byte(tt.text), local)
		if err != nil || !strings.Contains(string(got), tt.want) {
			t.Errorf("%s: %v\n%s\nwanted in it\n%s", tt.name, err, got, tt.want)
		}
		if again, err := c.Merge(got, local); err != nil || string(again) != string(got) {
			t.Errorf("%s: again, %v\n%s", tt.name, err, again)
		}
	}
}

func TestFaults(t *testing.T) {
	for _, tt := range []struct{ client, text, want string }{
		{"vscode", "{", "the file is not JSON"},
		{"vscode", "[]", "does not contain a JSON object"},
		{"vscode", `{"servers":[]}`, "the member servers of the file is not an object"},
		{"codex", "a = ", "the file is not TOML"},
		{"codex", "mcp_servers = { graph = { command = \"x\" } }\n", "not written as a separate table"},
		{"codex", "a = \"\"\"\n[mcp_servers.graph]\nx\n\"\"\"\n", "edit the file by hand"},
	} {
		c, _ := Lookup(tt.client)
		file := filepath.Join(t.TempDir(), "config")
		if err := os.WriteFile(file, []byte(tt.text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := c.Install(file, local)
		if err == nil || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), "nothing was written") {
			t.Errorf("%s %q: %v", tt.client, tt.text, err)
		}
		if b, _ := os.ReadFile(file); string(b) != tt.text {
			t.Errorf("%q became %q", tt.text, b)
		}
	}
}

func TestInstall(t *testing.T) {
	c, _ := Lookup("cursor")
	file := filepath.Join(t.TempDir(), "deep", "mcp.json")
	if changed, err := c.Install(file, local); !changed || err != nil {
		t.Fatal(changed, err)
	}
	first, _ := os.ReadFile(file)
	if _, err := os.Stat(file + ".bak"); err == nil {
		t.Error("a new file has a backup")
	}
	if changed, err := c.Install(file, local); changed || err != nil {
		t.Error(changed, err)
	}
	if err := os.Chmod(file, 0o640); err != nil {
		t.Fatal(err)
	}
	if changed, err := c.Install(file, remote); !changed || err != nil {
		t.Fatal(changed, err)
	}
	backup, _ := os.ReadFile(file + ".bak")
	info, _ := os.Stat(file)
	if string(backup) != string(first) || info.Mode().Perm() != 0o640 {
		t.Errorf("backup %q, mode %v", backup, info.Mode())
	}
	entries, _ := os.ReadDir(filepath.Dir(file))
	if len(entries) != 2 {
		t.Errorf("left behind: %v", entries)
	}
}

func FuzzMergeJSON(f *testing.F) {
	f.Add(`{"servers":{"graph":{}, "b":1,},} // c`)
	f.Add("{\n  \"a\": [1, 2] /* x */\n}")
	f.Fuzz(func(t *testing.T, text string) {
		c, _ := Lookup("vscode")
		got, err := c.Merge([]byte(text), remote)
		if err != nil {
			return
		}
		if again, err := c.Merge(got, remote); err != nil || string(again) != string(got) {
			t.Fatalf("%q: %q, again %q, %v", text, got, again, err)
		}
	})
}

func FuzzMergeTOML(f *testing.F) {
	f.Add("[mcp_servers.graph]\na=1\n[x]\n")
	f.Fuzz(func(t *testing.T, text string) {
		c, _ := Lookup("codex")
		got, err := c.Merge([]byte(text), remote)
		if err != nil {
			return
		}
		if again, err := c.Merge(got, remote); err != nil || string(again) != string(got) {
			t.Fatalf("%q: %q, again %q, %v", text, got, again, err)
		}
	})
}
