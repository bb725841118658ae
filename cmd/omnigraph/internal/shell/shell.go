// Package shell reads queries and mutations at a prompt or from a script, and runs them one after the other.
package shell

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"unicode"

	"github.com/omnigraph-go/omnigraph/internal/gq/diag"
)

// Settings hold for the statements that follow.
type Settings struct {
	Branch string // "" for main
	Format string // "" for the format of the output's kind
	Params string // the parameters of the next statement as a JSON object, or ""
}

// Graph is the graph that a shell works on.
type Graph interface {
	// Run runs a statement and prints its answer. The text begins on the given line of what the user wrote, from 1.
	Run(ctx context.Context, text string, line int, s Settings) error
	// Complete lists what can be written at an offset of a text, and the offset of the word that it replaces.
	Complete(ctx context.Context, text string, at int, branch string) (from int, words []string)
	// Branches returns the names of the branches.
	Branches(ctx context.Context) ([]string, error)
}

// Shell is one session.
type Shell struct {
	Graph
	Name     string   // of the graph, for the prompt
	Formats  []string // the formats of answers
	Settings          // at the start

	Out, Err io.Writer
	Fault    func(err error) // prints the error of a statement
	History  string          // path of the file with the history; "" for none

	pending string // the begin of a statement that needs more lines
	at      int    // the line on which it begins, from 1
	reader  reader // of pending
}

// errQuit ends the session.
var errQuit = errors.New("the user left the shell")

// Script runs the statements of a text until one fails.
func (s *Shell) Script(ctx context.Context, in io.Reader) error {
	text, err := io.ReadAll(in)
	if err != nil {
		return err
	}
	script := strings.TrimPrefix(string(text), "\ufeff")
	s.at = 1
	end := 0
	for l := range strings.Lines(script) {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		from := end - len(s.pending)
		end += len(l)
		switch err := s.take(ctx, script[from:end], nil); {
		case errors.Is(err, errQuit):
			return nil
		case err != nil:
			return err
		}
	}
	return s.rest(ctx)
}

// rest runs what stands after the last whole statement of a script, so that the graph says what is wrong with it.
func (s *Shell) rest(ctx context.Context) error {
	if line(s.pending) == "" {
		return nil
	}
	return s.Run(ctx, s.pending, s.at, s.Settings)
}

