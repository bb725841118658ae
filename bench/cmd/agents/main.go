// Command agents makes the recorded statements of the tasks of gq eval tasks in Neo4j and PostgreSQL, through an MCP server
// before each, and prints what they took beside the recorded calls of the tools of this project.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"text/tabwriter"

	"github.com/omnigraph-go/omnigraph/internal/pgserver"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	var r runner
	flag.StringVar(&r.gq, "gq", "bin/gq", "the command gq")
	flag.StringVar(&r.seed, "seed", "7", "the number from which the graphs are generated")
	flag.StringVar(&r.python, "python", "", "a Python with the packages of requirements.txt")
	flag.StringVar(&r.script, "script", "bench/cmd/agents/peers/compare.py", "the program that makes the statements")
	flag.StringVar(&r.neo4j, "neo4j", "", "the folder with the class Neo4j, and with its libraries in lib; without it Neo4j is left out")
	flag.Parse()
	if err := r.run(ctx, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "agents:", err)
		os.Exit(1)
	}
}

// runner has the values of the flags.
type runner struct{ gq, seed, python, script, neo4j string }

// result is what a way took over all its tasks.
type result struct {
	Passed  []string                   `json:"passed"`
	Failed  map[string]json.RawMessage `json:"failed"`
	Lacks   map[string]int             `json:"lacks"` // tasks that need what the database does not have
	Calls   int                        `json:"calls"`
	Tokens  int                        `json:"tokens"` // of the answers, at four bytes a token
	Tools   int                        `json:"tokens_of_tools"`
	Schemas int                        `json:"tokens_of_schemas"` // of the three graphs together
	Blind   []string                   `json:"passed_without_a_row"`
}

func (r *runner) run(ctx context.Context, to io.Writer) error {
	dir, err := os.MkdirTemp("", "agents-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if err := os.Chmod(dir, 0o755); err != nil { // for the user of PostgreSQL
		return err
	}
	sets := filepath.Join(dir, "sets.ndjson")
	text, err := output(exec.CommandContext(ctx, r.gq, "eval", "tasks", "--seed", r.seed, "--print"))
	if err == nil {
		err = os.WriteFile(sets, text, 0o644)
	}
	if err != nil {
		return err
	}
	t := tabwriter.NewWriter(to, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "\ttasks\tpassed\tcannot have\tcalls\ttokens of answers\tof tools\tof schemas")
	failed, common := false, map[string]bool{}
	for _, way := range []struct {
		name string
		run  func(context.Context, string, string) (*result, error)
	}{{"PostgreSQL", r.postgres}, {"Neo4j", r.neo}} {
		a, err := way.run(ctx, dir, sets)
		if absent := (*pgserver.Absent)(nil); errors.As(err, &absent) {
			fmt.Fprintf(t, "%s\tleft out: %s\n", way.name, absent.Reason)
			continue
		}
		if err != nil {
			return fmt.Errorf("%s: %w", way.name, err)
		}
		for _, name := range a.Passed {
			common[name] = true
		}
		lacks := 0
		for _, n := range a.Lacks {
			lacks += n
		}
		fmt.Fprintf(t, "%s\t%d\t%d\t%d\t%d\t%d\t%d\t%d\n", way.name, len(a.Passed)+len(a.Failed)+lacks, len(a.Passed), lacks, a.Calls, a.Tokens, a.Tools, a.Schemas)
		for name, why := range a.Failed {
			failed = true
			fmt.Fprintf(t, "%s failed: %s\n", name, why)
		}
		for _, name := range a.Blind {
			failed = true
			fmt.Fprintf(t, "%s passes without one of its rows\n", name)
		}
	}
	if err := r.ours(ctx, t, common); err != nil {
		return err
	}
	if err := t.Flush(); err != nil {
		return err
	}
	if failed {
		return errors.New("a recorded statement is not right, or is not judged")
	}
	return nil
}

// ours makes the recorded calls of this project's tools, and counts those of the tasks that the databases can have.
func (r *runner) ours(ctx context.Context, to io.Writer, common map[string]bool) error {
	text, err := output(exec.CommandContext(ctx, r.gq, "eval", "tasks", "--seed", r.seed, "--replay", "right", "--json"))
	if err != nil {
		return err
	}
	var report struct {
		Results []struct {
			Task  string `json:"task"`
			Tries []struct {
				Passed bool `json:"passed"`
				Calls  int  `json:"calls"`
				Tokens int  `json:"tokens"`
			} `json:"tries"`
		} `json:"results"`
	}
	if err := json.Unmarshal(text, &report); err != nil {
		return err
	}
	passed, calls, tokens := 0, 0, 0
	for _, t := range report.Results {
		if t.Tries[0].Passed {
			passed++
		}
		if common[t.Task] {
			calls, tokens = calls+t.Tries[0].Calls, tokens+t.Tries[0].Tokens
		}
	}
	fmt.Fprintf(to, "omnigraph\t%d\t%d\t0\t%d\t%d\t\t\n", len(report.Results), passed, calls, tokens)
	fmt.Fprintf(to, "The calls and tokens are those of the %d tasks that the databases can have.\n", len(common))
	return nil
}

// postgres starts PostgreSQL and makes the statements in SQL.
func (r *runner) postgres(ctx context.Context, dir, sets string) (*result, error) {
	at := filepath.Join(dir, "postgres")
	if err := os.Mkdir(at, 0o755); err != nil {
		return nil, err
	}
	s, err := pgserver.New(ctx, at, true)
	if err != nil {
		return nil, err
	}
	defer s.Stop(os.Interrupt)
	return r.compare(ctx, "postgres", s.URL, sets)
}

// neo starts Neo4j and makes the statements in Cypher.
func (r *runner) neo(ctx context.Context, _, sets string) (*result, error) {
	if r.neo4j == "" {
		return nil, &pgserver.Absent{Reason: "there is no mvn or no javac, or Maven does not get the packages"}
	}
	cmd := exec.CommandContext(ctx, "java", "-Xmx1g", "-cp", r.neo4j+string(os.PathListSeparator)+filepath.Join(r.neo4j, "lib", "*"), "Neo4j")
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	defer cmd.Wait()
	defer stdin.Close() // ends it
	var url string
	if _, err := fmt.Fscanln(stdout, &url); err != nil {
		return nil, fmt.Errorf("the database printed no address: %w", err)
	}
	return r.compare(ctx, "neo4j", strings.TrimSuffix(url, "/"), sets)
}

// compare runs the program that makes the statements.
func (r *runner) compare(ctx context.Context, database, url, sets string) (*result, error) {
	text, err := output(exec.CommandContext(ctx, r.python, r.script, "--database", database, "--url", url, sets))
	var a result
	if fault := json.Unmarshal(text, &a); fault != nil { // a report with failed tasks has the exit code 1
		return nil, errors.Join(err, fault)
	}
	return &a, nil
}

// output returns the standard output of a command. Its error has the standard error.
func output(cmd *exec.Cmd) ([]byte, error) {
	var says bytes.Buffer
	cmd.Stderr = &says
	text, err := cmd.Output()
	if err != nil {
		err = fmt.Errorf("%s: %w\n%s", cmd, err, says.String())
	}
	return text, err
}
