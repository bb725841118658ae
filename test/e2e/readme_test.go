package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// TestReadme follows the README's section about a graph of one's own in an empty folder, with nothing but the commands of a
// release.
func TestReadme(t *testing.T) {
	text, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(text), "## Serve a graph of your own\n")
	section, _, _ = strings.Cut(section, "\n## ")
	dir := t.TempDir()
	files := 0
	var commands []string
	for _, m := range regexp.MustCompile("(?ms)^```([a-z]+) ?([^\n]*)\n(.*?)^```$").FindAllStringSubmatch(section, -1) {
		if m[2] == "" {
			commands = append(commands, strings.Split(strings.TrimSpace(m[3]), "\n")...)
			continue
		}
		files++
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, m[2])), 0o755); err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(dir, m[2]), m[3])
	}
	if files != 4 || len(commands) != 3 || commands[0] != "gq dev" {
		t.Fatalf("the section has %d files and the commands %q", files, commands)
	}
	dev := exec.Command(filepath.Join(bin, "gq"), "dev", "--bind", "127.0.0.1:0")
	dev.Dir = dir
	p := startCommand(t, dev, "Serving")
	defer p.stop()
	if strings.Contains(p.stderr.String(), "level=WARN") {
		t.Errorf("the server warns:\n%s", p.stderr.String())
	}
	for i, want := range []string{`"affected_nodes":1`, `"rows":[{"name":"Ada"}]`} {
		cmd := exec.Command("bash", "-c", strings.ReplaceAll(commands[1+i], "127.0.0.1:8080", p.addr))
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), want) {
			t.Errorf("%s\nanswers %s, %v; expected %s", commands[1+i], out, err, want)
		}
	}
	var tools struct {
		Result struct {
			Tools []struct {
				Name        string
				InputSchema struct {
					Properties struct {
						Params struct {
							Properties map[string]struct{ Enum []string }
						}
					}
				}
			}
		}
	}
	if _, err := p.post("/graphs/people/mcp", "application/json", `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, &tools); err != nil {
		t.Fatal(err)
	}
	typed := false
	for _, tool := range tools.Result.Tools {
		typed = typed || tool.Name == "people_of" && len(tool.InputSchema.Properties.Params.Properties["team"].Enum) == 2
	}
	if !typed {
		t.Errorf("no tool people_of with a typed argument is in %+v", tools)
	}
	schema, err := os.ReadFile(filepath.Join(dir, "schema.pg"))
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "schema.pg"), strings.Replace(string(schema), "billing", "billing, sales", 1))
	call := strings.Replace(strings.ReplaceAll(commands[1], "127.0.0.1:8080", p.addr), `"team":"search"`, `"team":"sales"`, 1)
	call = strings.Replace(call, "Ada", "Sam", 1)
	late := time.After(time.Minute)
	for answer := ""; !strings.Contains(answer, `"affected_nodes":1`); {
		cmd := exec.Command("bash", "-c", call)
		cmd.Dir = dir
		out, _ := cmd.CombinedOutput()
		answer = string(out)
		select {
		case <-late:
			t.Fatalf("a minute after the save: %s\n%s", answer, p.output())
		case <-time.After(20 * time.Millisecond):
		}
	}
}
