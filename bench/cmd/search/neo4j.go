package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/omnigraph-go/omnigraph/internal/bench/social"
)

// neo4j is the Java program of the folder neo4j.
type neo4j struct {
	cmd *exec.Cmd      // the Java process
	in  io.WriteCloser // takes one search per line
	out *bufio.Reader  // returns one line for each search
}

// startNeo4j starts the program, and returns once it has indexed the posts.
func startNeo4j(ctx context.Context, o options, g *social.Graph) (_ *neo4j, err error) {
	cmd := exec.CommandContext(ctx, "java", "-Xmx4g", "-cp", o.classes+":"+filepath.Join(o.classes, "lib", "*"),
		"Search", filepath.Join(o.dir, "neo4j"))
	cmd.Stderr = os.Stderr
	p := &neo4j{cmd: cmd}
	if p.in, err = cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	p.out = bufio.NewReader(out)
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	w := bufio.NewWriterSize(p.in, 1<<20)
	for post := range g.AllPosts() {
		fmt.Fprintf(w, "%s\t%s\n", g.PostSlug(post.Number), post.Text)
	}
	w.WriteByte('\n')
	if err := w.Flush(); err != nil { // the writer keeps the error of every write
		p.stop()
		return nil, fmt.Errorf("neo4j: %w", err)
	}
	for {
		line, err := p.out.ReadString('\n')
		if err != nil {
			p.stop()
			return nil, fmt.Errorf("neo4j ended before it had indexed the posts: %w", err)
		}
		if line == "ready\n" { // Neo4j prints lines of its own before
			return p, nil
		}
	}
}

// search searches for words. It returns the keys of the posts found and the time that this took.
func (p *neo4j) search(_ context.Context, words string) (keys []string, took time.Duration, err error) {
	if _, err := io.WriteString(p.in, words+"\n"); err != nil {
		return nil, 0, fmt.Errorf("neo4j: %w", err)
	}
	line, err := p.out.ReadString('\n')
	if err != nil {
		return nil, 0, fmt.Errorf("neo4j: %w", err)
	}
	fields := strings.Fields(line)
	if len(fields) == 0 {
		return nil, 0, fmt.Errorf("neo4j answered with an empty line")
	}
	ns, err := strconv.ParseInt(fields[0], 10, 64)
	if err != nil {
		return nil, 0, fmt.Errorf("neo4j answered %q", line)
	}
	return fields[1:], time.Duration(ns), nil
}

// stop ends the program and waits for its end.
func (p *neo4j) stop() {
	p.in.Close()
	_ = p.cmd.Wait() // the run is over; how the program ends makes no difference
}
