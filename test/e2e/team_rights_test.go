package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestTeamRightsGuide writes the files of docs/team-rights.md, and runs its commands, word for word but for the address of the server.
func TestTeamRightsGuide(t *testing.T) {
	text, err := os.ReadFile("../../docs/team-rights.md")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	var p *process
	var settings string // of the shell, from earlier blocks
	var outputs []string
	for _, m := range regexp.MustCompile("(?s)```([a-z]+)( [^\n]+)?\n(.*?)```").FindAllStringSubmatch(string(text), -1) {
		if name := strings.TrimSpace(m[2]); name != "" {
			if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
				t.Fatal(err)
			}
			write(t, filepath.Join(dir, name), m[3])
			continue
		}
		commands, serve, serves := strings.Cut(m[3], "OMNIGRAPH_TOKENS_FILE=tokens.yaml omnigraph-server --bind 127.0.0.1:8080\n")
		if serve != "" {
			t.Fatalf("commands after the one that serves: %s", serve)
		}
		if p != nil {
			commands = strings.ReplaceAll(commands, "127.0.0.1:8080", p.addr)
		}
		cmd := exec.Command("sh", "-c", "set -eu\n"+settings+commands)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "PATH="+bin+string(filepath.ListSeparator)+os.Getenv("PATH"))
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s\n%s", err, commands, out)
		}
		outputs = append(outputs, string(out))
		for line := range strings.Lines(commands) {
			if strings.HasPrefix(line, "AT=") || strings.HasPrefix(line, "export ") {
				settings += line
			}
		}
		if serves {
			server := exec.Command(filepath.Join(bin, "omnigraph-server"), "--bind", "127.0.0.1:0")
			server.Dir, server.Env = dir, append(os.Environ(), "OMNIGRAPH_TOKENS_FILE=tokens.yaml")
			p = startCommand(t, server, "OMNIGRAPH_LISTEN_ADDR=")
		}
	}
	if len(outputs) != 4 {
		t.Fatalf("the guide has %d blocks of commands", len(outputs))
	}
	p.stop()
	for i, want := range [][]string{
		1: {"A leak", "A loss", "A theft"},
		2: {`"affected_nodes":1`, `"affected_nodes":0`, "r1", `"merged"`},
		3: {"act-ada", "act-bot", "act-lee"},
	} {
		for _, w := range want {
			if !strings.Contains(outputs[i], w) {
				t.Errorf("block %d lacks %s:\n%s", i, w, outputs[i])
			}
		}
	}
	if n := strings.Count(outputs[1], "A leak"); n != 1 {
		t.Errorf("the case of team red is shown %d times:\n%s", n, outputs[1])
	}
	if strings.Contains(outputs[3], "act-bo\"") {
		t.Errorf("Bo got the case:\n%s", outputs[3])
	}
}
