package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"time"
)

// Each database runs in a process of its own, which reads requests from its standard input and
// writes one reply to each, as lines of JSON. Before the first request it writes a greeting. The
// process times its searches itself, so that the pipe costs nothing. A database is loaded by one
// process and searched by another.

// request is one request to a database.
type request struct {
	Do       string `json:"do"`       // load, index or search
	Filtered bool   `json:"filtered"` // search only the rows of filterPart
	Effort   int    `json:"effort"`   // position in the Efforts of the greeting
	Warm     int    `json:"warm"`     // number of searches before the timed ones
}

// filterPart is the part that filtered searches name.
const filterPart = 7

// reply is the answer to a request.
type reply struct {
	Error   string    `json:"error"`   // empty if the request succeeded
	Answers [][]int   `json:"answers"` // by search: the rows found, the closest first
	Micros  []float64 `json:"micros"`  // by search: the time, in microseconds
}

// greeting describes a database.
type greeting struct {
	Absent    string   `json:"absent"`    // why the database cannot run here; empty if it can
	Version   string   `json:"version"`   // name and version
	Processes []int    `json:"processes"` // the processes whose memory and processor time count
	Tree      bool     `json:"tree"`      // the processes that those start count too
	Efforts   []string `json:"efforts"`   // settings of a search, from the least effort to the most
	Linear    bool     `json:"linear"`    // every search compares all vectors, so a few warm it up
}

// process is the running process of a database.
type process struct {
	greeting
	name string
	cmd  *exec.Cmd
	in   io.WriteCloser
	out  *bufio.Reader
}

// start starts a process and reads its greeting.
func start(ctx context.Context, name string, command []string) (*process, error) {
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = stopLimit
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
	p := &process{name: name, cmd: cmd, in: in, out: bufio.NewReaderSize(out, 1<<20)}
	if err := p.read(&p.greeting); err != nil {
		return nil, errors.Join(err, p.stop())
	}
	return p, nil
}

// stopLimit is the time that an interrupted process has to end.
const stopLimit = 30 * time.Second

// ask sends a request and waits for the reply.
func (p *process) ask(r request) (*reply, error) {
	line, err := json.Marshal(r)
	if err != nil {
		return nil, err
	}
	if _, err := p.in.Write(append(line, '\n')); err != nil {
		return nil, fmt.Errorf("%s: %w", p.name, err)
	}
	var answer reply
	if err := p.read(&answer); err != nil {
		return nil, err
	}
	if answer.Error != "" {
		return nil, fmt.Errorf("%s: %s: %s", p.name, r.Do, answer.Error)
	}
	return &answer, nil
}

// read reads a line of JSON.
func (p *process) read(into any) error {
	line, err := p.out.ReadBytes('\n')
	if err != nil {
		return fmt.Errorf("%s ended too early: %w", p.name, err)
	}
	if err := json.Unmarshal(line, into); err != nil {
		return fmt.Errorf("%s wrote %.200q: %w", p.name, line, err)
	}
	return nil
}

// stop closes the process's input, which ends it, and waits for its end.
func (p *process) stop() error {
	p.in.Close()
	if err := p.cmd.Wait(); err != nil {
		return fmt.Errorf("%s: %w", p.name, err)
	}
	return nil
}

// database is a database that serve can answer requests with.
type database interface {
	greet() greeting
	// load makes the database and fills it with the rows.
	load(ctx context.Context) error
	// index returns once the index is complete and stored.
	index(ctx context.Context) error
	// search returns the ten closest rows, and the time that the search took.
	search(ctx context.Context, query []float32, filtered bool) (rows []int, took time.Duration, err error)
	close() error
}

// serve answers requests with a database until the input ends.
func serve(ctx context.Context, db database, queries [][]float32, in io.Reader, out io.Writer) (err error) {
	defer func() { err = errors.Join(err, db.close()) }()
	write := json.NewEncoder(out)
	if err := write.Encode(db.greet()); err != nil {
		return err
	}
	for lines := bufio.NewScanner(in); lines.Scan(); {
		var r request
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			return err
		}
		answer, err := handle(ctx, db, queries, r)
		if err != nil {
			answer = &reply{Error: err.Error()}
		}
		if err := write.Encode(answer); err != nil {
			return err
		}
	}
	return nil
}

// handle carries out a request. It uses the first half of the queries only to warm up.
func handle(ctx context.Context, db database, queries [][]float32, r request) (*reply, error) {
	answer := &reply{}
	switch r.Do {
	case "load":
		return answer, db.load(ctx)
	case "index":
		return answer, db.index(ctx)
	case "search":
	default:
		return nil, fmt.Errorf("unknown request %q", r.Do)
	}
	half := len(queries) / 2
	for i, q := range queries {
		if i < half-min(half, r.Warm) {
			continue
		}
		rows, took, err := db.search(ctx, q, r.Filtered)
		if err != nil {
			return nil, err
		}
		if i >= half {
			answer.Answers = append(answer.Answers, rows)
			answer.Micros = append(answer.Micros, float64(took.Nanoseconds())/1000)
		}
	}
	return answer, nil
}
