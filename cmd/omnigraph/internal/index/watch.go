package index

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/omnigraph-go/omnigraph/client"
	"github.com/omnigraph-go/omnigraph/cmd/omnigraph/internal/usage"
	"github.com/omnigraph-go/omnigraph/internal/clock"
	"github.com/omnigraph-go/omnigraph/internal/source/codegraph"
	"github.com/omnigraph-go/omnigraph/internal/source/freshness"
	"github.com/omnigraph-go/omnigraph/internal/source/gocode"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// Target is the graph that omnigraph index go --watch writes to.
type Target interface {
	// Flags adds the flags that name the graph to a command.
	Flags(*cobra.Command)
	// Open opens the graph. The result writes to it, and close ends that.
	Open(*cobra.Command) (load LoadFunc, close func() error, err error)
}

// LoadFunc loads nodes and edges into a graph, as [client.Graph.Load] does.
type LoadFunc func(ctx context.Context, data io.Reader, load client.LoadQuery) (*client.LoadAnswer, error)

// sourceName is the name of the source that claims the code in a graph.
const sourceName = "omnigraph-index"

// types are the types of nodes and edges that an index has.
var types = []string{"Module", "Package", "File", "Symbol", "Requires", "Provides", "Imports", "Declares", "Holds", "Calls", "Refers", "Satisfies", "Dispatches", "MethodOf"}

// watcher keeps a branch in step with the code in a folder.
type watcher struct {
	opts         gocode.Options
	load         LoadFunc
	branch, from string
	interval     time.Duration // between two looks at the files
	log          io.Writer

	session  *gocode.Session
	graph    *codegraph.Graph // what was read last; nil before
	written  []codegraph.Line // the lines that the branch has; nil if that is not known
	position string           // the digest of these lines, which the branch stores
}

// run reads the code whenever it has changed, until the context ends.
func (w *watcher) run(ctx context.Context) error {
	w.session = gocode.NewSession(w.opts)
	defer w.session.Close()
	before, failed, pause := "", "", time.Duration(0)
	for {
		changed, looks, err := w.look(ctx)
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil:
			return err
		case looks == "" || looks == failed: // nothing changed, or nothing since the last attempt
		case looks != before: // wait until the burst of changes has ended
		default:
			failed = ""
			switch err := w.update(ctx, changed); {
			case err == nil:
			case ctx.Err() != nil:
				return nil
			case isFinal(err) || w.graph == nil:
				return err
			case errors.As(err, new(*unwritten)):
				w.report(err, "It is tried again.")
				pause = min(max(2*pause, w.interval), maxPause)
			default:
				w.report(err, "The next change of the code is read again.")
				failed = looks
			}
		}
		if w.written != nil {
			pause = 0
		}
		before = looks
		wait := time.NewTimer(max(w.interval, pause))
		select {
		case <-ctx.Done():
			wait.Stop()
			return nil
		case <-wait.C:
		}
	}
}

// maxPause is the longest time between two attempts to write.
const maxPause = 30 * time.Second

// isFinal reports whether a further attempt to write would fail in the same way.
func isFinal(err error) bool {
	return slices.ContainsFunc([]error{client.ErrUnauthorized, client.ErrForbidden, client.ErrInvalid, client.ErrTooLarge}, func(is error) bool { return errors.Is(err, is) })
}

// report says why the branch stays as it was.
func (w *watcher) report(err error, next string) {
	fmt.Fprintf(w.log, "%v\nThe branch %s stays as it was. %s\n", err, w.branch, next)
}

// unwritten is the error if the graph could not be written.
type unwritten struct{ err error }

func (u *unwritten) Error() string { return u.err.Error() }
func (u *unwritten) Unwrap() error { return u.err }

// look returns the absolute paths of the files that differ from what was read last, and a text that differs whenever they change
// again. The text is empty if nothing differs.
func (w *watcher) look(ctx context.Context) (changed []string, looks string, err error) {
	if w.graph == nil {
		return nil, "unread", nil
	}
	if w.written == nil {
		looks = "unwritten"
	}
	for _, x := range gocode.Indexes(w.graph) {
		s, err := x.Check(ctx)
		if err != nil {
			return nil, "", err
		}
		if s.Head != x.Commit {
			looks += "\n" + s.Head
		}
		for _, name := range s.Changed {
			name = filepath.Join(x.Folder, filepath.FromSlash(name))
			stamp := "gone"
			if info, err := os.Stat(name); err == nil {
				stamp = freshness.Stamp(info)
			}
			changed, looks = append(changed, name), looks+"\n"+name+" "+stamp
		}
	}
	return changed, looks, nil
}

// update reads the code and writes it to the branch.
func (w *watcher) update(ctx context.Context, changed []string) error {
	began := clock.Now()
	full := false
	if w.graph == nil || w.written != nil || len(changed) > 0 { // otherwise only the writing failed
		g, all, err := w.session.Read(ctx, changed)
		if err != nil {
			return err
		}
		w.graph, full = g, all
	}
	lines, err := w.graph.Lines()
	if err != nil {
		return err
	}
	read := clock.Now().Sub(began)
	if err := w.write(ctx, lines); err != nil {
		return &unwritten{err}
	}
	how := "the changed packages"
	if full {
		how = "all packages"
	}
	fmt.Fprintf(w.log, "%s: %d changed files; read %s in %v, written in %v\n", w.branch, len(changed), how, read.Round(time.Millisecond), (clock.Now().Sub(began) - read).Round(time.Millisecond))
	return nil
}

