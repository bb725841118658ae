package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/omnigraph-go/omnigraph/internal/bench/snb"
)

// openNeo4j starts the Java program of the folder neo4j, which loads the network from CSV files. A
// statement is a line to the program and its answer. The program runs Neo4j in its own process, so that
// no driver and no network protocol add to the time.
func (n *network) openNeo4j(ctx context.Context, data *snb.Network) (*networkDatabase, error) {
	if n.classes == "" {
		return nil, absent("its classes are missing; run.sh compiles them if there are mvn and javac")
	}
	csv := filepath.Join(n.dir, "csv")
	if err := data.WriteCSV(csv); err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, "java", "-Xmx4g", "-cp", n.classes+":"+filepath.Join(n.classes, "lib", "*"), "Network",
		filepath.Join(n.dir, "neo4j"), csv, filepath.Join(n.classes, "reads.cypher"))
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	pipe, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	stop := func() error {
		in.Close()
		return cmd.Wait()
	}
	out := bufio.NewReaderSize(pipe, 1<<20)
	for line := ""; line != "ready\n"; { // Neo4j prints lines of its own before
		if line, err = out.ReadString('\n'); err != nil {
			return nil, errors.Join(fmt.Errorf("the program ended before it had loaded the network: %w", err), stop())
		}
	}
	return &networkDatabase{
		prepare: func(_ context.Context, read string) (statement, error) {
			return func(_ context.Context, args []any, keep *[][]any) (int, error) {
				mode := "time"
				if keep != nil {
					mode = "rows"
				}
				return askNeo4j(in, out, read+"\t"+mode+args[0].(string)+"\n", keep)
			}, nil
		},
		convert: func(_ string, args []any) []any { return []any{tabbed(args)} },
		close:   stop,
	}, nil
}

// tabbed returns arguments in the form in which the programs for Neo4j and LadybugDB read them.
func tabbed(args []any) string {
	var line strings.Builder
	for _, a := range sqlArgs("", args) {
		if s, ok := a.(string); ok {
			line.WriteString("\ts" + s)
		} else {
			fmt.Fprintf(&line, "\tn%d", a)
		}
	}
	return line.String()
}

// askNeo4j sends a line and reads the answer: the number of rows and, if `keep` is not nil, the rows.
func askNeo4j(in io.Writer, out *bufio.Reader, line string, keep *[][]any) (int, error) {
	if _, err := io.WriteString(in, line); err != nil {
		return 0, err
	}
	answer, err := out.ReadString('\n')
	if err != nil {
		return 0, err
	}
	rows, err := strconv.Atoi(strings.TrimSuffix(answer, "\n"))
	if err != nil {
		return 0, fmt.Errorf("the program answered %q to %q", answer, line)
	}
	for range rows {
		if keep == nil {
			break
		}
		row, err := out.ReadString('\n')
		if err != nil {
			return 0, err
		}
		var values []any
		for _, v := range strings.Split(strings.TrimSuffix(row, "\n"), "\t") {
			values = append(values, v)
		}
		*keep = append(*keep, values)
	}
	return rows, nil
}
