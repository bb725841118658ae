package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
)

// networkProgram is a program that has loaded the network into a database. It runs the database in its own process, so that
// no driver and no network protocol add to the time.
type networkProgram struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

// startNetworkProgram starts a program and waits until it has printed the line "ready".
func startNetworkProgram(cmd *exec.Cmd) (*networkProgram, error) {
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	p := &networkProgram{cmd: cmd, in: in, out: bufio.NewReaderSize(out, 1<<20)}
	for line := ""; line != "ready\n"; { // a database may print lines of its own before
		if line, err = p.out.ReadString('\n'); err != nil {
			return nil, errors.Join(fmt.Errorf("the program ended before it had loaded the network: %w", err), p.stop())
		}
	}
	return p, nil
}

// stop ends the input of the program, and waits for its end.
func (p *networkProgram) stop() error {
	p.in.Close()
	return p.cmd.Wait()
}

// call runs a read. The program answers a line with the number of rows and possibly a rest, and then, if `keep` is not nil, the
// rows. The error is an *absentError if the database refuses the statement.
func (p *networkProgram) call(read, args string, keep *[][]any) (rows int, rest string, err error) {
	mode := "time"
	if keep != nil {
		mode = "rows"
	}
	if _, err := io.WriteString(p.in, read+"\t"+mode+args+"\n"); err != nil {
		return 0, "", err
	}
	answer, err := p.out.ReadString('\n')
	if err != nil {
		return 0, "", err
	}
	number, rest, _ := strings.Cut(strings.TrimSpace(answer), " ")
	if number == "error" {
		return 0, "", absent("%s", rest)
	}
	if rows, err = strconv.Atoi(number); err != nil {
		return 0, "", fmt.Errorf("the program answered %q to %s", answer, read)
	}
	if keep == nil {
		return rows, rest, nil
	}
	for range rows {
		row, err := p.out.ReadString('\n')
		if err != nil {
			return 0, "", err
		}
		var values []any
		for _, v := range strings.Split(strings.TrimSuffix(row, "\n"), "\t") {
			values = append(values, v)
		}
		*keep = append(*keep, values)
	}
	return rows, rest, nil
}

// tabbed returns arguments in the form in which the programs read them.
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