// take takes the pending text with one more line, and runs the statements that it ends. The text that is pending then is the end of it.
// It calls the function `done` with the text of each statement, unless it is nil.
func (s *Shell) take(ctx context.Context, text string, done func(text string)) error {
	l := text[len(s.pending):]
	command, isCommand := strings.CutPrefix(strings.TrimSpace(l), `\`)
	isCommand = isCommand && line(s.pending) == ""
	s.pending = text
	if isCommand {
		s.drop(len(text))
		if done != nil {
			done(l)
		}
		return s.command(ctx, command)
	}
	for {
		end, whole := s.reader.end(s.pending)
		if !whole {
			if strings.TrimSpace(s.pending) == "" {
				s.drop(len(s.pending))
			}
			return nil
		}
		statement, at := s.pending[:end], s.at
		s.drop(end)
		s.dropBlanks(strings.HasPrefix(statement, " "))
		if done != nil {
			done(statement)
		}
		settings := s.Settings
		s.Params = ""
		if err := s.Run(ctx, statement, at, settings); err != nil {
			s.drop(len(s.pending))
			return err
		}
	}
}

// drop removes bytes from the begin of the pending text.
func (s *Shell) drop(n int) {
	s.at += strings.Count(s.pending[:n], "\n")
	s.pending = s.pending[n:]
	s.reader = reader{}
}

// dropBlanks removes the end of the line at the begin of the pending text if it is blank. Otherwise it removes the blanks, unless they
// stay because the line is not for the history.
func (s *Shell) dropBlanks(stay bool) {
	rest := strings.TrimLeft(s.pending, " \t\r")
	if after, ended := strings.CutPrefix(rest, "\n"); ended {
		rest, stay = after, false
	}
	if !stay {
		s.drop(len(s.pending) - len(rest))
	}
}

// command is a command of the shell.
type command struct {
	name, argument, help string
	run                  func(s *Shell, ctx context.Context, argument string) error
}

// commands returns the commands of the shell.
func commands() []command {
	return []command{
		{"help", "", "show this help", (*Shell).help},
		{"branch", "[NAME]", "work on a branch, or show which one", (*Shell).branch},
		{"format", "[FORMAT]", "print answers in a format, or show which one", (*Shell).format},
		{"params", "JSON", "set the parameters of the next query, such as {\"least\": 10}", (*Shell).params},
		{"quit", "", "leave the shell", func(*Shell, context.Context, string) error { return errQuit }},
	}
}

// command runs a command of the shell.
func (s *Shell) command(ctx context.Context, text string) error {
	name, argument := text, ""
	if i := strings.IndexFunc(text, unicode.IsSpace); i >= 0 {
		name, argument = text[:i], text[i:]
	}
	var names []string
	for _, c := range commands() {
		if c.name == name {
			return c.run(s, ctx, strings.TrimSpace(argument))
		}
		names = append(names, c.name)
	}
	help := `see \help`
	if like := diag.DidYouMean(name, names); like != "" {
		help = like
	}
	return fmt.Errorf("unknown command \\%s; %s", name, help)
}

// help prints what can be written.
func (s *Shell) help(context.Context, string) error {
	fmt.Fprintln(s.Out, "Write a query or a mutation, such as: query q() { match { $n: Type } return { $n } limit 10 }\nIt runs when its } closes. Tab completes a word, and Ctrl-C drops the text or stops the query that runs.")
	for _, c := range commands() {
		fmt.Fprintf(s.Out, "  \\%-18s %s\n", strings.TrimSpace(c.name+" "+c.argument), c.help)
	}
	return nil
}

// branch chooses the branch, or prints its name.
func (s *Shell) branch(ctx context.Context, name string) error {
	if name == "" {
		fmt.Fprintln(s.Out, orMain(s.Branch))
		return nil
	}
	names, err := s.Branches(ctx)
	if err != nil {
		return err
	}
	if !slices.Contains(names, name) {
		help := "the branches are " + strings.Join(names, ", ")
		if like := diag.DidYouMean(name, names); like != "" {
			help = like
		}
		return fmt.Errorf("there is no branch %s; %s", name, help)
	}
	s.Branch = name
	return nil
}

// orMain returns the name of a branch for a message.
func orMain(name string) string {
	if name == "" {
		return "the default branch"
	}
	return name
}

// format chooses the format, or prints it.
func (s *Shell) format(_ context.Context, name string) error {
	switch {
	case name == "" && s.Format == "":
		fmt.Fprintln(s.Out, "the default: table on a terminal, json elsewhere")
	case name == "":
		fmt.Fprintln(s.Out, s.Format)
	case !slices.Contains(s.Formats, name):
		return fmt.Errorf("there is no format %s; the formats are %s", name, strings.Join(s.Formats, ", "))
	default:
		s.Format = name
	}
	return nil
}

// params sets the parameters of the next statement.
func (s *Shell) params(_ context.Context, text string) error {
	var object map[string]json.RawMessage
	if err := json.Unmarshal([]byte(text), &object); err != nil || object == nil {
		return errors.New(`the parameters are not a JSON object; write one such as \params {"name": "ada"}`)
	}
	s.Params = text
	return nil
}

// prompt returns the prompt for the next line.
func (s *Shell) prompt() string {
	name := s.Name
	if s.Branch != "" {
		name += "@" + s.Branch
	}
	if line(s.pending) != "" {
		return strings.Repeat(" ", max(len(name)-2, 0)) + "..> "
	}
	return name + "> "
}

// Interact reads statements at a prompt on the terminal of this process until the user leaves or the context ends. Ctrl-C stops the
// statement that runs.
func (s *Shell) Interact(ctx context.Context) error {
	e, err := s.newEditor(ctx)
	if err != nil {
		return err
	}
	defer e.close()
	// The channel stays registered while no statement runs, so that a late Ctrl-C does not end the process.
	interrupts := make(chan os.Signal, 1)
	signal.Notify(interrupts, os.Interrupt)
	defer signal.Stop(interrupts)
	fmt.Fprintln(s.Out, `Write \help for help, and \quit or Ctrl-D to leave.`)
	for {
		l, err := e.read(ctx, s.prompt())
		switch {
		case errors.Is(err, errDropped):
			s.drop(len(s.pending))
			continue
		case errors.Is(err, io.EOF):
			fmt.Fprintln(s.Out)
			return nil
		case err != nil:
			return err
		}
		if s.pending == "" {
			s.at = 1
		}
		err = s.interruptible(ctx, interrupts, func(ctx context.Context) error { return s.take(ctx, s.pending+l+"\n", e.remember) })
		switch {
		case errors.Is(err, errQuit):
			return nil
		case err != nil && ctx.Err() != nil:
			return ctx.Err()
		case errors.Is(err, errStopped):
			fmt.Fprintln(s.Err, "stopped")
		case err != nil:
			s.Fault(err)
		}
	}
}

// errStopped is the error of a statement that the user stopped.
var errStopped = errors.New("the user stopped the statement")

// interruptible calls the function `do` with a context that ends when a signal arrives.
func (s *Shell) interruptible(ctx context.Context, interrupts <-chan os.Signal, do func(context.Context) error) error {
	select {
	case <-interrupts: // of the time before the statement
	default:
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	done := make(chan struct{})
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		select {
		case <-interrupts:
			cancel(errStopped)
		case <-done:
		}
	}()
	err := do(ctx)
	close(done)
	<-watched
	if err != nil && errors.Is(context.Cause(ctx), errStopped) {
		return errStopped
	}
	return err
}
