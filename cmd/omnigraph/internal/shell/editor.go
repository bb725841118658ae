package shell

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/peterh/liner"

	"github.com/omnigraph-go/omnigraph/cmd/omnigraph/internal/terminal"
)

// maxHistory is the number of statements that the file of the history keeps. It has twice as many for a while.
const maxHistory = liner.HistoryLimit

// completionTime bounds how long the Tab key waits for the graph.
const completionTime = 2 * time.Second

// errDropped says that the user dropped the text with Ctrl-C.
var errDropped = errors.New("the user dropped the text")

// editor reads lines from the terminal of this process.
type editor struct {
	*liner.State
	history *os.File // appended to; nil if it cannot be written
}

// newEditor takes the terminal over. The editor must be closed, so that the terminal works as before.
func (s *Shell) newEditor(ctx context.Context) (*editor, error) {
	e := &editor{State: liner.NewLiner()}
	e.SetCtrlCAborts(true)
	e.SetBeep(false)
	e.SetTabCompletionStyle(liner.TabPrints)
	e.SetWordCompleter(func(line string, at int) (string, []string, string) {
		ctx, cancel := context.WithTimeout(ctx, completionTime)
		defer cancel()
		return s.complete(ctx, line, len(string([]rune(line)[:at])))
	})
	if s.History == "" {
		return e, nil
	}
	lines, file, err := openHistory(s.History)
	if err != nil {
		return nil, errors.Join(err, e.State.Close())
	}
	for _, l := range lines {
		e.AppendHistory(l)
	}
	e.history = file
	return e, nil
}

// openHistory opens the file of the history, which only its owner may read, and returns its statements.
func openHistory(path string) ([]string, *os.File, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, nil, err
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return nil, nil, err
	}
	if err := f.Chmod(0o600); err != nil {
		return nil, nil, errors.Join(err, f.Close())
	}
	var lines []string
	in := bufio.NewReader(f)
	for err == nil {
		var l string
		if l, err = in.ReadString('\n'); strings.TrimSpace(l) != "" {
			lines = append(lines, strings.ToValidUTF8(strings.TrimRight(l, "\n"), "\uFFFD"))
		}
	}
	if len(lines) > 2*maxHistory {
		lines = slices.Clone(lines[len(lines)-maxHistory:])
		err = f.Truncate(0)
		if err == nil {
			_, err = f.WriteString(strings.Join(lines, "\n") + "\n")
		}
	}
	if err != nil && err != io.EOF {
		return nil, nil, errors.Join(err, f.Close())
	}
	return lines, f, nil
}

// remember adds a statement to the history, unless it begins with a blank. A history that cannot be written does not stop the shell.
func (e *editor) remember(statement string) {
	l := line(statement)
	if l == "" || strings.HasPrefix(statement, " ") {
		return
	}
	e.AppendHistory(l)
	if e.history != nil {
		_, _ = e.history.WriteString(l + "\n")
	}
}

// read reads a line. The error is errDropped after Ctrl-C, io.EOF after Ctrl-D, and that of the context if it ends first; then the
// reading goes on until the process ends.
func (e *editor) read(ctx context.Context, prompt string) (string, error) {
	type answer struct {
		line string
		err  error
	}
	answers := make(chan answer, 1)
	go func() {
		l, err := e.Prompt(prompt)
		answers <- answer{l, err}
	}()
	select {
	case <-ctx.Done():
		return "", ctx.Err()
	case a := <-answers:
		if errors.Is(a.err, liner.ErrPromptAborted) {
			return "", errDropped
		}
		return a.line, a.err
	}
}

// close gives the terminal back.
func (e *editor) close() {
	_ = e.State.Close()
	if e.history != nil {
		_ = e.history.Close()
	}
}

// complete returns the words that can stand at an offset of a line, and the parts of the line around the word there.
func (s *Shell) complete(ctx context.Context, l string, at int) (head string, words []string, tail string) {
	from := 0
	switch before := strings.TrimLeft(l[:at], " "); {
	case strings.HasPrefix(before, `\`) && line(s.pending) == "":
		from, words = s.completeCommand(ctx, before)
		from += at - len(before)
	default:
		from, words = s.Complete(ctx, s.pending+l, len(s.pending)+at, s.Branch)
		if from -= len(s.pending); from < 0 || from > at {
			return l[:at], nil, l[at:]
		}
	}
	typed := l[from:at]
	words = slices.DeleteFunc(slices.Clone(words), func(w string) bool {
		return !strings.HasPrefix(strings.ToLower(w), strings.ToLower(typed)) || strings.ContainsFunc(w, terminal.Unprintable)
	})
	return l[:from], words, l[at:]
}

// completeCommand completes a command of the shell. The result is the offset of the last word, and the words in its place.
func (s *Shell) completeCommand(ctx context.Context, before string) (from int, words []string) {
	name, _, more := strings.Cut(before, " ")
	switch {
	case !more:
		for _, c := range commands() {
			words = append(words, `\`+c.name+" ")
		}
		return 0, words
	case name == `\branch`:
		words, _ = s.Branches(ctx)
	case name == `\format`:
		words = s.Formats
	}
	return strings.LastIndexByte(before, ' ') + 1, words
}