// write makes the branch have these lines, in one commit. It sends only the difference if the branch has what was written last,
// unless nodes are gone: a deletion of the source leaves a node with the edge of a note, and only a sync takes the edge away too.
func (w *watcher) write(ctx context.Context, lines []codegraph.Line) error {
	position := digest(lines)
	load := client.LoadQuery{Branch: w.branch, Mode: client.ModePatch, Source: sourceName, Followed: sourceName, After: w.position, Position: position}
	var err error
	if w.written != nil && !losesNodes(w.written, lines) {
		if _, err = w.load(ctx, strings.NewReader(difference(w.written, lines)), load); err == nil {
			w.written, w.position = lines, position
			return nil
		}
		if !errors.Is(err, client.ErrConflict) && !errors.Is(err, client.ErrNotFound) {
			w.written = nil // whether it was written is not known
			return err
		}
	}
	// The branch is new, nodes are gone, or somebody else wrote this source to it: send everything.
	w.written = nil
	at := client.LoadQuery{Branch: w.branch, From: w.from, Mode: client.ModePatch, Followed: sourceName}
	answer, err := w.load(ctx, strings.NewReader(""), at)
	if err != nil {
		return fmt.Errorf("the branch %s cannot be written: %w", w.branch, err)
	}
	load.Mode, load.Types, load.Cascade, load.After, load.From = client.ModeSync, types, true, answer.Position, w.from
	var all strings.Builder
	for _, l := range lines {
		all.WriteString(l.Text)
	}
	_, err = w.load(ctx, strings.NewReader(all.String()), load)
	if n := deletes(err); n > 0 { // the reading is complete, whatever the branch had before
		load.ApproveDeletes = n
		_, err = w.load(ctx, strings.NewReader(all.String()), load)
	}
	if err != nil {
		return fmt.Errorf("the branch %s cannot be written: %w", w.branch, err)
	}
	w.written, w.position = lines, position
	return nil
}

// approval is what a sync that would delete much says.
var approval = regexp.MustCompile(`approve_deletes (\d+)`)

// deletes returns the number of deletes that a sync wants approved, or 0.
func deletes(err error) int64 {
	if err == nil || !errors.Is(err, client.ErrConflict) {
		return 0
	}
	m := approval.FindStringSubmatch(err.Error())
	if m == nil {
		return 0
	}
	n, _ := strconv.ParseInt(m[1], 10, 64)
	return n
}

// losesNodes reports whether a node of one state is not in another.
func losesNodes(before, after []codegraph.Line) bool {
	have := make(map[codegraph.About]bool, len(after))
	for _, l := range after {
		have[l.About] = true
	}
	return slices.ContainsFunc(before, func(l codegraph.Line) bool { return !l.IsEdge && !have[l.About] })
}

// difference returns the lines that turn one state into another.
func difference(before, after []codegraph.Line) string {
	old := make(map[codegraph.About]string, len(before))
	for _, l := range before {
		old[l.About] = l.Text
	}
	var changes, out strings.Builder
	for _, l := range after {
		if text, ok := old[l.About]; !ok || text != l.Text {
			changes.WriteString(l.Text)
		}
		delete(old, l.About)
	}
	for _, l := range before {
		if _, gone := old[l.About]; gone {
			kind := "type"
			if l.IsEdge {
				kind = "edge"
			}
			text, _ := json.Marshal(map[string]string{kind: l.Type, "delete": l.ID}) // strings cannot fail
			out.Write(append(text, '\n'))
		}
	}
	return out.String() + changes.String()
}

// digest returns the SHA-256 of lines.
func digest(lines []codegraph.Line) string {
	h := sha256.New()
	for _, l := range lines {
		io.WriteString(h, l.Text)
	}
	return fmt.Sprintf("%x", h.Sum(nil))
}

// watchFlags are the flags of --watch.
type watchFlags struct {
	on           bool
	branch, from string
	interval     time.Duration
}

// flags adds the flags to a command.
func (f *watchFlags) flags(cmd *cobra.Command, target Target) {
	cmd.Flags().BoolVar(&f.on, "watch", false, "write the code to a branch of a graph, and again whenever it changes, until interrupted")
	cmd.Flags().StringVar(&f.branch, "branch", "", "with --watch: the branch to write, other than main (default: work/ and the name of the folder)")
	cmd.Flags().StringVar(&f.from, "from", tool.Branch{}.Name(), "with --watch: the branch from which to create --branch, if --branch does not exist")
	cmd.Flags().DurationVar(&f.interval, "interval", 500*time.Millisecond, "with --watch: the time between two looks at the files; a change is read when two looks find the same")
	target.Flags(cmd)
}

// run watches the code.
func (f *watchFlags) run(cmd *cobra.Command, target Target, opts gocode.Options) (err error) {
	if f.branch == "" {
		dir, err := filepath.Abs(opts.Dir)
		if err != nil {
			return err
		}
		if dir, err = filepath.EvalSymlinks(dir); err != nil {
			return err
		}
		f.branch = freshness.WorkBranch(dir)
	}
	switch {
	case f.branch == (tool.Branch{}).Name():
		return usage.Errorf("--branch is main, which others read; name another branch, such as work/mine, and merge it")
	case f.interval < 10*time.Millisecond:
		return usage.Errorf("--interval is %v; it must be at least 10ms", f.interval)
	}
	load, closeGraph, err := target.Open(cmd)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closeGraph()) }()
	opts.Revision = true
	w := &watcher{opts: opts, load: load, branch: f.branch, from: f.from, interval: f.interval, log: cmd.ErrOrStderr()}
	return w.run(cmd.Context())
}
