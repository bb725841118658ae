package credentials

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// TestMain makes the test binary act as a command that prints a token, if the variable helperVar is
// set. The value of the variable selects the behaviour of the command.
func TestMain(m *testing.M) {
	switch os.Getenv(helperVar) {
	case "":
		os.Exit(m.Run())
	case "token":
		fmt.Fprintln(os.Stderr, "a remark")
		fmt.Println(strings.Join(append([]string{secret}, os.Args[1:]...), ""))
	case "nothing":
	case "lines":
		fmt.Println(secret + "\n" + secret)
	case "much":
		fmt.Println(strings.Repeat(secret, maxOutput))
	case "fail":
		fmt.Println(secret)
		os.Exit(7)
	case "hang":
		fmt.Println(secret)
		time.Sleep(time.Minute)
	}
}

const (
	helperVar = "TEST_CREDENTIALS_HELPER"
	secret    = "s3cret-token"
	server    = "https://graph.example.com"
)

func TestServerVar(t *testing.T) {
	for url, want := range map[string]string{
		"https://graph.example.com":       "GRAPH_EXAMPLE_COM",
		"https://graph.example.com/":      "GRAPH_EXAMPLE_COM",
		"https://Graph.Example.com:443":   "GRAPH_EXAMPLE_COM",
		"https://graph.example.com:8443":  "GRAPH_EXAMPLE_COM_8443",
		"http://graph.example.com:443":    "GRAPH_EXAMPLE_COM_443",
		"https://graph-example.com":       "GRAPH__EXAMPLE_COM",
		"https://example.com/a/graphs-1/": "EXAMPLE_COM_A_GRAPHS__1",
		"http://127.0.0.1:8080":           "127_0_0_1_8080",
		"http://[::1]:8080":               "__1_8080",
	} {
		if got := ServerVar(url); got != ServerVarPrefix+want {
			t.Errorf("%s: found %s, want %s", url, got, ServerVarPrefix+want)
		}
	}
	if got := ServerVar("no url"); got != "" {
		t.Errorf("found %s", got)
	}
}

// TestFind checks which place the token comes from if there are several.
func TestFind(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("USERPROFILE", home)
	t.Setenv(TokenVar, "")
	mine := ServerVar(server)
	t.Setenv(mine, "")
	find := func(server string) string {
		t.Helper()
		c, err := Find(server)
		if err != nil {
			t.Fatal(err)
		}
		if c == nil {
			return ""
		}
		token, err := c.Token(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return token
	}
	if got := find(server); got != "" {
		t.Errorf("nowhere: %q", got)
	}
	path := filepath.Join(home, ".omnigraph", "config.yaml")
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("servers: { \""+server+"\": { token: of-file } }\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := find(server); got != "of-file" {
		t.Errorf("in the file: %q", got)
	}
	t.Setenv(TokenVar, "of-all")
	if got := find(server); got != "of-all" {
		t.Errorf("in the file and for all servers: %q", got)
	}
	t.Setenv(mine, "of-one")
	if got := find(server); got != "of-one" {
		t.Errorf("in all places: %q", got)
	}
	if got := find("https://other.example.com"); got != "of-all" {
		t.Errorf("of another server: %q", got)
	}
}

func configOf(token string) []byte {
	return []byte("servers:\n  " + server + ":\n    token: " + token + "\n")
}

func TestCommand(t *testing.T) {
	program := strconv.Quote(os.Args[0])
	before := timeLimit
	timeLimit = 5 * time.Second
	t.Cleanup(func() { timeLimit = before })
	for _, tt := range []struct {
		helper, command string
		want, fault     string
	}{
		{"token", "[" + program + "]", secret, ""},
		{"token", "[" + program + ", -a, -a]", secret + "-a-a", ""},
		{"nothing", "[" + program + "]", "", "the command printed an empty text; it must be a token"},
		{"lines", "[" + program + "]", "", "the command printed a text that contains a blank, a line break"},
		{"much", "[" + program + "]", "", "the command printed more than 16384 bytes"},
		{"fail", "[" + program + "]", "", "the command failed with exit status 7; run it by hand to see why"},
		{"token", "[no-such-program-anywhere]", "", "the program is not in PATH; write its full path"},
		{"token", "[/no/such/program]", "", "no such file"},
	} {
		t.Run(tt.helper+" "+tt.fault, func(t *testing.T) {
			t.Setenv(helperVar, tt.helper)
			c, err := InFile("config.yaml", configOf("{ command: "+tt.command+" }"), server)
			if err != nil {
				t.Fatal(err)
			}
			var notes bytes.Buffer
			c.Stderr = &notes
			token, err := c.Token(t.Context())
			if token != tt.want || (err == nil) != (tt.fault == "") {
				t.Fatalf("found %.60q, %v", token, err)
			}
			if err != nil && (!strings.Contains(err.Error(), tt.fault) || !strings.Contains(err.Error(), "config.yaml:3:12") || strings.Contains(err.Error(), secret)) {
				t.Errorf("found %v, expected the place, %q and no token", err, tt.fault)
			}
			if err == nil && notes.String() != "a remark\n" {
				t.Errorf("standard error was %q", notes.String())
			}
		})
	}
}

// TestCommandThatHangs checks that a command that does not end is killed at the time limit, and
// earlier if the call ends.
func TestCommandThatHangs(t *testing.T) {
	t.Setenv(helperVar, "hang")
	before := timeLimit
	timeLimit = 300 * time.Millisecond
	t.Cleanup(func() { timeLimit = before })
	c, err := InFile("config.yaml", configOf("{ command: ["+strconv.Quote(os.Args[0])+"] }"), server)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Token(t.Context()); err == nil || !strings.Contains(err.Error(), "the command did not end within 300ms") || strings.Contains(err.Error(), secret) {
		t.Errorf("found %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.Token(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("found %v", err)
	}
}

func TestFaults(t *testing.T) {
	for token, want := range map[string]string{
		"{}":                                "token must have exactly one of the keys command and keyring",
		"{ command: [a], keyring: b }":      "token must have exactly one of the keys command and keyring",
		"{ comand: [a] }":                   "unknown key",
		"{ command: [] }":                   "command names no program",
		"{ command: pass }":                 "command is a string, expected a list",
		"{ command: [./pass] }":             "the program in command is a relative path",
		"{ command: [pass, 1] }":            "a word of command is a number, expected a string",
		"{ keyring: \"\" }":                 "keyring is empty",
		"[x]":                               "expected a mapping",
		"\"${TEST_CREDENTIALS_MISSING_X}\"": "the environment variable TEST_CREDENTIALS_MISSING_X is not set",
	} {
		if _, err := InFile("config.yaml", configOf(token), server); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: found %v, want %q", token, err, want)
		}
	}
	// A fault in the entry of another server is reported too.
	if _, err := InFile("config.yaml", configOf("{}"), "https://other.example.com"); err == nil {
		t.Error("no fault")
	}
}
